"""What a past tense dates, and what it does not."""

from datetime import datetime

import pytest

from models.times import find_times


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("仓库停工耽误了，我们保证周六上午送到。", ["2026-03-07"]),
        ("周三我已经提交了，周五前给你答复", ["2026-03-04", "2026-03-06"]),
        ("两把坏了，周一派人来修", ["2026-03-09"]),
        ("周六他来过了", ["2026-02-28"]),
    ],
)
def test_what_was_said_before_a_comma_does_not_date_what_follows(text: str, days: list[str]) -> None:
    now = datetime.fromisoformat("2026-03-05T10:35:00+08:00")
    assert [(found.normalized_time or "")[:10] for found in find_times(text, now)] == days
