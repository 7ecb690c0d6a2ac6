"""What comes to mind for one turn: roads, cue score, silence (R1-R6). Pure over one person's index; no clock.

Permission comes first (only this person's index is ever given, then clearance), then evidence, then the cue score, then
near copies are joined. When nothing bears on the turn it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from models.cues import cue_score
from models.cues.cue_mlp import CueMlp
from models.cues.cue_score import TERMS, Floats, RecallWeights
from models.cues.cue_why import explain, telling
from models.cues.terms import terms
from models.cues.turn_needs import read_needs
from models.records import Affect, Cue, CueValidity, TaskView
from tables.evidence import Evidence, allowed_slots, gather
from tables.periods import hours
from tables.person_index import PersonIndex
from tables.query import Query, make_query

CANDIDATES = 64
"""Units taken from each road, at the least, before the cue score."""

NEWEST = 2
"""Units of one subject and attribute that may come to mind together (W4)."""

COPY = 0.8
"""Share of index terms in common from which two units say the same."""


class RecallSettings(Struct, frozen=True, kw_only=True):
    """`on`: which turns get a bundle (customer, all, probes, none); `max_cues`: how many cues one may carry.

    The score is the linear one of `weights`, or that of `network` where one is given.
    """

    max_cues: int = 3
    on: str = "customer"
    weights: RecallWeights = field(default_factory=cue_score.load_weights)
    network: CueMlp | None = None


class Recall(Struct, frozen=True, kw_only=True):
    """The cues, best first; `abstained` where nothing bears on the turn; the administrator's marker."""

    cues: list[Cue]
    abstained: bool
    debug_marker: str = ""


def wanted(turn: Affect, on: str) -> bool:
    """Whether a turn gets a bundle under the setting `recall.on`."""
    if on == "all":
        return True
    if on == "probes":
        return not turn.remember
    return on == "customer" and turn.speaker.role == "customer"


def recall(
    turn: Affect,
    query_vector: Floats,
    index: PersonIndex,
    *,
    task: TaskView,
    settings: RecallSettings,
    now: datetime | None = None,
    context_queries: Sequence[tuple[str, Floats]] = (),
    passage_vector: Floats | None = None,
) -> Recall:
    """The cues of a turn. `query_vector` and those of `context_queries` (oldest first) are unit vectors of the encoder.

    `passage_vector` is the turn as the index would store it: a remark, which asks nothing, is also compared as like with like.

    Ages are counted back from `now`, by default the turn's own time: a replay brings to mind what the live run did.
    """
    weights = settings.weights
    allowed = allowed_slots(index, turn)
    if not allowed.any() or settings.max_cues < 1:
        return Recall(cues=[], abstained=True)
    query = make_query(turn, query_vector, read_needs(turn), task, context_queries, weights, passage_vector)
    evidence = gather(index, query, allowed, weights)
    slots = _candidates(evidence, settings.max_cues)
    if not len(slots) or evidence.own[slots].max() < weights.abstain.silence(int(allowed.sum())):
        return Recall(cues=[], abstained=True)
    slots = slots[evidence.total[slots] >= weights.abstain.weak]
    matrix, used = _terms(index, turn, evidence, slots, hours(now or turn.ts), query, weights)
    strength = cue_score.strength if settings.network is None else settings.network.strength
    scores = np.round(strength(matrix, used), 6)
    order = np.lexsort((slots, -scores))
    cues = _choose(index, turn, query, evidence, slots[order], matrix[order], scores[order], used, settings.max_cues)
    marker = cue_score.debug_marker(cues[0].unit_id, cues[0].score) if cues else ""
    return Recall(cues=cues, abstained=not cues, debug_marker=marker)


def _candidates(evidence: Evidence, max_cues: int) -> npt.NDArray[np.int64]:
    """The union of what each road brings: the best of each, ascending slots, all of them allowed."""
    size = len(evidence.own)
    count = min(max(CANDIDATES, 3 * max_cues), size)
    found = np.zeros(size, dtype=bool)
    for road in (evidence.total, *evidence.roads.values()):
        best = np.argpartition(-np.where(evidence.allowed, road, -np.inf), count - 1)[:count]
        found[best] |= road[best] > 0
    found &= evidence.allowed
    return np.flatnonzero(found)


