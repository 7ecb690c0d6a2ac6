"""Files that a running worker picks up again: a changed one is read between batches, a bad one is reported and the good one stays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from models.errors import ResourceError

log = logging.getLogger(__name__)
Value = TypeVar("Value")


class Watched(Generic[Value]):
    """What a file holds, in its last good form. `path` None is the shipped file, which does not change.

    `value` is what the file holds now, where it was read already. Raises `ResourceError` at its making for a file that is missing or bad: a worker must not start on half its lists.
    """

    def __init__(self, path: Path | None, load: Callable[[Path | None], Value], value: Value | None = None) -> None:
        self.path, self._load = path, load
        self.error: str | None = None
        self._stamp = self._read_stamp()
        self.value: Value = load(path) if value is None else value

    def refresh(self) -> bool:
        """Reads the file again if its size or time changed; true if a new value is in force. `error` says why not."""
        stamp = self._read_stamp()
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            self.value = self._load(self.path)
        except ResourceError as error:
            self.error = str(error)
            log.error("%s: the last good version stays in force", error)
            return False
        self.error = None
        log.info("%s was read again", self.path)
        return True

    def _read_stamp(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size


class Joined(Generic[Value]):
    """A value put together from several watched files; a bad file keeps only its own part from changing."""

    def __init__(self, parts: Sequence[Watched[dict[str, Any]]], build: Callable[..., Value]) -> None:
        self.parts, self._build = tuple(parts), build
        self.value = self._built()

    @property
    def errors(self) -> list[str]:
        """Why parts that changed are not in force."""
        return [part.error for part in self.parts if part.error is not None]

    def refresh(self) -> bool:
        """Reads what changed; true if a new value is in force."""
        changed = [part for part in self.parts if part.refresh()]
        if not changed:
            return False
        self.value = self._built()
        return True

    def _built(self) -> Value:
        return self._build(**{name: value for part in self.parts for name, value in part.value.items()})
