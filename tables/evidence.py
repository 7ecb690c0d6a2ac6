"""The roads on which a unit can come to mind, and the evidence that each brings (R2).

Every road gives float32[n] over the slots of one person's index. Only what the turn may see is looked at: permission is a
mask that is laid before anything is scored.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from models.cues.cue_score import CosineNorm, Floats, RecallWeights
from models.cues.terms import is_identifier
from models.cues.turn_needs import TurnNeeds
from models.records import Affect
from tables.periods import hours
from tables.person_index import KINDS, LASTING, PersonIndex
from tables.query import Query

Mask = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.int64]

SEEDS = 96
"""Units with the most evidence of their own, from which it spreads to their neighbours in the conversation."""

REACH = 8
"""Slots looked at to each side for neighbours; an utterance may have several units."""

NEIGHBOUR = np.array([1.0, 0.8])
"""What the evidence of a unit one or two turns away counts."""

HUB = 64
"""An entity of more units than this connects everything with everything: nothing spreads over it."""

MASS = 10.0
"""Added to a turn's idf mass, so that one shared word of a very short turn is no certainty."""

UNKNOWN = 0.3
"""What the meaning of a turn counts when it has no known word."""

UNLIKE = -1.5
"""The least that meaning can say: an identifier in common is not outvoted by vectors."""

SLACK = 1 / 6
"""Hours by which a unit may be later than the turn: clocks of two devices differ."""

ROADS = (
    "meaning",
    "words",
    "names",
    "entities",
    "activation",
    "dates",
    "cycles",
    "promises",
    "complaints",
    "discourse",
)


class Evidence(Struct, frozen=True):
    """`roads` maps a road to its weighted evidence, float32[n]; `own` is their sum without discourse, `total` with it."""

    roads: dict[str, Floats]
    own: Floats
    total: Floats
    allowed: Mask


def allowed_slots(index: PersonIndex, turn: Affect) -> Mask:
    """What this turn may see at all: current, within its channel's clearance, said before it, not expired, not itself."""
    rows = index.columns[: index.size]
    now = hours(turn.ts)
    mask = rows["live"] & (rows["clearance"] <= turn.clearance) & (rows["ts"] <= now + SLACK) & (rows["expires"] > now)
    for slot in index.slots_of_event(turn.event_id or ""):
        mask[slot] = False
    return mask


def gather(index: PersonIndex, query: Query, allowed: Mask, weights: RecallWeights) -> Evidence:
    """The evidence of all roads for every allowed slot; 0 for the others."""
    w = weights.relevance
    size = index.size
    roads: dict[str, Floats] = {
        "meaning": w.meaning * _meaning(index, query, allowed, weights),
        "words": w.words
        * (1.0 if query.needs.asking or query.context else w.remark_words)
        * _words(index, query, weights),
        "names": w.names * _names(index, query),
        "dates": w.dates * _dates(index, query.needs),
        "cycles": w.cycles * _cycles(index, query.needs),
    }
    direct, spread = _entities(index, query, allowed)
    roads["entities"], roads["activation"] = w.entities * direct, w.activation * spread
    rows = index.columns[:size]
    roads["promises"] = w.promises * (rows["promise"] * rows["commitment"] if query.needs.promise else np.zeros(size))
    troubled = rows["complaint"] if query.needs.trouble else np.zeros(size)
    roads["complaints"] = w.complaints * troubled * (0.5 + 0.5 * rows["pending"])
    roads["kinds"], roads["answers"] = w.kinds * _kinds(rows, query.needs), w.answers * _answers(rows, query.needs)
    own = np.where(allowed, sum(roads.values()), -np.inf)
    share = w.discourse * (1.0 if query.needs.asking else w.remark_discourse)
    around = _discourse(index, own, np.array([w.utterance, *(share * NEIGHBOUR), 0.0]))
    discourse = np.where(allowed, around, 0.0)
    roads["discourse"] = discourse
    return Evidence(roads, own, own + discourse, allowed)


def _words(index: PersonIndex, query: Query, weights: RecallWeights) -> Floats:
    """BM25 against the root of the turn's own idf mass: a long turn is not surer of every unit than a short one."""
    own = index.slots_of_event(query.event)
    mass = index.words.ceiling(dict.fromkeys(query.own_terms, 1.0), own) + MASS
    return index.words.scores(query.terms, index.size, own) / (weights.relevance.word_scale * math.sqrt(mass))


def _meaning(index: PersonIndex, query: Query, allowed: Mask, weights: RecallWeights) -> Floats:
    """Cosines standardised by this memory's own spread, into which the encoder's usual one is mixed.

    A turn of which neither this memory nor ordinary conversation knows a word says nothing that a vector could mean.
    """
    said = index.slots_of_event(query.event)
    known = not query.own_terms or any(index.words.knows(term, said) for term in query.own_terms)
    trust = 1.0 if known else UNKNOWN
    total = trust * _standard(index.vectors.similarities(query.vector, index.size), allowed, query.norm, query.remark)
    if query.context:
        share = weights.relevance.context_meaning
        mean = np.mean(np.stack(query.context), axis=0)
        length = float(np.linalg.norm(mean))
        if length > 0:
            cosines = index.vectors.similarities((mean / length).astype(np.float32), index.size)
            total = (total + share * _standard(cosines, allowed, query.norm, False)) / math.sqrt(1.0 + share**2)
    return total


