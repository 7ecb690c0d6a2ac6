"""The Faust table as the stages see it: read by row key from the store of the row's partition, written under its event."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from faust.streams import _current_event  # private: the reason why faust-streaming is pinned exactly

from models.errors import UnavailableError
from streams.topics import partition_for


@contextmanager
def as_current(event: Any) -> Iterator[None]:
    """Makes an event the current one: Faust allows table writes only so, and `take` does not set it. No await inside."""
    token = _current_event.set(weakref.ref(event))
    try:
        yield
    finally:
        _current_event.reset(token)


class TableRows:
    """Read-only rows of the table. A row lies in the partition of its person, whose key is the row key's second part.

    Reads go to the partition's store directly, so they work outside the event loop. A store that cannot be read just now (a
    rebalance takes it away) raises `UnavailableError`, which retries the batch instead of dead-lettering it.
    """

    def __init__(self, table: Any, partitions: int) -> None:
        self._table, self._partitions = table, partitions

    def get(self, key: bytes) -> bytes | None:
        """The row's value, or None."""
        try:
            value: bytes | None = self._table.data._db_for_partition(row_partition(key, self._partitions)).get(key)
        except Exception as error:
            raise UnavailableError(f"the table cannot be read: {type(error).__name__}") from error
        return value


def row_partition(key: bytes, partitions: int) -> int:
    """The partition a row lies in: that of its person's topics."""
    person = key.split(b"\0", 2)[1].replace(b"\\0", b"\0").replace(b"\\\\", b"\\")
    return partition_for(person, partitions)


def apply_puts(table: Any, events: Sequence[Any], puts: Iterable[tuple[int, bytes, bytes | None]]) -> None:
    """Writes rows in their order, each under the event that caused it; the changelog records follow in that order."""
    for index, key, value in puts:
        with as_current(events[index]):
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