def _terms(
    index: PersonIndex,
    turn: Affect,
    evidence: Evidence,
    slots: npt.NDArray[np.int64],
    now: float,
    query: Query,
    weights: RecallWeights,
) -> tuple[Floats, Floats]:
    """The terms of the cue score, [len(slots), 6], and the weights for this turn, [6]."""
    rows = index.columns[slots]
    mood = cue_score.emotion_vector(turn.emotion)
    columns = (
        cue_score.relevance(evidence.total[slots].astype(np.float64), weights.relevance),
        cue_score.emotion_match(mood, rows["emotion"]),
        cue_score.time_proximity(now - rows["ts"]),
        rows["severity"],
        cue_score.resolution_gap(rows["pending"], now - rows["resolved"]),
        rows["commitment"],
    )
    matrix = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    return matrix, cue_score.turn_weights(weights.cue, query.needs.pressing, cue_score.emotional(mood))


def _choose(
    index: PersonIndex, turn: Affect, query: Query, evidence: Evidence, slots: npt.NDArray[np.int64], matrix: Floats,
    scores: Floats, used: Floats, max_cues: int,
) -> list[Cue]:  # fmt: skip
    """The best units as cues; a near copy joins the cue before it, an older one of a full subject is left out."""
    cues: list[Cue] = []
    seen: list[frozenset[str]] = []
    newest = _newest(index, slots)
    for place in _by_utterance(index, slots):
        if len(cues) == max_cues:
            break
        slot, row, score = int(slots[place]), matrix[place], float(scores[place])
        unit = index.unit(slot)
        if unit.slot_key and slot not in newest[unit.slot_key]:
            continue
        words = frozenset(terms(unit.summary))
        twin = next((i for i, other in enumerate(seen) if _same(words, other)), None)
        if twin is not None:
            cues[twin].source_event_ids.extend(e for e in unit.source_event_ids if e not in cues[twin].source_event_ids)
            continue
        values = dict(zip(TERMS, (round(v, 4) for v in row.tolist()), strict=True))
        shares = dict(zip(TERMS, (round(w, 4) for w in used.tolist()), strict=True))
        roads = {name: float(road[slot]) for name, road in evidence.roads.items()}
        shared = telling([term for term in query.own_terms if term in words], index.words.idf)
        why = explain(turn.lang, values, shares, roads, shared, unit.status)
        validity = CueValidity(status="unverified" if unit.transient else "valid", checked_at=unit.last_verified)
        seen.append(words)
        cues.append(
            Cue(
                unit_id=unit.unit_id, source_event_ids=list(unit.source_event_ids), text=unit.summary, score=round(score, 4),
                terms=values, weights=shares, why=why, validity=validity,
            )
        )  # fmt: skip
    cues.sort(key=lambda cue: -cue.score)
    return cues


def _by_utterance(index: PersonIndex, slots: npt.NDArray[np.int64]) -> list[int]:
    """The places of the ranked slots, each utterance's strongest unit first, then what else those utterances said."""
    first: list[int] = []
    further: list[int] = []
    heard: set[str] = set()
    for place, slot in enumerate(slots.tolist()):
        events = index.unit(slot).source_event_ids
        (further if heard.issuperset(events) else first).append(place)
        heard.update(events)
    return first + further


def _newest(index: PersonIndex, slots: npt.NDArray[np.int64]) -> dict[str, set[int]]:
    """The newest units of each subject and attribute among the candidates."""
    by_key: dict[str, list[int]] = {}
    for slot in slots.tolist():
        key = index.unit(slot).slot_key
        if key:
            by_key.setdefault(key, []).append(slot)
    times = index.columns["ts"]
    return {key: set(sorted(found, key=lambda s: (-times[s], -s))[:NEWEST]) for key, found in by_key.items()}


def _same(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two units say the same: nearly the same terms, and exactly the same numbers and identifiers."""
    if not a or not b or len(a & b) < COPY * len(a | b):
        return False
    return not any(any(ch.isdigit() for ch in term) for term in a ^ b)
