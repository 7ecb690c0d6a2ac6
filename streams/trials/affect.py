"""`cuestream try affect`: filter 2 alone, on one case with its context."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from models.affect import AffectModel
from models.context import turns_from_context
from models.encoder import Encoder
from models.records import Role, Speaker
from streams.settings import Settings
from streams.trials import Case, Trial, own_models, run_lines


def build(settings: Settings | None = None) -> Trial:
    """Loads encoder and heads once; the function answers a case with the fields of affect/1."""
    own = own_models(settings)
    encoder = own.encoder if own else Encoder.load()
    model = own.affect if own else AffectModel.load(encoder=encoder)

    def trial(case: Case) -> dict[str, Any]:
        named = str(case.get("speaker_role") or "customer")
        role: Role = named if named in get_args(Role) else "customer"  # type: ignore[assignment]
        speaker = Speaker(id=named, role=role, title=case.get("title"))
        found = model.read(
            encoder.encode([case["text"]])[0],
            lang=case.get("lang"),
            speaker=speaker,
            context=turns_from_context(case.get("context") or []),
        )
        fields = msgspec.to_builtins(found)
        del fields["raw_load"]
        return fields

    return trial


if __name__ == "__main__":
    run_lines(build)
