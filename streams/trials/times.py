"""`cuestream try times`: the time expressions of a text and what they mean."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from models.context import turns_from_context
from models.times import find_times
from streams.settings import Settings
from streams.trials import Case, Trial, run_lines


def moment(now: Any) -> datetime:
    """When a case was said. Raises ValueError for what is no RFC 3339 time with an offset."""
    if now is None:
        return datetime.now().astimezone().replace(microsecond=0)
    found = datetime.fromisoformat(now) if isinstance(now, str) else None
    if found is None or found.tzinfo is None:
        raise ValueError("`now` must be an RFC 3339 time with an offset")
    return found


def build(settings: Settings | None = None) -> Trial:
    """The trial; nothing to load but word lists. A case without `now` is read as said at present: `relative_base` shows it."""

    def trial(case: Case) -> dict[str, Any]:
        now = moment(case.get("now"))
        context = turns_from_context(case.get("context") or [])
        times = find_times(case["text"], now, case.get("lang"), context)
        return {"times": [msgspec.to_builtins(found) for found in times]}

    return trial


if __name__ == "__main__":
    run_lines(build)
