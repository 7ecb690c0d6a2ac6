"""A turn as a search of memory: its words and vector, those of the turns before it, and what it and its task name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from models.cues.cue_score import CosineNorm, Floats, RecallWeights
from models.cues.terms import terms
from models.cues.turn_needs import TurnNeeds
from models.records import Affect, TaskView


class Query(Struct, frozen=True):
    """A turn as a search: its terms and vector, those of the turns before it, what it and its task name."""

    terms: dict[str, float]
    own_terms: tuple[str, ...]
    vector: Floats
    context: tuple[Floats, ...]
    entities: tuple[str, ...]
    needs: TurnNeeds
    norm: CosineNorm
    event: str
    remark: bool = False


def make_query(
    turn: Affect,
    vector: Floats,
    needs: TurnNeeds,
    task: TaskView,
    context: Sequence[tuple[str, Floats]],
    weights: RecallWeights,
    passage: Floats | None = None,
) -> Query:
    """The search of a turn. Words of earlier turns count `context_words` of one of its own.

    With `passage`, the turn as the index would store it, a remark is searched partly as a unit among units.
    """
    remark = passage is not None and not needs.asking
    if passage is not None and remark:
        vector = remark_vector(vector, passage, weights)
    own = tuple(dict.fromkeys(terms(turn.resolved_text)))
    weighted = dict.fromkeys(own, 1.0)
    for text, _ in context:
        for term in terms(text):
            weighted.setdefault(term, weights.relevance.context_words)
    named = [entity.id for entity in turn.entities]
    if task.continues in ("deepen", "return"):
        named.extend(task.critical_entities.values())
    return Query(
        weighted,
        own,
        vector,
        tuple(v for _, v in context),
        tuple(dict.fromkeys(named)),
        needs,
        weights.cosine.of(turn.lang),
        turn.event_id or "",
        remark,
    )


def remark_vector(query: Floats, passage: Floats, weights: RecallWeights) -> Floats:
    """The search vector of a remark, float32[H], unit: between a question about it and the remark itself."""
    mixed = query + weights.relevance.remark_passage * passage
    length = float(np.linalg.norm(mixed))
    return (mixed / length).astype(np.float32) if length > 0 else query
