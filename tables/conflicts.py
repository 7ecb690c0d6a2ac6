"""Conflicts between what a person's memory holds and what is said now (W4): look-ups by slot key, never a scan.

The order of decision: newer, then an explicit statement of the user before an inference, then higher confidence, then the last
write. Things that can hold together do not fight: several values of a multi-valued slot, disjoint periods, periodic facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec import Struct

from models.records import Unit
from models.tasks.slot_values import content_tokens
from models.tasks.slots import SlotFact
from tables.store import CONFLICT, PersonRows
from tables.units import load

MAX_ENTRIES = 16
"""Current units kept per slot key; the oldest leave first."""
MIN_SHARE = 0.3
"""A unit is replaced by a conflict about one of its statements only if that is at least this share of its text."""
_OF_SLOT = "\x01slot"
"""First part of the rows that say under which keys a slot's facts are kept: what is erased must be found again."""
Relation = Literal["none", "same", "conflict"]


class Entry(Struct, array_like=True):
    """What the CONFLICT row of a slot key keeps of a current unit."""

    slot: int
    attribute: str
    value: str
    tokens: tuple[str, ...]
    polarity: int
    mode: str
    kind: str
    ts: datetime
    begins: datetime | None
    ends: datetime | None
    periodic: bool
    explicit: bool
    confidence: float
    past: bool
    share: float


class Verdict(Struct):
    """`losers` leave the index; `twin` says the same already; `beaten_by` is a current unit that wins over the new one."""

    losers: list[int]
    twin: int | None = None
    beaten_by: int | None = None


def keys_of(fact: SlotFact) -> list[tuple[str, ...]]:
    """The row keys under which a fact is kept: one per content word of its object, or one for its attribute."""
    if fact.mode in ("like", "have", "gone"):
        return [(fact.subject, fact.attribute, token) for token in fact.tokens]
    return [(fact.subject, fact.attribute)]


def judge(rows: PersonRows, unit: Unit, facts: Sequence[SlotFact]) -> Verdict:
    """What the new unit's facts replace, repeat, or lose against."""
    verdict = Verdict(losers=[])
    for fact in facts:
        new = _entry(-1, unit, fact)
        for old in _entries(rows, fact):
            relation = relate(old, new, fact)
            if relation == "same" and verdict.twin is None and _same_words(rows, old, unit):
                verdict.twin = old.slot
            elif relation == "conflict":
                if _rank(new) >= _rank(old):
                    if old.share >= MIN_SHARE and old.slot not in verdict.losers:
                        verdict.losers.append(old.slot)
                elif new.share >= MIN_SHARE and _is_current(rows, old.slot):
                    verdict.beaten_by = old.slot
    return verdict


def relate(old: Entry, new: Entry, fact: SlotFact) -> Relation:
    """How two statements with one slot key stand to each other."""
    if old.attribute != new.attribute or old.periodic != new.periodic or _disjoint(old, new):
        return "none"
    if new.past or old.past:
        return "none"
    alike = _alike(old, new)
    if new.mode == "like":
        return "none" if not alike else "same" if old.polarity == new.polarity else "conflict"
    if new.mode == "gone":
        return "conflict" if old.mode == "have" and alike else "none"
    if new.mode == "have":
        return "none"
    if new.mode == "many":
        if alike:
            return "same" if old.polarity == new.polarity else "conflict"
        return "conflict" if fact.change and not fact.addition and old.polarity == new.polarity == 1 else "none"
    if alike:
        return "same" if old.polarity == new.polarity else "conflict"
    if old.polarity != new.polarity or fact.addition:
        return "none"
    return "conflict" if old.kind == new.kind else "none"


def index(rows: PersonRows, slot: int, unit: Unit, facts: Sequence[SlotFact]) -> None:
    """Adds a current unit's facts to their rows."""
    for fact in facts:
        entry = _entry(slot, unit, fact)
        for key in keys_of(fact):
            kept = [
                old
                for old in _row(rows, key)
                if (old.slot, old.attribute, old.value) != (slot, entry.attribute, entry.value)
            ]
            _put(rows, key, (kept + [entry])[-MAX_ENTRIES:])
    keys = list(dict.fromkeys(key for fact in facts for key in keys_of(fact)))
    if keys:
        rows.put(CONFLICT, _OF_SLOT, slot, value=msgspec.msgpack.encode(keys))


