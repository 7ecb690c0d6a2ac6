"""Filter 2 as a stage: intent, load and emotion from the one encoder pass -> affect/1 (A1-A6)."""

from __future__ import annotations

from collections.abc import Sequence

from models.affect import AffectModel
from models.context import Turn
from models.encoder import Encoded
from models.records import Affect, Resolved


def read(resolved: Resolved, encoded: Encoded, context: Sequence[Turn], model: AffectModel) -> Affect:
    """The resolved utterance with what it is meant to do and how it is said. `encoded` is of its resolved text."""
    found = model.read(encoded, lang=resolved.lang, speaker=resolved.speaker, context=context, pauses=resolved.pauses)
    fields = {name: getattr(resolved, name) for name in resolved.__struct_fields__ if name != "schema"}
    return Affect(
        **fields,
        intent=found.intent,
        load=found.load,
        emotion=found.emotion,
        commitment_strength=found.commitment_strength,
        confidence=found.confidence,
        recurring=found.recurring,
    )
