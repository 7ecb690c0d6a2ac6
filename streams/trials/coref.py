"""`cuestream try coref`: filter 1 on one case."""

from __future__ import annotations

from typing import Any

import msgspec

from models.context import turns_from_context
from models.coreference import CoreferenceModel
from models.entities.finder import find_entities
from models.records import Speaker
from streams.settings import Settings
from streams.trials import Case, Trial, own_models, run_lines

_ROLES = ("customer", "agent", "third_party", "tool", "system")


def build(settings: Settings | None = None) -> Trial:
    """Loads the model once; the answer of a case: ``resolved_text``, ``mentions`` and ``entities``."""
    own = own_models(settings)
    model = own.coreference if own else CoreferenceModel.load()
    gazetteer = own.gazetteer.value if own else None

    def answer(case: Case) -> dict[str, Any]:
        text, lang = case["text"], case.get("lang")
        context = [
            msgspec.structs.replace(turn, entities=find_entities(turn.text, lang, gazetteer))
            for turn in turns_from_context(case.get("context") or ())
        ]
        role = case.get("speaker_role")
        speaker = Speaker(role=role if role in _ROLES else "customer")
        entities = find_entities(text, lang, gazetteer)
        found = model.resolve(text, lang=lang, speaker=speaker, context=context, entities=entities)
        return {
            "resolved_text": found.resolved_text,
            "mentions": msgspec.to_builtins(found.mentions),
            "entities": msgspec.to_builtins(entities),
        }

    return answer


if __name__ == "__main__":
    run_lines(build)
