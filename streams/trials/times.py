"""`cuestream try times`: the time expressions of a text and what they mean."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from models.context import turns_from_context
from models.times import find_times
from streams.trials import Case, Trial, run_lines


def build() -> Trial:
    """The trial; nothing to load but word lists. A case without `now` is answered with an error."""

    def trial(case: Case) -> dict[str, Any]:
        if not isinstance(case.get("now"), str):
            raise ValueError("`now` must be an RFC 3339 time")
        now = datetime.fromisoformat(case["now"])
        context = turns_from_context(case.get("context") or [])
        times = find_times(case["text"], now, case.get("lang"), context)
        return {"times": [msgspec.to_builtins(found) for found in times]}

    return trial


if __name__ == "__main__":
    run_lines(build)
