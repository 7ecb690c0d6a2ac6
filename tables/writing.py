"""Writing a unit into a person's memory: its slots, what it replaces, corrects, repeats or settles, its rows, its audit.

Constant work per unit: slot rows by key, at most `MAX_CANDIDATES` other units (those the engine found similar, and the last few).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from models.records import Audit, Layer, Slot, Unit
from models.tasks.slot_values import content_tokens, value_kind
from models.tasks.slots import SlotFact, read_slots
from models.units.corrections import Correction, read_correction
from tables import conflicts, profile, units
from tables.person import PersonState
from tables.store import PersonRows

MAX_CANDIDATES = 12
RECENT = 6
"""The newest slots are always among the candidates: what is corrected was often just said."""
MAX_SOURCES = 31
"""Of a statement repeated for ever, the first event and so many of the latest are named."""
JUST_SAID_SECONDS = 600
"""A correction without a word in common can only be about what the other side said in the last ten minutes."""
NEIGHBOURS = 4
"""How far from a unit's slot others of the same utterance are looked for."""
MIN_OVERLAP = 0.34
"""Share of the smaller statement's content words that must be common before one is taken to be about the other."""
CORRECTION_CONFIDENCE = 0.95


class Written(Struct):
    """What one unit did: `units` to publish (changed ones first, the new or merged one last), audit lines, and its slot.

    `slot` is None where the unit was not stored anew: it repeats `units[-1]`, or it was erased before.
    """

    units: list[Unit] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    slot: int | None = None
    merged: bool = False


def write_unit(
    state: PersonState,
    rows: PersonRows,
    unit: Unit,
    vector: NDArray[np.float32] | None,
    *,
    similar: Sequence[tuple[int, float]] = (),
    reason: str = "statement",
    correcting: bool = False,
) -> Written:
    """Writes one unit that the policy let through. `similar`: (slot, dense score) of this person's nearest current units.
    `correcting`: an earlier clause of the same turn said that something is wrong ("不对，你搞错了").

    Raises StateError where the unit's id is in use for other content (W11).
    """
    written = Written()
    if units.is_erased(rows, unit.unit_id):
        written.audits.append(audit(unit, "refused", "erased_before"))
        return written
    facts = facts_of(unit)
    correction = read_correction(unit.resolved_content, bool(unit.times)) if _may_correct(unit) else None
    if correcting and _may_correct(unit):
        correction = Correction(kind="correction", wrong=correction.wrong if correction else "")
    if correction is not None and correction.kind == "correction":
        unit.type, unit.write_class, unit.expires_at = "correction", "must", None
        unit.confidence = max(unit.confidence, CORRECTION_CONFIDENCE)
    if facts and unit.slot is None:
        unit.slot = Slot(subject=facts[0].subject, attribute=facts[0].name)
    verdict = conflicts.judge(rows, unit, facts)
    if verdict.twin is not None and not verdict.losers and correction is None:
        return _merge(rows, unit, verdict.twin, facts, written)
    losers = list(verdict.losers)
    if correction is not None and not (losers and correction.kind != "resolved"):
        referent = _referent(state, rows, unit, correction, similar)
        if referent is not None and correction.kind == "resolved":
            _settle(rows, unit, referent, written)
        elif referent is not None and referent not in losers:
            losers.append(referent)
    if correction is not None and correction.kind in ("correction", "contrast"):
        losers += _same_breath(rows, losers)
    if verdict.beaten_by is not None:
        winner = units.load(rows, verdict.beaten_by)
        unit.status, unit.superseded_by = "superseded", winner.unit_id if winner else None
    if unit.type == "correction" and unit.layer == "session" and unit.user_id is not None:
        unit.layer = _layer_of(rows, losers)
    if correction is not None and losers and unit.topic is None:
        unit.topic = next((old.topic for slot in losers if (old := units.load(rows, slot)) and old.topic), None)
    was_stored = units.slot_of(rows, unit.unit_id)
    slot = units.store(state, rows, unit, vector)
    corrected = unit.type == "correction" or (correction is not None and correction.kind == "contrast")
    for loser in losers:
        if loser != slot:
            _retire(rows, loser, unit, "corrected" if corrected else "superseded", written)
    if unit.status == "current":
        conflicts.index(rows, slot, unit, facts)
        profile.consider(rows, slot, unit)
    written.slot = slot
    written.units.append(unit)
    if was_stored is None:
        written.audits.append(audit(unit, "written", reason))
    return written