def drop(rows: PersonRows, slot: int) -> None:
    """Takes a unit's facts out of all rows that hold them, as noted when they were put there."""
    raw = rows.get(CONFLICT, _OF_SLOT, slot)
    if raw is None:
        return
    for key in msgspec.msgpack.decode(raw, type=list[tuple[str, ...]]):
        old = _row(rows, key)
        kept = [entry for entry in old if entry.slot != slot]
        if len(kept) != len(old):
            _put(rows, key, kept)
    rows.delete(CONFLICT, _OF_SLOT, slot)


def refresh(rows: PersonRows, slot: int, facts: Sequence[SlotFact], ts: datetime) -> None:
    """Notes that a unit's facts were said again at `ts`, so that they are as new as that."""
    for key in dict.fromkeys(key for fact in facts for key in keys_of(fact)):
        entries = _row(rows, key)
        for entry in entries:
            if entry.slot == slot:
                entry.ts = max(entry.ts, ts)
        if entries:
            _put(rows, key, entries)


def _entries(rows: PersonRows, fact: SlotFact) -> list[Entry]:
    found: dict[tuple[int, str], Entry] = {}
    for key in keys_of(fact):
        for entry in _row(rows, key):
            found.setdefault((entry.slot, entry.value), entry)
    return list(found.values())


def _entry(slot: int, unit: Unit, fact: SlotFact) -> Entry:
    begins, ends = _period(unit)
    return Entry(
        slot=slot, attribute=fact.attribute, value=fact.value, tokens=fact.tokens, polarity=fact.polarity, mode=fact.mode,
        kind=fact.kind, ts=unit.ts, begins=begins, ends=ends, periodic=unit.validity.type == "periodic",
        explicit=unit.speaker.role == "customer", confidence=unit.confidence, past=fact.past,
        share=min(1.0, (fact.end - fact.start) / max(1, len(unit.resolved_content))),
    )  # fmt: skip


def _period(unit: Unit) -> tuple[datetime | None, datetime | None]:
    """The stretch a statement is about, where it names one of some length ("from January to February", "since May")."""
    for time in unit.times:
        if (
            time.normalized_time
            and time.end_time
            and time.grain in ("month", "quarter", "season", "year", "week", "range", None)
        ):
            begins, ends = _moment(time.normalized_time), _moment(time.end_time)
            if begins and ends and (ends - begins).days >= 5:
                return begins, ends
    return None, None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _disjoint(old: Entry, new: Entry) -> bool:
    if old.begins is None or old.ends is None or new.begins is None or new.ends is None:
        return False
    return old.ends <= new.begins or new.ends <= old.begins


def _alike(old: Entry, new: Entry) -> bool:
    if old.value == new.value:
        return True
    one, other = set(old.tokens), set(new.tokens)
    return bool(one and other) and (one <= other or other <= one)


def _rank(entry: Entry) -> tuple[datetime, bool, float]:
    return entry.ts, entry.explicit, round(entry.confidence, 3)


def _same_words(rows: PersonRows, old: Entry, unit: Unit) -> bool:
    """Whether the new unit adds no content word to the old one's, so that one of them is enough."""
    known = load(rows, old.slot)
    if (
        known is None
        or known.status != "current"
        or old.past
        or old.mode in ("have", "gone")
        or known.clearance != unit.clearance
    ):
        return False
    return content_tokens(unit.resolved_content) <= content_tokens(known.resolved_content)


def _is_current(rows: PersonRows, slot: int) -> bool:
    known = load(rows, slot)
    return known is not None and known.status == "current"


def _row(rows: PersonRows, key: tuple[str, ...]) -> list[Entry]:
    raw = rows.get(CONFLICT, *key)
    return [] if raw is None else msgspec.json.decode(raw, type=list[Entry])


def _put(rows: PersonRows, key: tuple[str, ...], entries: list[Entry]) -> None:
    if entries:
        rows.put(CONFLICT, *key, value=msgspec.json.encode(entries))
    else:
        rows.delete(CONFLICT, *key)
