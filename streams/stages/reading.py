"""Filter 1 as a stage: entities, times, references -> resolved/1 and what a person should review (C1-C6, I4).

It reads and writes only the session's discourse. It runs before filter 2, because intent needs to know who "they" are.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from models.context import CONTEXT_TURNS, Turn, turns_from_context
from models.coreference import CoreferenceModel
from models.entities import Gazetteer, find_entities
from models.records import Resolved, Review, Utterance
from models.times import find_times
from tables.person import SessionState

_NAMESPACE = uuid.UUID("6f6b2f0e-7a0c-5b7e-9d38-6a1f5c1b7a10")


def context_of(session: SessionState, utterance: Utterance) -> list[Turn]:
    """The earlier turns the filters may look at: the session's own, then those sent along in ``meta.context``."""
    sent = utterance.meta.get("context")
    extra = turns_from_context(sent) if isinstance(sent, list) else []
    return [*session.turns, *extra][-CONTEXT_TURNS:]


def read(
    utterance: Utterance, context: Sequence[Turn], coreference: CoreferenceModel, gazetteer: Gazetteer
) -> Resolved:
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
    return Resolved(
        **fields,
        resolved_text=resolution.resolved_text,
        mentions=resolution.mentions,
        entities=entities,
        times=times,
    )


def turn_of(resolved: Resolved, intent: str | None) -> Turn:
    """The turn as later turns will see it: its resolved words, so that a chain of references keeps its head."""
    return Turn(
        event_id=resolved.event_id or "",
        speaker_id=resolved.speaker.id,
        speaker_name=resolved.speaker.name,
        role=resolved.speaker.role,
        text=resolved.resolved_text,
        ts=resolved.ts,
        entities=resolved.entities,
        times=resolved.times,
        intent=intent,
    )


def reviews_of(resolved: Resolved) -> list[Review]:
    """One review record for each mention that a person should confirm (C3)."""
    return [
        Review(
            review_id=str(uuid.uuid5(_NAMESPACE, f"{resolved.tenant}\0{resolved.event_id}\0{m.start}\0{m.end}")),
            tenant=resolved.tenant,
            user_id=resolved.user_id,
            event_id=resolved.event_id or "",
            kind="reference",
            mention=m,
            text=resolved.text,
            ts=resolved.ts,
        )
        for m in resolved.mentions
        if m.needs_human_review
    ]