def facts_of(unit: Unit) -> list[SlotFact]:
    """The slot readings of a unit, about its speaker where it says "I"."""
    names = [e.id for e in unit.entities if e.type.lower() in ("person", "per", "name")]
    names += [e.text for e in unit.entities if e.type.lower() in ("person", "per", "name") and e.text not in names]
    if unit.speaker.role in ("tool", "system") or unit.type == "question":
        return []
    meant = unit.layer == "profile" and unit.type in ("preference", "action_request", "constraint")
    return read_slots(unit.resolved_content, speaker=subject_of(unit), names=names, wish=meant)


def subject_of(unit: Unit) -> str:
    """Whom "I" means: the account's person, or a named speaker where several share one account."""
    if unit.speaker.role == "customer":
        return (unit.speaker.name or "self").lower()
    return unit.speaker.role


def audit(unit: Unit, action: str, reason: str, by: str | None = None) -> Audit:
    """An audit line about a unit: never what it says."""
    return Audit(
        tenant=unit.tenant, user_id=unit.user_id, action=action, reason=reason,  # type: ignore[arg-type]
        event_id=unit.source_event_ids[-1] if unit.source_event_ids else "", unit_id=unit.unit_id, by_unit_id=by, ts=unit.ts,
        pipeline_version=unit.pipeline_version,
    )  # fmt: skip


def _may_correct(unit: Unit) -> bool:
    return unit.speaker.role in ("customer", "agent", "third_party") and unit.type != "question"


def _merge(rows: PersonRows, unit: Unit, twin: int, facts: Sequence[SlotFact], written: Written) -> Written:
    """Said before: the known unit also names this event as its source, and counts as said now."""
    known = units.load(rows, twin)
    if known is None:
        return written
    for event in unit.source_event_ids:
        if event not in known.source_event_ids:
            known.source_event_ids.append(event)
    del known.source_event_ids[1:-MAX_SOURCES]
    known.confidence = max(known.confidence, unit.confidence)
    known.priority_flag = known.priority_flag or unit.priority_flag
    units.save(rows, twin, known)
    conflicts.refresh(rows, twin, facts, unit.ts)
    line = audit(known, "written", "said_again", unit.unit_id)
    line.ts = unit.ts
    written.units.append(known)
    written.audits.append(line)
    written.merged = True
    return written


def _retire(rows: PersonRows, slot: int, unit: Unit, status: str, written: Written) -> None:
    old = units.load(rows, slot)
    if old is None or old.status != "current":
        return
    conflicts.drop(rows, slot)
    profile.forget(rows, slot)
    units.retire(rows, slot, old, status, unit.ts, unit.unit_id)  # type: ignore[arg-type]
    written.units.append(old)
    line = audit(old, status, "newer_statement" if status == "superseded" else "user_correction", unit.unit_id)
    line.event_id, line.ts = unit.source_event_ids[-1], unit.ts
    written.audits.append(line)


def _settle(rows: PersonRows, unit: Unit, slot: int, written: Written) -> None:
    """A pending matter is settled: it stays, with less of a gap to close."""
    old = units.load(rows, slot)
    if old is None:
        return
    old.resolution_status, old.resolved_at = "resolved", unit.ts
    units.save(rows, slot, old)
    written.units.append(old)
    line = audit(old, "resolved", "said_to_be_settled", unit.unit_id)
    line.event_id, line.ts = unit.source_event_ids[-1], unit.ts
    written.audits.append(line)


