"""`cuestream try coref`: filter 1 on one case."""

from __future__ import annotations

from typing import Any

import msgspec

from models.context import turns_from_context
from models.coreference import CoreferenceModel
from models.records import Speaker
from streams.trials import Case, Trial, run_lines


def build() -> Trial:
    """Loads the model once; the answer of a case: ``resolved_text`` and ``mentions``."""
    model = CoreferenceModel.load()

    def answer(case: Case) -> dict[str, Any]:
        context = turns_from_context(case.get("context") or ())
        role = case.get("speaker_role") or "customer"
        speaker = Speaker(role=role if role in ("customer", "agent", "third_party", "tool", "system") else "customer")
        found = model.resolve(case["text"], lang=case.get("lang"), speaker=speaker, context=context)
        return {"resolved_text": found.resolved_text, "mentions": msgspec.to_builtins(found.mentions)}

    return answer


if __name__ == "__main__":
    run_lines(build)
