"""Filter 1 as a stage: entities, times, references -> resolved/1 and what a person should review (C1-C6, I4).

It reads and writes only the session's discourse. It runs before filter 2, because intent needs to know who "they" are.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from msgspec import Struct

from models.context import CONTEXT_TURNS, Turn, turns_from_context
from models.coreference import CoreferenceModel
from models.entities.finder import Gazetteer, find_entities
from models.records import Entity, Resolved, Review, Utterance
from models.times import find_times
from tables.sessions import SessionState

_NAMESPACE = uuid.UUID("6f6b2f0e-7a0c-5b7e-9d38-6a1f5c1b7a10")
Edits = Sequence[tuple[int, int, int, int]]


class Reading(Struct):
    """The resolved record, where it was edited, and the entities of its resolved words (with spans into those)."""

    record: Resolved
    edits: list[tuple[int, int, int, int]]
    resolved_entities: list[Entity]

    def in_resolved(self, start: int, end: int) -> tuple[int, int]:
        """The span of the resolved text that a span of the text became; an edit belongs to the span it touches."""
        return moved(start, self.edits, ends=False), moved(end, self.edits, ends=True)


def moved(offset: int, edits: Edits, *, ends: bool) -> int:
    """Where an offset into the text lies in the resolved text; inside an edit, at its nearer border.

    >>> moved(5, [(0, 1, 0, 3)], ends=False)
    7
    """
    shift = 0
    for start, end, resolved_start, resolved_end in edits:
        if offset < start or (offset == start and start < end and not ends):
            break
        if offset < end or (offset == start == end and not ends):
            return resolved_end if ends else resolved_start
        shift = resolved_end - end
    return offset + shift


def context_of(session: SessionState, utterance: Utterance) -> list[Turn]:
    """The earlier turns the filters may look at: the session's own, then those sent along in ``meta.context``."""
    sent = utterance.meta.get("context")
    extra = turns_from_context(sent) if isinstance(sent, list) else []
    return [*session.turns, *extra][-CONTEXT_TURNS:]


def read(utterance: Utterance, context: Sequence[Turn], coreference: CoreferenceModel, gazetteer: Gazetteer) -> Reading:
    """The utterance with its entities, times and resolved references."""
    entities = find_entities(utterance.text, utterance.lang, gazetteer)
    times = find_times(utterance.text, utterance.ts, utterance.lang, context)
    resolution = coreference.resolve(
        utterance.text,
        lang=utterance.lang,
        speaker=utterance.speaker,
        context=context,
        entities=entities,
        event_id=utterance.event_id or "",
    )
    fields = {name: getattr(utterance, name) for name in utterance.__struct_fields__ if name != "schema"}
    record = Resolved(
        **fields,
        resolved_text=resolution.resolved_text,
        mentions=resolution.mentions,
        entities=entities,
        times=times,
    )
    changed = resolution.resolved_text != utterance.text
    resolved = find_entities(resolution.resolved_text, utterance.lang, gazetteer) if changed else entities
    return Reading(record, resolution.edits, resolved)


def turn_of(reading: Reading, intent: str | None) -> Turn:
    """The turn as later turns will see it: its resolved words, so that a chain of references keeps its head."""
    record = reading.record
    return Turn(
        event_id=record.event_id or "",
        speaker_id=record.speaker.id,
        speaker_name=record.speaker.name,
        role=record.speaker.role,
        text=record.resolved_text,
        ts=record.ts,
        entities=reading.resolved_entities,
        times=record.times,
        intent=intent,
    )


def reviews_of(record: Resolved) -> list[Review]:
    """One review record for each mention that a person should confirm (C3)."""
    return [
        Review(
            review_id=str(uuid.uuid5(_NAMESPACE, f"{record.tenant}\0{record.event_id}\0{m.start}\0{m.end}")),
            tenant=record.tenant,
            user_id=record.user_id,
            event_id=record.event_id or "",
            kind="reference",
            mention=m,
            text=record.text,
            ts=record.ts,
        )
        for m in record.mentions
        if m.needs_human_review
    ]
