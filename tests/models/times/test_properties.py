"""What holds for any text: spans, zones, speed on bad input, clocks that leap."""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.times import find_times
from models.times.calendars import easter, hebrew_date, lunar_date, lunar_year_end, orthodox_easter, solar_term
from models.times.holidays import holiday_rules, holiday_span
from models.times.numbers import chinese_number, english_number, english_ordinal, full_year

NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
PIECES = st.sampled_from(
    [
        "明天", "周三", "下周", "三点", "半", "到", "前", "后", "的", "每", "12", ":", "30", "月", "日", "5", "年", "农历", "初一", "改到", "推迟",
        "一小时", "，", " ", "next ", "Friday ", "at ", "half past ", "to ", "Mar ", "3rd ", "every ", "🙂", "é", "(", "2月30日", "最后一天",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40))
def test_spans_lie_in_the_text_and_values_in_the_zone(text: str) -> None:
    last = 0
    for found in find_times(text, NOW):
        assert last <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.original_form
        last = found.end
        for value in (found.normalized_time, found.end_time):
            assert value is None or datetime.fromisoformat(value).utcoffset() == timedelta(hours=8)
        if found.normalized_time and found.end_time:
            assert found.normalized_time < found.end_time or int(found.end_time[:4]) > 9000


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_same_input_same_output(text: str) -> None:
    assert find_times(text, NOW) == find_times(text, NOW)


@pytest.mark.parametrize("sign", ["9", "的", "(", " ", "a", "一", "-", "("])
def test_ten_thousand_of_one_character(sign: str) -> None:
    find_times("明天 tomorrow", NOW)
    began = time.process_time()
    find_times(sign * 10_000, NOW)
    assert time.process_time() - began < 0.1


@pytest.mark.parametrize(
    "text", ["1:" * 5000, "3点" * 5000, "at " * 4000, "三天" * 5000, "1 " * 5000, "每" * 10_000, "周" * 10_000]
)
def test_worse_input_is_linear(text: str) -> None:
    began = time.process_time()
    find_times(text, NOW)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("said", ["路1号", "下下", "monday ", "5pm to ", "三点到", "三点 monday ", "every monday "])
def test_twice_the_text_takes_twice_the_time(said: str) -> None:
    def cost(length: int) -> float:
        best = 9.0
        for _ in range(2):
            began = time.process_time()
            find_times((said * length)[:length], NOW)
            best = min(best, time.process_time() - began)
        return best

    cost(500)
    assert cost(16_000) < 8 * cost(4_000) + 0.05


def test_a_megabyte() -> None:
    began = time.process_time()
    find_times("明天下午三点开会。" * 120_000, NOW)
    assert time.process_time() - began < 5


def test_now_must_have_a_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        find_times("明天", datetime(2026, 3, 2))  # noqa: DTZ001


def test_daylight_saving() -> None:
    new_york = ZoneInfo("America/New_York")
    saturday = datetime(2026, 3, 7, 12, tzinfo=new_york)
    assert find_times("tomorrow at 9am", saturday)[0].normalized_time == "2026-03-08T09:00:00-04:00"
    assert find_times("tomorrow at 2:30am", saturday)[0].normalized_time == "2026-03-08T03:30:00-04:00"
    assert find_times("in 24 hours", saturday)[0].normalized_time == "2026-03-08T13:00:00-04:00"


def test_year_ends_and_leap_days() -> None:
    eve = datetime.fromisoformat("2027-12-31T22:00:00+08:00")
    assert (find_times("明天早上八点", eve)[0].normalized_time or "")[:16] == "2028-01-01T08:00"
    assert (find_times("1月3号", eve)[0].normalized_time or "")[:10] == "2028-01-03"
    leap = datetime.fromisoformat("2028-02-28T09:00:00-05:00")
    assert (find_times("the day after tomorrow at 9:30", leap)[0].normalized_time or "")[:16] == "2028-03-01T09:30"
    assert (find_times("一年后", datetime.fromisoformat("2028-02-29T09:00:00+08:00"))[0].normalized_time or "")[
        :10
    ] == "2029-02-28"


def test_calendars() -> None:
    assert lunar_date(2026, 1, 1) == date(2026, 2, 17)
    assert lunar_date(2025, 6, 1, leap=True) == date(2025, 7, 25)
    assert lunar_date(2026, 1, 31) is None
    assert lunar_year_end(2025) == date(2026, 2, 16)
    assert (easter(2026), orthodox_easter(2026)) == (date(2026, 4, 5), date(2026, 4, 12))
    assert solar_term(2026, "冬至") == date(2026, 12, 22)
    assert hebrew_date(5787, 7, 1) == date(2026, 9, 11)


def test_every_holiday_rule_can_be_placed() -> None:
    for key in holiday_rules():
        assert any(holiday_span(key, year) for year in range(2024, 2029)), key


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("二十五", 25),
        ("廿三", 23),
        ("二零二六", 2026),
        ("一百零五", 105),
        ("两百", 200),
        ("十", 10),
        ("12", 12),
        ("十十x", None),
    ],
)
def test_chinese_numbers(said: str, value: int | None) -> None:
    assert chinese_number(said) == value


def test_english_numbers() -> None:
    assert [english_number(w) for w in ("twenty-five", "nineteen ninety six", "two thousand and fifteen", "a", "lot")] == [
        25, 1996, 2015, 1, None,
    ]  # fmt: skip
    assert [english_ordinal(w) for w in ("first", "21st", "twenty second", "nope")] == [1, 21, 22, None]
    assert [full_year(y, 2026) for y in (8, 46, 47, 90, 1999)] == [2008, 2046, 1947, 1990, 1999]
