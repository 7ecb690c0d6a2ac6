"""What a segment is as a memory: its type, how grave it is, whether it is settled, and how long it holds (V1).

Cue words come from ``lexicons/unit_cues.toml`` through ``unit_types``; filter 2's reading and the time expressions of the
segment are further evidence. Labels are defined in docs/unit-labels.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from models.entropy import Segment
from models.records import Affect, Entity, Severity, TimeExpression, UnitType, Validity
from models.units.claims import is_small_talk, says
from models.units.corrections import read_correction
from models.units.token_count import count_tokens
from models.units.unit_types import Typed, TypeModel, flatten, shipped_types
from models.units.validity import read_validity

Resolution = Literal["none", "pending", "resolved"]
HIGH_STRESS, HIGH_URGENCY = 0.7, 0.7
OPEN_TYPES = frozenset({"action_request", "complaint", "commitment"})
_MEDIUM = frozenset(
    {"action_request", "complaint", "commitment", "decision", "correction", "constraint", "refusal", "rule"}
)


class UnitReading(Struct, frozen=True, kw_only=True):
    """A segment as a memory.

    `small_talk`: greeting, thanks or acknowledgement only, not worth a unit. `hypothetical`: a trial, a proposal or a
    guess about what one might do, which is not yet anything (W1). `rejected`: it turns something down and says nothing else.
    """

    type: UnitType
    severity: Severity
    resolution_status: Resolution
    validity: Validity
    small_talk: bool = False
    hypothetical: bool = False
    rejected: bool = False
    confidence: float = 1.0


def read_unit(
    text: str,
    *,
    segment: Segment | None = None,
    affect: Affect | None = None,
    entities: Sequence[Entity] = (),
    times: Sequence[TimeExpression] = (),
    said_at: datetime | None = None,
    types: TypeModel | None = None,
) -> UnitReading:
    """Reads a segment's (resolved) text. `said_at` defaults to the affect record's time and anchors the validity.

    >>> read_unit("我每周五晚上都去打羽毛球。").validity.cycle_pattern
    'every_friday'
    """
    flat = flatten(text)
    model = types or shipped_types()
    if segment is None:
        typed, small = model.read(text), is_small_talk(text)
    else:  # its type was read with the encoder's vector, so better than from words alone
        typed, small = Typed(segment.type, segment.chance, model.cues.seen(flat)), segment.small_talk
    kind = _kind(flat, typed, bool(times))
    said_at = said_at or (affect.ts if affect is not None else None)
    validity = read_validity(flat, kind, typed.cues, times, said_at)
    status = _resolution(kind, typed.cues)
    return UnitReading(
        type=kind,
        severity=_severity(kind, typed.cues, status, segment, affect),
        resolution_status=status,
        validity=validity,
        small_talk=small,
        hypothetical=not small and _hypothetical(text, kind, typed.cues),
        rejected=kind == "refusal" and count_tokens(flat) <= 8 and not entities and not times,
        confidence=typed.chance,
    )


def _kind(flat: str, typed: Typed, has_times: bool) -> UnitType:
    """The model's type; what outer evidence settles is put right."""
    cues = typed.cues
    correction = read_correction(flat, has_times)
    if correction is not None and correction.kind in ("correction", "contrast") and "question" not in cues:
        return "correction"
    if correction is not None and correction.kind == "move" and typed.chance < 0.8:
        return "correction"
    if (
        "hold" in cues
        and typed.type in ("refusal", "status_update", "fact", "action_request")
        and "question" not in cues
    ):
        return "decision"
    return typed.type


def _resolution(kind: UnitType, cues: frozenset[str]) -> Resolution:
    """Requests, complaints and promises stand open until they are closed; a reported closing is closed."""
    if "closed" in cues and "unclosed" not in cues:
        return "resolved"
    if kind in OPEN_TYPES or (kind == "status_update" and ("unclosed" in cues or "waiting" in cues)):
        return "pending"
    return "none"


def _severity(
    kind: UnitType, cues: frozenset[str], status: Resolution, segment: Segment | None, affect: Affect | None
) -> Severity:
    """High: authority, urgency, or a complaint with heat; medium: whatever asks for or changes something; else low."""
    if status == "resolved":
        return "low"
    heat = affect is not None and affect.load.stress >= HIGH_STRESS
    hurry = affect is not None and affect.load.urgency >= HIGH_URGENCY
    if segment is not None and segment.priority_flag:
        return "high"
    if kind == "complaint" and ("urgent" in cues or heat or (affect is not None and affect.recurring)):
        return "high"
    if kind in ("action_request", "status_update", "complaint") and "serious" in cues and ("urgent" in cues or hurry):
        return "high"
    if kind == "action_request" and ("urgent" in cues or hurry):
        return "high"
    return "medium" if kind in _MEDIUM or "serious" in cues else "low"


def _hypothetical(text: str, kind: UnitType, cues: frozenset[str]) -> bool:
    """A proposal or trial; a diagnosis ("it may be the network") is a hypothesis worth keeping, not this."""
    if kind in ("decision", "correction", "preference", "identity", "constraint", "commitment", "complaint"):
        return False
    return says("trial", text) or (says("proposal", text) and "hold" not in cues and kind != "hypothesis")
