"""A worker's folder that was away longer than tombstones are kept is not used again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from streams.freshness import SAFE_S, STAMP, stamp, wipe_if_stale


@pytest.mark.parametrize(("away_s", "wiped"), [(0, False), (SAFE_S - 60, False), (SAFE_S + 60, True), (None, True)])
def test_only_an_old_folder_is_wiped(tmp_path: Path, away_s: float | None, wiped: bool) -> None:
    folder = tmp_path / "worker"
    stamp(folder)
    (folder / "table.db").write_bytes(b"rows")
    if away_s is None:
        (folder / STAMP).unlink()
    else:
        then = time.time() - away_s
        os.utime(folder / STAMP, (then, then))
    assert wipe_if_stale(folder) is wiped
    assert (folder / "table.db").exists() is not wiped


def test_there_may_be_no_folder_yet(tmp_path: Path) -> None:
    assert wipe_if_stale(tmp_path / "none") is False
