"""The Faust table as the stages see it: read by row key from the store of the row's partition, written changelog first.

Faust's own ``table[key] = value`` puts a row into the local store at once and its changelog record into a buffer whose failure is
only a warning. Here a partition's rows go into its changelog as one record batch, which a broker takes whole or not at all; when that
is acknowledged, the rows and their offset are put into the store in one atomic write. So neither ever holds half of an event, and the
store never holds what the changelog lacks. The files, the changelog and its recovery are Faust's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple

from aiokafka.producer.message_accumulator import BatchBuilder
from rocksdict import WriteBatch

from models.errors import UnavailableError
from streams.publish import Published, Record, publish
from streams.topics import partition_for

Put = tuple[int, bytes, bytes | None]
BATCH_BYTES = 3 * 2**19
"""Rows of one changelog batch; the topic takes half a megabyte more. The rows of an event stay far below."""
ROW_OVERHEAD = 40
"""Bytes that a record batch adds to a row, at the most."""
BATCH_HEAD = 256
"""Bytes of a batch without its records, amply."""


class Rows(NamedTuple):
    """Records of one partition that go as one record batch."""

    topic: str
    partition: int
    rows: tuple[tuple[bytes | None, bytes | None], ...]


class TableRows:
    """Rows of the table. A row lies in the partition of its person, whose key is the row key's second part.

    Reads go to the partition's store directly, so they work outside the event loop. A store that is not there just now (a
    rebalance takes it away) raises `UnavailableError`, which retries the batch instead of dead-lettering it.
    """

    def __init__(self, table: Any, partitions: int, changelog: str) -> None:
        self._table, self._partitions, self._changelog = table, partitions, changelog

    def get(self, key: bytes, /) -> bytes | None:
        """The row's value, or None."""
        value: bytes | None = self._store(row_partition(key, self._partitions)).get(key)
        return value

    def first_of(self, kind: bytes) -> list[bytes]:
        """The value of the first row of a kind in each partition that is open here."""
        found: list[bytes] = []
        for store in self._table.data._dbs.values():
            reader = store.iter()
            reader.seek(kind + b"\0")
            if reader.valid() and reader.key().startswith(kind + b"\0"):
                found.append(reader.value())
        return found

    def batches(self, puts: Sequence[Put]) -> list[Rows]:
        """The rows as changelog batches, one a partition unless it would be too large."""
        return gathered(
            (Record(self._changelog, row_partition(key, self._partitions), key, value) for _, key, value in puts),
            BATCH_BYTES,
        )

    async def write(self, batches: Sequence[Rows], send: Callable[[Rows], Awaitable[Awaitable[Any]]]) -> Published:
        """Puts rows in their order: into the changelog, acknowledged, then into the stores of their partitions."""
        published = await publish(batches, send)
        writes: dict[int, WriteBatch] = {}
        for batch in batches:
            write = writes.setdefault(batch.partition, WriteBatch(raw_mode=True))
            for key, value in batch.rows:
                assert key is not None
                if value is None:
                    write.delete(key)
                else:
                    write.put(key, value)
            last = published.offsets[(batch.topic, batch.partition)] + len(batch.rows) - 1
            write.put(self._table.data.offset_key, str(last).encode())
        for partition, write in writes.items():
            self._store(partition).write(write)
        return published

    def _store(self, partition: int) -> Any:
        store = self._table.data._dbs.get(partition)  # private: a reason why faust-streaming is pinned exactly
        if store is None:
            raise UnavailableError(f"partition {partition} of the table is not open on this worker")
        return store


def whole(batches: Sequence[Rows]) -> bool:
    """Whether each partition's rows are one batch."""
    return len({batch.partition for batch in batches}) == len(batches)


def gathered(records: Iterable[Record], most: int) -> list[Rows]:
    """Records as batches of one partition each, in their order within it; `most` bytes, or a single larger record."""
    found: list[Rows] = []
    opened: dict[tuple[str, int], list[tuple[bytes | None, bytes | None]]] = {}
    sizes: dict[tuple[str, int], int] = {}
    for topic, partition, key, value in records:
        place = (topic, partition)
        size = len(key or b"") + len(value or b"") + ROW_OVERHEAD
        rows = opened.get(place)
        if rows is not None and sizes[place] + size <= most:
            rows.append((key, value))
            sizes[place] += size
            continue
        if rows is not None:
            found.append(Rows(topic, partition, tuple(opened.pop(place))))
        opened[place], sizes[place] = [(key, value)], size
    return found + [Rows(*place, tuple(rows)) for place, rows in opened.items()]


def build(rows: Rows) -> BatchBuilder:
    """The batch as aiokafka sends it: all its records in one record batch."""
    size = sum(len(key or b"") + len(value or b"") + ROW_OVERHEAD for key, value in rows.rows)
    builder = BatchBuilder(size + BATCH_HEAD, 0)
    for key, value in rows.rows:
        if builder.append(timestamp=None, key=key, value=value) is None:
            raise ValueError(f"a record of {len(value or b'')} bytes does not fit into its batch")
    return builder


def row_partition(key: bytes, partitions: int) -> int:
    """The partition a row lies in: that of its person's topics."""
    person = key.split(b"\0", 2)[1]
    if b"\\" in person:
        person = person.replace(b"\\0", b"\0").replace(b"\\\\", b"\\")
    return partition_for(person, partitions)
