"""Worked cases, said on Monday 2026-03-02 10:00 in Shanghai: what the words are, and what they mean."""

from __future__ import annotations

from datetime import datetime

import pytest

from models.times import find_times

NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")


def read(text: str) -> list[tuple[str, str | None, str | None]]:
    """(words, start, end) with the zone and empty clock parts cut off."""
    return [(t.original_form, short(t.normalized_time), short(t.end_time)) for t in find_times(text, NOW)]


def short(value: str | None) -> str | None:
    return value[:16].removesuffix("T00:00") if value else None


CHINESE = [
    ("我们明天下午三点开评审会。", "明天下午三点", "2026-03-03T15:00", None),
    ("大后天早上八点一刻出发", "大后天早上八点一刻", "2026-03-05T08:15", None),
    ("上上周五送来的", "上上周五", "2026-02-20", "2026-02-21"),
    ("两周后的周三下午两点半", "两周后的周三下午两点半", "2026-03-18T14:30", None),
    ("二零二六年三月十五号上线", "二零二六年三月十五号", "2026-03-15", "2026-03-16"),
    ("三点二十五见", "三点二十五", "2026-03-02T15:25", None),
    ("差五分八点", "差五分八点", "2026-03-03T07:55", None),
    ("今晚十二点截止", "今晚十二点", "2026-03-03", None),
    ("昨晚11点半打来的", "昨晚11点半", "2026-03-01T23:30", None),
    ("请在本月最后一天之前把报价发给我。", "本月最后一天之前", "2026-03-31", None),
    ("请务必在5月20日前完成", "5月20日前", "2026-05-20", None),
    ("下个月的第二个星期五", "下个月的第二个星期五", "2026-04-10", "2026-04-11"),
    ("六月中旬交付", "六月中旬", "2026-06-11", "2026-06-21"),
    ("上半年的数据", "上半年", "2026-01-01", "2026-07-01"),
    ("这个季度末结账", "这个季度末", "2026-03-31", "2026-04-01"),
    ("下午四点半到六点有会", "下午四点半到六点", "2026-03-02T16:30", "2026-03-02T18:00"),
    ("早上五到六点跑步", "早上五到六点", "2026-03-03T05:00", "2026-03-03T06:00"),
    ("3月5日至8日休假", "3月5日至8日", "2026-03-05", "2026-03-09"),
    ("周一到周五都在", "周一到周五", "2026-03-02", "2026-03-07"),
    ("一个半小时后回电", "一个半小时后", "2026-03-02T11:30", None),
    ("三天前下的单", "三天前", "2026-02-27", "2026-02-28"),
    ("过去三个月的账单", "过去三个月", "2025-12-02T10:00", "2026-03-02T10:00"),
    ("5个工作日内到账", "5个工作日内", "2026-03-02T10:00", "2026-03-09T10:00"),
    ("农历八月十五团圆", "农历八月十五", "2026-09-25", "2026-09-26"),
    ("腊月二十三祭灶", "腊月二十三", "2027-01-30", "2027-01-31"),
    ("元宵节晚上看灯", "元宵节晚上", "2026-03-03T18:00", "2026-03-04"),
    ("明年春节前装修完", "明年春节前", "2027-02-06", None),
    ("清明节放假", "清明节", "2026-04-05", "2026-04-06"),
    ("從下週二開始", "從下週二開始", "2026-03-10", None),
    ("７月１５日的票", "７月１５日", "2026-07-15", "2026-07-16"),
    ("民国三年建的", "民国三年", "1914-01-01", "1915-01-01"),
    ("一年后的今天", "一年后的今天", "2027-03-02", "2027-03-03"),
    ("下一个工作日发货", "下一个工作日", "2026-03-03", "2026-03-04"),
    ("本月最后一个工作日发工资", "本月最后一个工作日", "2026-03-31", "2026-04-01"),
    ("除夕夜十二点放烟花", "除夕夜十二点", "2027-02-06", None),
    ("Q3结束前上线", "Q3结束前", "2026-09-30", None),
    ("Q2末复盘", "Q2末", "2026-06-30", "2026-07-01"),
    ("五月上旬到中旬装修", "五月上旬到中旬", "2026-05-01", "2026-05-21"),
    ("去年十月至今没换过", "去年十月至今", "2025-10-01", None),
    ("纽约时间3月20日上午九点", "纽约时间3月20日上午九点", "2026-03-20T21:00", None),
    ("伦敦时间下午三点", "伦敦时间下午三点", "2026-03-02T23:00", None),
    ("世界时三点", "世界时三点", "2026-03-02T23:00", None),
    ("13月5日见", "13月5日", None, None),
    ("大概四五点吧", "大概四五点", None, None),
]
ENGLISH = [
    ("Wednesday in two weeks", "Wednesday in two weeks", "2026-03-18", "2026-03-19"),
    ("tomorrow at 9am Eastern time", "tomorrow at 9am", "2026-03-03T22:00", None),
    ("March 20 9am New York time", "March 20 9am", "2026-03-20T21:00", None),
    ("send it by end of day Friday", "by end of day Friday", "2026-03-06", None),
    ("end of day tomorrow", "tomorrow", "2026-03-03", "2026-03-04"),
    ("the next business day", "the next business day", "2026-03-03", "2026-03-04"),
    ("the first business day of next month", "the first business day of next month", "2026-04-01", "2026-04-02"),
    ("in mid March", "mid March", "2026-03-11", "2026-03-21"),
    ("See you at half past nine in the morning", "half past nine in the morning", "2026-03-03T09:30", None),
    ("I went there last week", "last week", "2026-02-23", "2026-03-02"),
    ("due by Friday, March 6", "by Friday, March 6", "2026-03-06", None),
    ("the day after tomorrow at 5pm", "the day after tomorrow at 5pm", "2026-03-04T17:00", None),
    ("the demo starts in twenty minutes", "in twenty minutes", "2026-03-02T10:20", None),
    ("next Friday night", "next Friday night", "2026-03-13T18:00", "2026-03-14"),
    ("from 3:30 to 6pm tomorrow", "from 3:30 to 6pm tomorrow", "2026-03-03T15:30", "2026-03-03T18:00"),
    ("July 13 to 15", "July 13 to 15", "2026-07-13", "2026-07-16"),
    ("the third Wednesday of next month", "the third Wednesday of next month", "2026-04-15", "2026-04-16"),
    ("before the end of next month", "before the end of next month", "2026-04-30", None),
    ("three days after Easter", "three days after Easter", "2026-04-08", "2026-04-09"),
    ("the weekend before 4 October", "the weekend before 4 October", "2026-09-26", "2026-09-28"),
    ("Q3 2027", "Q3 2027", "2027-07-01", "2027-10-01"),
    ("twenty to eight", "twenty to eight", "2026-03-03T07:40", None),
    ("the week after next", "the week after next", "2026-03-16", "2026-03-23"),
    ("My flight home was on Sunday night.", "Sunday night", "2026-03-01T18:00", "2026-03-02"),
    ("in 3 business days", "in 3 business days", "2026-03-05", "2026-03-06"),
    ("on Thanksgiving", "Thanksgiving", "2026-11-26", "2026-11-27"),
    ("Thursday 8:00 GMT", "Thursday 8:00", "2026-03-05T16:00", None),
    ("between August 11 and August 15 2023", "between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
]


@pytest.mark.parametrize(("text", "words", "start", "end"), CHINESE + ENGLISH)
def test_reads(text: str, words: str, start: str, end: str | None) -> None:
    assert read(text) == [(words, start, end)]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("我每周五晚上都去打羽毛球", "every_friday_evening"),
        ("每月最后一天对账", "every_month_end"),
        ("每个月15号发工资", "every_month_15"),
        ("每隔三天浇水", "every_4_days"),
        ("每天晚上8:00~10:00", "every_day_20:00-22:00"),
        ("每周一三五健身", "every_monday_wednesday_friday"),
        ("我每年春天都去婺源", "every_year_spring"),
        ("逢周二休息", "every_tuesday"),
        ("I run every other Tuesday at 7pm", "every_2_weeks_tuesday_19:00"),
        ("every first Monday of the month", "every_month_1st_monday"),
        ("on Tuesday afternoons", "every_tuesday_afternoon"),
        ("every weekday at 9:30", "every_workday_09:30"),
        ("每月第一个工作日对账", "every_month_1st_workday"),
        ("每周 Monday standup", "every_monday"),
        ("每天 9am 站会", "every_day_09:00"),
        ("annually on March 15", "every_year_03-15"),
        ("monthly on the 15th", "every_month_15"),
        ("weekly on Monday at 9am", "every_monday_09:00"),
    ],
)
def test_recurrences(text: str, pattern: str) -> None:
    found = find_times(text, NOW)
    assert [t.recurrence for t in found] == [pattern]
    assert found[0].normalized_time is None