def _referent(
    state: PersonState, rows: PersonRows, unit: Unit, correction: Correction, similar: Sequence[tuple[int, float]]
) -> int | None:
    """The current unit that a correction is about: it holds what is denied, or shares most words; None if none does."""
    slots = [slot for slot, _ in similar[: MAX_CANDIDATES - RECENT]]
    slots += [
        slot for slot in range(state.next_slot - 1, max(-1, state.next_slot - 1 - RECENT), -1) if slot not in slots
    ]
    mine = content_tokens(correction.what or unit.resolved_content) - _time_words(unit)
    best: tuple[float, int] | None = None
    for slot in slots:
        old = units.load(rows, slot)
        if (
            old is None
            or old.status != "current"
            or old.unit_id == unit.unit_id
            or old.ts > unit.ts
            or old.type == "question"
        ):
            continue
        if old.source_event_ids[-1:] == unit.source_event_ids[-1:] or not _may_replace(unit, old, correction):
            continue
        share = _overlap(mine, content_tokens(old.resolved_content) - _time_words(old), old.resolved_content)
        if correction.wrong:
            held = correction.wrong.lower() in old.resolved_content.lower()
            share = share + 1.0 if held else share if correction.kind == "correction" else 0.0
        if share >= MIN_OVERLAP and (best is None or share > best[0] + 1e-9):
            best = (share, slot)
    if best is None and correction.kind == "correction":
        return _just_said(rows, unit, sorted(slots, reverse=True)[:RECENT])
    return None if best is None else best[1]


def _just_said(rows: PersonRows, unit: Unit, slots: Sequence[int]) -> int | None:
    """What the other side said last, if it names a value of the kind that is put right ("That's not right, Thursday at 9")."""
    kind = value_kind(unit.resolved_content)
    for slot in slots:
        old = units.load(rows, slot)
        if old is None or old.speaker.role == unit.speaker.role or old.source.session_id != unit.source.session_id:
            continue
        recent = 0 <= (unit.ts - old.ts).total_seconds() <= JUST_SAID_SECONDS and old.status == "current"
        return slot if recent and kind != "other" and value_kind(old.resolved_content) == kind else None
    return None


def _same_breath(rows: PersonRows, losers: Sequence[int]) -> list[int]:
    """Units of the same utterance as a corrected one that repeat the value that was wrong ("寄到虹桥就行" beside "公司在虹桥")."""
    found: list[int] = []
    for slot in losers:
        old = units.load(rows, slot)
        values = [fact.value for fact in facts_of(old) if fact.mode == "value" and len(fact.value) > 1] if old else []
        for near in range(max(0, slot - NEIGHBOURS), slot + NEIGHBOURS + 1):
            other = units.load(rows, near) if values and near not in losers and near not in found else None
            if other is None or old is None or other.status != "current":
                continue
            together = set(other.source_event_ids) & set(old.source_event_ids)
            if together and any(fact.value in values for fact in facts_of(other)):
                found.append(near)
    return found


def _layer_of(rows: PersonRows, slots: Sequence[int]) -> Layer:
    """The layer of what a correction replaces: a corrected profile line is one again."""
    layers = [old.layer for slot in slots if (old := units.load(rows, slot)) is not None]
    return "profile" if "profile" in layers else "session"


def _may_replace(unit: Unit, old: Unit, correction: Correction) -> bool:
    if correction.kind == "resolved":
        return old.resolution_status == "pending"
    if correction.kind == "move":
        return bool(old.times)
    return True


def _time_words(unit: Unit) -> frozenset[str]:
    return (
        frozenset().union(*(content_tokens(time.original_form) for time in unit.times)) if unit.times else frozenset()
    )


def _overlap(one: frozenset[str], other: frozenset[str], text: str) -> float:
    """Share of the smaller set of words that is common; one common word only counts if it is telling: a name, a number."""
    smaller, common = min(len(one), len(other)), one & other
    if len(common) == 1 and not _telling(next(iter(common)), text):
        return 0.0
    return len(common) / smaller if smaller else 0.0


def _telling(word: str, text: str) -> bool:
    if any(c.isdigit() for c in word):
        return True
    return len(word) > 1 if not word.isascii() else f" {word.capitalize()}" in text
