"""Unit rows: ids, slot numbers, writing, status changes, expiry by day, and the events already applied (W11, I5).

A unit's rows: UNIT (slot -> unit), UNIT_SLOT (unit id -> slot), VECTOR (slot -> float16), ENTITY (entity id -> slots), EXPIRY
(day -> slots). All look-ups are by key: nothing here grows with a person's history. A unit that is no longer current keeps
its UNIT row, for as-of queries and audit, and leaves VECTOR and ENTITY, which are the index.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, date, datetime, timedelta

import msgspec
import numpy as np
from numpy.typing import NDArray

from models.errors import RecordError, StateError
from models.records import Entity, Unit, UnitStatus
from tables.person import AppliedEvent, PersonState
from tables.store import ENTITY, ERASED, EVENT, EXPIRY, UNIT, UNIT_SLOT, VECTOR, PersonRows

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cuestream/unit/1")
MAX_SLOTS_PER_ENTITY = 256
"""Newest units kept per entity in its row; older ones are still found by meaning and words."""
MAX_EXPIRY_DAYS = 400
"""How far back passed days are visited for expiry: more than the longest expiry (30 days after a due date within a year)."""

_decoder = msgspec.json.Decoder(Unit)


def unit_id(tenant: str, event_id: str, start: int, end: int) -> str:
    """The UUIDv5 of tenant, event and span: the same in every replay.

    >>> unit_id("default", "e1", 0, 5) == unit_id("default", "e1", 0, 5) != unit_id("default", "e1", 0, 6)
    True
    """
    return str(uuid.uuid5(NAMESPACE, f"{tenant}\0{event_id}\0{start}:{end}"))


def digest(*parts: str) -> bytes:
    """16 bytes that stand for a content."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def load(rows: PersonRows, slot: int) -> Unit | None:
    """The unit in a slot, or None where there is none (any more)."""
    raw = rows.get(UNIT, slot)
    return None if raw is None else _decoder.decode(raw)


def slot_of(rows: PersonRows, unit: str) -> int | None:
    """The slot number of a unit id."""
    found = rows.numbers(UNIT_SLOT, unit)
    return found[0] if found else None


def find(rows: PersonRows, unit: str) -> tuple[int, Unit] | None:
    """Slot and unit of a unit id."""
    slot = slot_of(rows, unit)
    found = None if slot is None else load(rows, slot)
    return None if slot is None or found is None else (slot, found)


def is_erased(rows: PersonRows, unit: str) -> bool:
    """Whether the unit was erased, so that no replay writes it again."""
    return rows.get(ERASED, "unit", unit) is not None


def store(state: PersonState, rows: PersonRows, unit: Unit, vector: NDArray[np.float32] | None) -> int:
    """Writes a new unit with its index rows and returns its slot.

    A unit met again with the same words keeps its slot. Raises StateError where the id holds other words (W11).
    """
    found = find(rows, unit.unit_id)
    if found is not None:
        if (found[1].content, found[1].source_event_ids[:1]) != (unit.content, unit.source_event_ids[:1]):
            raise StateError(f"memory id {unit.unit_id} is already in use for other content")
        slot = found[0]
    else:
        slot = state.next_slot
        state.next_slot += 1
    rows.save(UNIT, slot, value=unit)
    rows.save(UNIT_SLOT, unit.unit_id, value=[slot])
    if unit.status == "current":
        put_in_index(rows, slot, unit, vector)
    return slot


def put_in_index(rows: PersonRows, slot: int, unit: Unit, vector: NDArray[np.float32] | None) -> None:
    """The rows by which a current unit is found: its vector (float16), its entities and its expiry day."""
    if vector is not None:
        rows.put(VECTOR, slot, value=np.ascontiguousarray(vector, dtype="<f2").tobytes())
    for entity in entity_ids(unit.entities):
        _add(rows, ENTITY, entity, slot)
    if unit.expires_at is not None:
        _add(rows, EXPIRY, _day(unit.expires_at).isoformat(), slot, keep=4096)


def vector_of(rows: PersonRows, slot: int) -> NDArray[np.float16] | None:
    """The stored vector of a slot."""
    raw = rows.get(VECTOR, slot)
    return None if raw is None else np.frombuffer(raw, dtype="<f2")


def save(rows: PersonRows, slot: int, unit: Unit) -> None:
    """Puts a changed unit in its slot."""
    rows.save(UNIT, slot, value=unit)


def retire(rows: PersonRows, slot: int, unit: Unit, status: UnitStatus, at: datetime, by: str | None = None) -> Unit:
    """Takes a unit out of the index: `status` superseded, corrected or expired. Its row stays, with the end of its validity."""
    unit.status = status
    unit.superseded_by = by
    if unit.validity.effective_to is None and status != "expired":
        unit.validity = msgspec.structs.replace(unit.validity, effective_to=at)
    save(rows, slot, unit)
    _drop_from_index(rows, slot, unit)
    return unit