@pytest.mark.parametrize(
    "text",
    [
        "2月30日",
        "2026年2月29日",
        "Feb 30",
        "13月的第一天之外的2月31号",
        "过几天",
        "改天",
        "最近",
        "四五点",
        "13月5日",
        "20日前",
        "the other day",
    ],
)
def test_unknown_is_reported_with_a_null_value(text: str) -> None:
    found = find_times(text, NOW)
    assert found and all(t.normalized_time is None for t in found)


@pytest.mark.parametrize(
    "text",
    [
        "等有空的时候我再联系你们。", "我有两点建议", "温度高了一点", "第一点是价格，第二点是质量", "打八点五折", "订单号20260301123456",
        "电话13800138000", "36号文", "女一号", "十几年如一日", "不过年轻人", "黎明主演的电影", "一日之计在于晨", "二十点六",
        "身份证号140302197706220124", "他用过半个月了吗不", "早上好，王总", "晚上好", "三号口等你", "在上海时间不多", "eastern China is big", "May I ask a question?", "The sun sat low", "there are two to four people",
        "version 1.2.3", "around 250,000 units", "Section 8A", "end of the line", "24/7 support", "Have a great month.",
    ],
)  # fmt: skip
def test_no_time_is_found_where_none_was_said(text: str) -> None:
    assert [t.original_form for t in find_times(text, NOW) if t.normalized_time] == []


