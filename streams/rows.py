"""The Faust table as the stages see it: read by row key from the store of the row's partition, written changelog first.

Faust's own ``table[key] = value`` puts a row into the local store at once and its changelog record into a buffer whose failure is
only a warning. Here the changelog record is acknowledged first and the rows and their offset are then put in one atomic
write: the local store never holds what the changelog lacks. The files, the changelog and its recovery are Faust's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocksdict import WriteBatch

from models.errors import UnavailableError
from streams.publish import Published, Record, Send, publish
from streams.topics import partition_for

Put = tuple[int, bytes, bytes | None]


class TableRows:
    """Read-only rows of the table. A row lies in the partition of its person, whose key is the row key's second part.

    Reads go to the partition's store directly, so they work outside the event loop. A store that is not there just now (a
    rebalance takes it away) raises `UnavailableError`, which retries the batch instead of dead-lettering it.
    """

    def __init__(self, table: Any, partitions: int) -> None:
        self._table, self._partitions = table, partitions

    def get(self, key: bytes, /) -> bytes | None:
        """The row's value, or None."""
        value: bytes | None = self._store(row_partition(key, self._partitions)).get(key)
        return value

    async def write(self, puts: Sequence[Put], changelog: str, send: Send) -> Published:
        """Puts rows in their order: all into the changelog, acknowledged, then into the stores of their partitions."""
        records = [Record(changelog, row_partition(key, self._partitions), key, value) for _, key, value in puts]
        published = await publish(records, send)
        batches: dict[int, WriteBatch] = {}
        for _, key, value in puts:
            batch = batches.setdefault(row_partition(key, self._partitions), WriteBatch(raw_mode=True))
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
        for partition, batch in batches.items():
            batch.put(self._table.data.offset_key, str(published.offsets[(changelog, partition)]).encode())
            self._store(partition).write(batch)
        return published

    def _store(self, partition: int) -> Any:
        store = self._table.data._dbs.get(partition)  # private: a reason why faust-streaming is pinned exactly
        if store is None:
            raise UnavailableError(f"partition {partition} of the table is not open on this worker")
        return store


def row_partition(key: bytes, partitions: int) -> int:
    """The partition a row lies in: that of its person's topics."""
    person = key.split(b"\0", 2)[1].replace(b"\\0", b"\0").replace(b"\\\\", b"\\")
    return partition_for(person, partitions)
