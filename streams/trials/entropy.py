"""`cuestream try entropy`: the clauses of a text with entropy and type, and the memory units they make."""

from __future__ import annotations

from typing import Any

from models.encoder import Encoder
from models.entropy import Lexicons, segment
from models.records import Pause
from streams.settings import Settings
from streams.trials import Case, Trial, own_models, run_lines


def build(settings: Settings | None = None) -> Trial:
    """The trial, with the shipped encoder and lists or those of the settings."""
    own = own_models(settings)
    encoder = own.encoder if own else Encoder.load()
    lexicons = own.segments.value if own else Lexicons.load(encoder=encoder.name)

    def trial(case: Case) -> dict[str, Any]:
        text = case["text"]
        pauses = [Pause(at=int(p["at"]), ms=int(p["ms"])) for p in case.get("pauses") or []]
        encoded = encoder.encode([text])[0] if text.strip() else None
        found = segment(text, encoded, lang=case.get("lang"), pauses=pauses, lexicons=lexicons)
        return {
            "segments": [
                {"start": c.start, "end": c.end, "entropy": c.entropy, "type": c.type, "priority_flag": c.priority_flag}
                for unit in found
                for c in unit.clauses
            ],
            "units": [
                {
                    "start": unit.start,
                    "end": unit.end,
                    "content": text[unit.start : unit.end],
                    "entropy": unit.entropy,
                    "type": unit.type,
                    "priority_flag": unit.priority_flag,
                    "small_talk": unit.small_talk,
                }
                for unit in found
            ],
        }

    return trial


if __name__ == "__main__":
    run_lines(build)
