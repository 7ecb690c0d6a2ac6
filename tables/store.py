"""Rows of the one changelog-backed table: key spaces by person, and a transaction that writes them in order.

Every row of a person has a key ``kind NUL tenant/user NUL part NUL part``. All kinds live in one physical table, so that one
changelog gives one order: the person's hot row, put last, is the commit point of an event (design.md section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

Struct = TypeVar("Struct", bound=msgspec.Struct)

HOT, SESSION, EVENT, UNIT, UNIT_SLOT, VECTOR, CONFLICT, ENTITY = b"p", b"s", b"e", b"u", b"i", b"v", b"c", b"n"
"""Row kinds: hot row, session, applied event, unit by slot number, slot number by unit id, vector by slot number, slots by
conflict key, slots by entity."""

PROFILE, EXPIRY, ERASED = b"f", b"x", b"t"
"""Row kinds: slots of the profile, slots by the day they expire, tombstones of what was erased."""

_packer = msgspec.json.Encoder()


def row_key(kind: bytes, person: str, *parts: str | int) -> bytes:
    """The key of a row. NUL separates the parts, so a part that carries one is escaped."""
    return _key(kind, _part(person), parts)


def slots_among(keys: Iterable[bytes], kind: bytes) -> list[int]:
    """The numbers at the end of those row keys that are of a kind (UNIT, VECTOR: slots)."""
    return [int(key.rpartition(b"\0")[2]) for key in keys if key.startswith(kind + b"\0")]


def _key(kind: bytes, person: bytes, parts: tuple[str | int, ...]) -> bytes:
    if not parts:
        return b"%b\0%b" % (kind, person)
    if len(parts) == 1:
        return b"%b\0%b\0%b" % (kind, person, _part(parts[0]))
    return b"\0".join([kind, person, *map(_part, parts)])


def _part(part: str | int) -> bytes:
    if isinstance(part, int):
        return b"%d" % part
    if "\0" in part or "\\" in part:
        part = part.replace("\\", "\\\\").replace("\0", "\\0")
    return part.encode("utf-8", "surrogatepass")


class Readable(Protocol):
    """Rows that can be read by key: a dict, a Faust table, or a transaction."""

    def get(self, key: bytes, /) -> bytes | None:
        """The row's value, or None."""
        ...


class Transaction:
    """Reads through to the rows beneath; keeps writes in the order of their last put.

    The rows beneath are never written here: the caller applies ``writes()`` once the outputs are out.
    """

    def __init__(self, rows: Readable) -> None:
        self._rows = rows
        self._writes: dict[bytes, bytes | None] = {}

    def get(self, key: bytes) -> bytes | None:
        """The row's value as this transaction sees it, or None."""
        if key in self._writes:
            return self._writes[key]
        return self._rows.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Writes a row; a later put of the same key moves it to the end of the order."""
        self._writes.pop(key, None)
        self._writes[key] = value

    def delete(self, key: bytes) -> None:
        """Deletes a row (a tombstone in the changelog)."""
        self._writes.pop(key, None)
        self._writes[key] = None

    def writes(self) -> Iterator[tuple[bytes, bytes | None]]:
        """All writes in commit order; None is a deletion."""
        yield from self._writes.items()


class PersonRows:
    """One person's rows inside a transaction. Remembers which keys were touched, so that a repeat can put them again."""

    def __init__(self, transaction: Transaction, person: str) -> None:
        self.person = person
        self.touched: dict[bytes, None] = {}
        self._transaction = transaction
        self._person = _part(person)

    def get(self, kind: bytes, *parts: str | int) -> bytes | None:
        """The raw value of a row."""
        return self._transaction.get(_key(kind, self._person, parts))

    def put(self, kind: bytes, *parts: str | int, value: bytes) -> None:
        """Puts a raw value."""
        key = _key(kind, self._person, parts)
        self.touched[key] = None
        self._transaction.put(key, value)

    def delete(self, kind: bytes, *parts: str | int) -> None:
        """Deletes a row."""
        key = _key(kind, self._person, parts)
        self.touched[key] = None
        self._transaction.delete(key)

    def load(self, kind: bytes, *parts: str | int, type: type[Struct]) -> Struct | None:
        """A row decoded as a struct."""
        raw = self.get(kind, *parts)
        return None if raw is None else msgspec.json.decode(raw, type=type)

    def save(self, kind: bytes, *parts: str | int, value: msgspec.Struct | list[int] | int) -> None:
        """Puts a struct (or a number, or numbers) as JSON (MessagePack would drop the zone of a time)."""
        self.put(kind, *parts, value=_packer.encode(value))

    def numbers(self, kind: bytes, *parts: str | int) -> list[int]:
        """A row of numbers; empty where there is none."""
        raw = self.get(kind, *parts)
        return [] if raw is None else msgspec.json.decode(raw, type=list[int])
