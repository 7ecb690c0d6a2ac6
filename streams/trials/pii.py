"""`cuestream try pii`: the personal data of a text, and the text with all of it masked."""

from __future__ import annotations

from typing import Any

from models.privacy import find_personal_data, mask
from streams.settings import Settings
from streams.trials import Case, Trial, run_lines


def build(settings: Settings | None = None) -> Trial:
    """The trial; word lists and the name taggers are loaded on first use."""

    def trial(case: Case) -> dict[str, Any]:
        text = case["text"]
        found = find_personal_data(text, case.get("lang"))
        items = [{"start": item.start, "end": item.end, "type": item.type, "text": item.text} for item in found]
        return {"pii": items, "masked": mask(text, found)}

    return trial


if __name__ == "__main__":
    run_lines(build)
