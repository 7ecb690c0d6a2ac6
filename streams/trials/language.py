"""`cuestream try language`: the language of a text and its mix."""

from __future__ import annotations

from typing import Any

from models.language import detect
from streams.settings import Settings
from streams.trials import Case, Trial, run_lines


def build(settings: Settings | None = None) -> Trial:
    """The trial; nothing to load but a word list."""

    def trial(case: Case) -> dict[str, Any]:
        language = detect(case["text"])
        return {"lang": language.lang, "language_mix": language.mix}

    return trial


if __name__ == "__main__":
    run_lines(build)
