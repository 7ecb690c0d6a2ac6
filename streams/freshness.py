"""A worker's local table may not outlive the changelog's tombstones: an old folder would bring erased rows back (W7).

A running worker stamps its folder. One that was away longer than the changelog keeps its tombstones starts with an empty folder,
and its rows come whole from the changelog.
"""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path

from streams.admin import CHANGELOG_DELETE_RETENTION_MS

log = logging.getLogger(__name__)
STAMP = "last-seen"
STAMP_EVERY_S = 60.0
SAFE_S = 0.9 * CHANGELOG_DELETE_RETENTION_MS / 1000
"""A folder that was away longer is not trusted."""


def stamp(folder: Path) -> None:
    """Notes that the folder follows its changelog now."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STAMP).touch()


def wipe_if_stale(folder: Path, now: float | None = None) -> bool:
    """Empties a worker's folder that was away too long, or whose age is not known; whether it did. `now` in epoch seconds."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return False
    try:
        age = (time.time() if now is None else now) - (folder / STAMP).stat().st_mtime
    except FileNotFoundError:
        age = float("inf")
    if age <= SAFE_S:
        return False
    shutil.rmtree(folder)
    log.warning("%s was away too long: its rows are read again from the changelog", folder)
    return True