def test_several_expressions_and_mixed_languages() -> None:
    assert read("下周一 10am 的 meeting，deadline 是 March 15") == [
        ("下周一 10am", "2026-03-09T10:00", None),
        ("March 15", "2026-03-15", "2026-03-16"),
    ]
    assert read("next Friday 下午3点 开会") == [("next Friday 下午3点", "2026-03-13T15:00", None)]


def test_an_hour_takes_the_day_said_before_it() -> None:
    assert read("明天下午三点到，四点走")[1][1] == "2026-03-03T16:00"
    assert read("2025-03-10 20:40 呼入，通话至20:43")[1][1] == "2025-03-10T20:43"


def test_a_weekday_named_as_today() -> None:
    monday = read("It is Monday and nobody has come.")
    assert monday == [("Monday", "2026-03-02", "2026-03-03")]
    assert read("又到周一了")[0][1] == "2026-03-02"


def test_grain_and_base() -> None:
    found = find_times("明天下午三点二十五分", NOW)[0]
    assert (found.grain, found.relative_base, found.start, found.end) == ("minute", NOW.isoformat(), 0, 10)
    assert [find_times(t, NOW)[0].grain for t in ("明年", "下个月", "下周", "本季度", "后天", "三点", "现在")] == [
        "year", "month", "week", "quarter", "day", "hour", "second",
    ]  # fmt: skip
