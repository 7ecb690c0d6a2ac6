"""One partition on disk: record batches as they came in, in segment files named by their first offset.

A batch is written with one ``write``, so that what was acknowledged is in the system's page cache: it survives the death of any
process (not a power cut). A tail that was cut in the middle is dropped when the partition is opened.
"""

from __future__ import annotations

import struct
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

HEADER = struct.Struct(">qiib")
"""Of a record batch (format 2): base offset, length of the rest, leader epoch, magic."""
PREFIX = 12
"""Bytes of base offset and length, which the length does not count."""
LAST_DELTA, MAX_TIME, LEAST = 23, 35, 61
"""Places in a batch of its last offset's delta and of its latest timestamp; the least size of a batch."""
SEGMENT_BYTES = 32 * 2**20


class CorruptBatch(Exception):
    """What was sent is not a sequence of whole record batches of format 2."""


class Segment:
    """A file of batches with, for each, its first offset, its place and its latest timestamp (ms)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.base = int(path.stem)
        self.offsets: list[int] = []
        self.places: list[int] = []
        self.times: list[int] = []
        self.size = 0
        self.end = self.base
        self.file = path.open("a+b", buffering=0)
        self._scan()

    def _scan(self) -> None:
        """Reads the headers of all batches and cuts off an incomplete last one."""
        total = self.path.stat().st_size
        while self.size + LEAST <= total:
            self.file.seek(self.size)
            head = self.file.read(LEAST)
            base, length, _, magic = HEADER.unpack_from(head)
            if magic != 2 or self.size + PREFIX + length > total:
                break
            self.note(base, head, PREFIX + length)
        if self.size < total:
            self.file.truncate(self.size)

    def note(self, base: int, head: bytes, size: int) -> None:
        """Remembers a batch that lies at the end of the file."""
        self.offsets.append(base)
        self.places.append(self.size)
        self.times.append(struct.unpack_from(">q", head, MAX_TIME)[0])
        self.end = base + struct.unpack_from(">i", head, LAST_DELTA)[0] + 1
        self.size += size

    def read(self, offset: int, most: int) -> bytes:
        """Whole batches from the one that holds `offset`: at least one, else no more than `most` bytes."""
        first = max(0, bisect_right(self.offsets, offset) - 1)
        last, start = first + 1, self.places[first]
        while last < len(self.places) and self._place(last + 1) - start <= most:
            last += 1
        self.file.seek(start)
        return self.file.read(self._place(last) - start)

    def _place(self, number: int) -> int:
        return self.places[number] if number < len(self.places) else self.size


class PartitionLog:
    """The segments of a partition. `on_append` is called after each append."""

    def __init__(self, folder: Path, retention_ms: int | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._retention_ms = folder, retention_ms
        names = sorted(folder.glob("*.log"), key=lambda path: int(path.stem))
        self._segments = [Segment(path) for path in names] or [Segment(folder / "0.log")]
        self.listeners: set[Callable[[], None]] = set()

    @property
    def start(self) -> int:
        """The first offset that is kept."""
        return self._segments[0].base

    @property
    def end(self) -> int:
        """The offset that the next record gets."""
        return self._segments[-1].end

    def append(self, data: bytes) -> int:
        """Appends record batches and returns the first record's offset. Raises `CorruptBatch`."""
        batches = list(_batches(data))
        if self._segments[-1].size >= SEGMENT_BYTES:
            self._roll()
        segment, first = self._segments[-1], self.end
        offset, stamped = first, bytearray(data)
        for place, _ in batches:
            struct.pack_into(">q", stamped, place, offset)
            offset += struct.unpack_from(">i", data, place + LAST_DELTA)[0] + 1
        segment.file.write(stamped)
        for place, size in batches:
            base = struct.unpack_from(">q", stamped, place)[0]
            segment.note(base, bytes(stamped[place : place + LEAST]), size)
        for listener in tuple(self.listeners):
            listener()
        return first

    def read(self, offset: int, most: int) -> bytes:
        """Record batches from an offset on; empty at the end."""
        if offset >= self.end:
            return b""
        number = max(0, bisect_right([segment.base for segment in self._segments], offset) - 1)
        while not self._segments[number].offsets:
            number += 1
        return self._segments[number].read(offset, most)

    def at_time(self, time_ms: int) -> tuple[int, int] | None:
        """(offset, timestamp) of the first batch whose latest record is not before a time, or None."""
        for segment in self._segments:
            for offset, stamp in zip(segment.offsets, segment.times, strict=True):
                if stamp >= time_ms:
                    return offset, stamp
        return None

    def close(self) -> None:
        """Closes the files."""
        for segment in self._segments:
            segment.file.close()

    def _roll(self) -> None:
        """Starts a new segment and drops those whose last record is older than the retention."""
        self._segments.append(Segment(self._folder / f"{self.end}.log"))
        if self._retention_ms is None:
            return
        oldest = time.time() * 1000 - self._retention_ms
        while len(self._segments) > 1 and self._segments[0].times and self._segments[0].times[-1] < oldest:
            gone = self._segments.pop(0)
            gone.file.close()
            gone.path.unlink()


def _batches(data: bytes) -> Iterator[tuple[int, int]]:
    """(place, size) of each batch in what a producer sent."""
    place = 0
    while place < len(data):
        if place + LEAST > len(data):
            raise CorruptBatch("a batch is cut short")
        _, length, _, magic = HEADER.unpack_from(data, place)
        if magic != 2 or length < LEAST - PREFIX or place + PREFIX + length > len(data):
            raise CorruptBatch("not a record batch of format 2")
        yield place, PREFIX + length
        place += PREFIX + length
    if not place:
        raise CorruptBatch("no batch")