def erase(rows: PersonRows, slot: int, unit: Unit) -> Unit:
    """Deletes every row of a unit, leaves a tombstone of its id, and returns the empty record that ends it (W7)."""
    remove(rows, slot, unit)
    rows.put(ERASED, "unit", unit.unit_id, value=b"\x01")
    return erased_record(unit)


def erased_record(unit: Unit) -> Unit:
    """A unit's last version: who it belonged to and that it is gone; nothing of what it said."""
    return Unit(
        tenant=unit.tenant, user_id=unit.user_id, unit_id=unit.unit_id, content="", resolved_content="", summary="",
        source_event_ids=unit.source_event_ids, start=0, end=0, ts=unit.ts, speaker=type(unit.speaker)(role=unit.speaker.role),
        entropy=0.0, type="fact", intent=type(unit.intent)(label="neutral", probs={}), load=type(unit.load)(
            stress=0.0, certainty=0.0, urgency=0.0, cooperation=0.0), emotion=type(unit.emotion)(label="calm", probs={}),
        confidence=0.0, status="erased", pipeline_version=unit.pipeline_version, source=unit.source,
    )  # fmt: skip


def expire(state: PersonState, rows: PersonRows, now: datetime) -> list[Unit]:
    """Units whose `expires_at` has passed at event time `now`, retired. Visits only the days since the person's clock."""
    before = state.clock
    if before is None or before >= now:
        return []
    day, last = max(_day(before), _day(now) - timedelta(days=MAX_EXPIRY_DAYS)), _day(now)
    expired: list[Unit] = []
    while day <= last:
        slots = rows.numbers(EXPIRY, day.isoformat())
        waiting = []
        for slot in slots:
            unit = load(rows, slot)
            if unit is None or unit.status != "current" or unit.expires_at is None:
                continue
            if unit.expires_at <= now:
                expired.append(retire(rows, slot, unit, "expired", now))
            else:
                waiting.append(slot)
        if slots and waiting != slots:
            _put_numbers(rows, EXPIRY, day.isoformat(), waiting)
        day += timedelta(days=1)
    return expired


def entity_ids(entities: list[Entity]) -> list[str]:
    """The canonical ids of entities, each once, in order."""
    return list(dict.fromkeys(entity.id for entity in entities))


def applied(rows: PersonRows, event_id: str, content: bytes, revision: int | None = None) -> AppliedEvent | None:
    """What an event wrote when it was applied, or None for a new one. `revision` is that of a recognised segment.

    Raises RecordError for a reused id (I5): other content, and no other revision of the same segment.
    """
    seen = rows.load(EVENT, event_id, type=AppliedEvent)
    if seen is not None and seen.digest != content and revision in (None, seen.revision):
        raise RecordError("event_id_reused", "this event id was seen with another content")
    return seen


def mark_applied(rows: PersonRows, event_id: str, content: bytes, revision: int | None = None) -> None:
    """Notes an applied event and the keys of the rows that it touched, so that a repeat puts them again."""
    rows.save(EVENT, event_id, value=AppliedEvent(digest=content, keys=list(rows.touched), revision=revision or 0))


def remove(rows: PersonRows, slot: int, unit: Unit) -> None:
    """Deletes every row of a unit; its id may be used again."""
    rows.delete(UNIT, slot)
    rows.delete(UNIT_SLOT, unit.unit_id)
    _drop_from_index(rows, slot, unit)


def _drop_from_index(rows: PersonRows, slot: int, unit: Unit) -> None:
    rows.delete(VECTOR, slot)
    for entity in entity_ids(unit.entities):
        _remove(rows, ENTITY, entity, slot)
    if unit.expires_at is not None:
        _remove(rows, EXPIRY, _day(unit.expires_at).isoformat(), slot)


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _add(rows: PersonRows, kind: bytes, part: str, slot: int, keep: int = MAX_SLOTS_PER_ENTITY) -> None:
    slots = rows.numbers(kind, part)
    if slot not in slots:
        rows.save(kind, part, value=(slots + [slot])[-keep:])


def _remove(rows: PersonRows, kind: bytes, part: str, slot: int) -> None:
    slots = rows.numbers(kind, part)
    if slot in slots:
        _put_numbers(rows, kind, part, [s for s in slots if s != slot])


def _put_numbers(rows: PersonRows, kind: bytes, part: str, slots: list[int]) -> None:
    if slots:
        rows.save(kind, part, value=slots)
    else:
        rows.delete(kind, part)