def _standard(cosines: Floats, allowed: Mask, norm: CosineNorm, remark: bool) -> Floats:
    usual = norm.remark_mean if remark else norm.mean
    deviation = norm.remark_deviation if remark else norm.deviation
    seen = cosines[allowed].astype(np.float64)
    mean = (norm.prior * usual + seen.sum()) / (norm.prior + len(seen))
    spread = (norm.prior * deviation**2 + ((seen - mean) ** 2).sum()) / (norm.prior + len(seen))
    return np.maximum((cosines - mean) / np.sqrt(spread), UNLIKE).astype(np.float32)


def _names(index: PersonIndex, query: Query) -> Floats:
    """1 for units whose speaker the turn names."""
    own = set(query.own_terms)
    named = [number for number, words in index.speakers.values() if own.intersection(words)]
    return np.isin(index.columns["speaker"][: index.size], named).astype(np.float32)


def _entities(index: PersonIndex, query: Query, allowed: Mask) -> tuple[Floats, Floats]:
    """Units that share an entity with the turn, and those one shared entity further on; rarer entities tell more."""
    direct = np.zeros(index.size, dtype=np.float32)
    spread = np.zeros(index.size, dtype=np.float32)
    seeds: dict[str, None] = dict.fromkeys(e for e in query.entities if e in index.entities)
    for term in query.own_terms:
        if is_identifier(term) and term in index.entities:
            seeds[term] = None
    reached: dict[str, float] = {}
    for entity in seeds:
        slots = _slots(index, entity, allowed)
        tells = _specific(len(slots))
        direct[slots] = np.maximum(direct[slots], tells)
        if len(slots) <= HUB:
            for slot in slots:
                for other in index.unit(int(slot)).entities:
                    if other not in seeds:
                        reached[other] = max(reached.get(other, 0.0), tells)
    for entity, force in reached.items():
        slots = _slots(index, entity, allowed)
        if len(slots) <= HUB:
            spread[slots] = np.maximum(spread[slots], force * _specific(len(slots)))
    return direct, np.where(direct > 0, 0.0, spread)


def _slots(index: PersonIndex, entity: str, allowed: Mask) -> Slots:
    slots = np.fromiter(index.entities.get(entity, ()), dtype=np.int64)
    slots = slots[slots < len(allowed)]
    return np.sort(slots[allowed[slots]])


def _specific(count: int) -> float:
    """1 for an entity of one or two units, less for one of many."""
    return 1.0 / np.log2(2.0 + max(0, count - 2)) if count else 0.0


def _dates(index: PersonIndex, needs: TurnNeeds) -> Floats:
    """1 for units said in a window that the turn names, or about it; falling off over the window's own scale."""
    out = np.zeros(index.size, dtype=np.float64)
    if not needs.windows:
        return out.astype(np.float32)
    said = index.columns["ts"][: index.size]
    periods: npt.NDArray[Any] = index.periods.rows()
    for window in needs.windows:
        scale = 36.0 if window.sharp == 1.0 else 96.0
        gap = np.maximum(np.maximum(window.start - said, said - window.end), 0.0)
        np.maximum(out, window.sharp * np.exp(-gap / scale), out=out)
        if len(periods):
            gap = np.maximum(np.maximum(window.start - periods["end"], periods["start"] - window.end), 0.0)
            np.maximum.at(out, periods["slot"], window.sharp * np.exp(-gap / scale))
    return out.astype(np.float32)


def _cycles(index: PersonIndex, needs: TurnNeeds) -> Floats:
    """1 for units that repeat in a cycle which the turn names."""
    out = np.zeros(index.size, dtype=np.float32)
    for pattern, slots in index.cycles.items() if needs.cycles else ():
        if any(pattern == named or pattern.startswith(f"{named}_") for named in needs.cycles):
            out[list(slots)] = 1.0
    return out


def _kinds(rows: npt.NDArray[Any], needs: TurnNeeds) -> Floats:
    """1 for units of a kind that the turn calls for."""
    wanted = [KINDS[name] for name in needs.kinds if name in KINDS]
    found = np.isin(rows["kind"], wanted)
    if "lasting" in needs.kinds:
        found |= np.isin(rows["kind"], [KINDS[name] for name in LASTING])
    return found.astype(np.float32)


def _answers(rows: npt.NDArray[Any], needs: TurnNeeds) -> Floats:
    """1 for units that hold the kind of answer which the question wants."""
    out = np.zeros(len(rows), dtype=np.float32)
    for name in needs.answers:
        np.maximum(out, rows[name], out=out)
    return out


def _discourse(index: PersonIndex, own: Floats, shares: Floats) -> Floats:
    """Evidence from the strongest neighbour of the same conversation, at most about an hour away.

    `shares` is what counts of the evidence of a unit of the same utterance, and of one 1, 2 … turns away; the last is 0.
    """
    size = len(own)
    out = np.zeros(size, dtype=np.float64)
    count = min(SEEDS, size)
    seeds = np.sort(np.argpartition(-own, count - 1)[:count]) if size else np.zeros(0, dtype=np.int64)
    seeds = seeds[own[seeds] > 0]
    rows = index.columns
    for step in [s for d in range(1, REACH + 1) for s in (d, -d)]:
        near = seeds + step
        inside = (near >= 0) & (near < size)
        seed, near = seeds[inside], near[inside]
        turns = np.abs(rows["turn"][near] - rows["turn"][seed])
        share = shares[np.minimum(turns, len(shares) - 1)]
        share = np.where(rows["session"][near] == rows["session"][seed], share, 0.0)
        share = share * np.exp(-np.abs(rows["ts"][near] - rows["ts"][seed]))
        np.maximum.at(out, near, share * own[seed])
    return out.astype(np.float32)
