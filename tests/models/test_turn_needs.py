"""What a turn asks memory for."""

from datetime import datetime

import pytest

from models.cues.turn_needs import cycles_named, read_needs, windows
from models.records import TimeExpression
from tests.tables.people import turn

NOW = datetime.fromisoformat("2026-03-20T10:00:00+08:00")


@pytest.mark.parametrize(
    "text",
    [
        "上次你们答应给我换新的，怎么没动静？",
        "不是说好周三送到吗",
        "你说过会退钱的",
        "You promised a refund.",
        "What about what you told me?",
        "You said you'd call me back.",
    ],
)
def test_asks_after_a_promise(text: str) -> None:
    assert read_needs(turn(text)).promise


@pytest.mark.parametrize(
    "text", ["今天天气不错", "帮我写一句生日祝福", "How do I take my coffee?", "Nice website you have."]
)
def test_plain_turns_ask_after_nothing(text: str) -> None:
    needs = read_needs(turn(text))
    assert not needs.promise and not needs.trouble and needs.pressing == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "这次又遇到同样的问题",
        "怎么还没修好",
        "It broke again.",
        "It is still not working.",
        "The same problem as before.",
    ],
)
def test_trouble_that_came_back(text: str) -> None:
    assert read_needs(turn(text)).trouble


def test_a_day_without_year_is_also_looked_for_in_the_past() -> None:
    day = TimeExpression(
        original_form="March 22", start=0, end=8, normalized_time="2026-03-22T00:00:00+08:00", grain="day"
    )
    years = sorted(datetime.fromtimestamp(w.start * 3600, NOW.tzinfo).year for w in windows([day], NOW))
    assert years == [2025, 2026]


def test_a_clock_time_is_no_dated_window() -> None:
    clock = TimeExpression(
        original_form="三点", start=0, end=2, normalized_time="2026-03-20T15:00:00+08:00", grain="hour"
    )
    assert windows([clock], NOW) == []


def test_rituals_by_name_and_by_today() -> None:
    assert "every_friday" in cycles_named("又到周五了", NOW)
    assert "every_month_end" in cycles_named("Month-end is close", NOW)
    assert "every_friday" in cycles_named("今晚有什么安排", NOW)
    assert cycles_named("报销单怎么填", NOW) == ()
