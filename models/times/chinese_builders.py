"""What each Chinese word pattern says: functions from the groups of a match to a frame (or another kind of atom).

The last group is always the whole match. A builder answers None where the words turn out not to be a time.
"""

from __future__ import annotations

from datetime import date, timedelta

from models.times.atoms import Clock, days_moved
from models.times.chinese_distance import about
from models.times.chinese_tables import (
    DAY_WORDS,
    ERAS,
    PART_WORDS,
    SEASON_WORDS,
    SHORT_DAYS,
    WEEKDAY_SIGNS,
    YEAR_WORDS,
)
from models.times.frame import Frame
from models.times.holidays import holiday_names
from models.times.numbers import chinese_amount, chinese_number, full_year
from models.times.scan import Builder, Groups
from models.times.spans import month_span
from models.times.zones import NAMES_ZH, ZONES


def any_date(year: int | None, month: int | None, day: int | None) -> Frame | None:
    """A date of which any part may be unsaid; marks one that no calendar has."""
    if month is not None and not 1 <= month <= 12:
        return None
    return Frame(year=year, month=month, day=day, impossible=_impossible(year, month, day))


def _impossible(year: int | None, month: int | None, day: int | None) -> bool | None:
    """True for a day that no calendar has: 2月30日, and 2月29日 of a common year."""
    if day is None or month is None:
        return None
    if not 1 <= day <= 31:
        return True
    first, after = month_span(year if year is not None else 2000, month)
    return True if day > (after - first).days else None


def ymd(g: Groups, clock: Clock) -> Frame | None:
    """2026-03-02, 20260302."""
    return any_date(full_year(int(g[0] or 0), clock.today.year), int(g[1] or 0), int(g[2] or 0))


def iso_instant(g: Groups, clock: Clock) -> Frame | None:
    """2021-06-14T08:00:00+08:00."""
    day = any_date(int(g[0] or 0), int(g[1] or 0), int(g[2] or 0))
    if day is None:
        return None
    zone: int | None = None
    if g[6]:
        digits = g[6].replace(":", "")
        zone = 0 if g[6] in "zZ" else int(digits[0] + "1") * (int(digits[1:3]) * 60 + int(digits[3:5]))
    second = int(g[5]) if g[5] else None
    return day.copy(hour=int(g[3] or 0), minute=int(g[4] or 0), second=second, meridiem="24", zone=zone)


def mdy(g: Groups, clock: Clock) -> Frame | None:
    """3/2/2026, and 21/3/2026 where the first cannot be a month."""
    month, day = int(g[0] or 0), int(g[1] or 0)
    if month > 12:
        month, day = day, month
    return any_date(int(g[2] or 0), month, day)


def year(g: Groups, clock: Clock) -> Frame | None:
    """2026年, 零八年."""
    value = chinese_number(g[0] or "")
    return None if value is None else Frame(year=full_year(value, clock.today.year))


def era(g: Groups, clock: Clock) -> Frame | None:
    """民国三年, 康熙二十年."""
    number = 1 if g[1] == "元" else chinese_number(g[1] or "")
    return None if not number else Frame(year=ERAS[g[0] or ""] + number - 1)


def year_word(g: Groups, clock: Clock) -> Frame:
    """今年, 去年."""
    return Frame(year=clock.today.year + YEAR_WORDS[g[0] or ""])


def years_together(g: Groups, clock: Clock) -> tuple[str, None, object]:
    """今明两年."""
    offsets = sorted({"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}[ch] for ch in (g[0] or "")[:2])
    year = clock.today.year
    return "span", None, (date(year + offsets[0], 1, 1), date(year + offsets[1] + 1, 1, 1), "year")


def days_together(g: Groups, clock: Clock) -> tuple[str, None, object]:
    """明后天."""
    offsets = sorted({"昨": -1, "今": 0, "明": 1, "后": 2}[ch] for ch in (g[0] or "")[:2])
    first = clock.today + timedelta(days=offsets[0])
    return "span", None, (first, clock.today + timedelta(days=offsets[1] + 1), "day")


def decade(g: Groups, clock: Clock) -> Frame | None:
    """90年代, 上世纪八十年代."""
    decade = (chinese_number(g[2] or "") or 0) % 100
    if g[0]:
        century = {"上": clock.today.year // 100 - 1, "本": clock.today.year // 100}.get(g[0])
        if century is None:
            century = (chinese_number(g[0].rstrip("个")) or 0) - 1
        first = century * 100 + decade
    else:
        first = full_year(decade, clock.today.year - 5)
    if not 1 <= first < 9980 or decade % 10:
        return None
    return Frame(period=(date(first, 1, 1), date(first + 10, 1, 1), "year"))


def century(g: Groups, clock: Clock) -> Frame | None:
    """19世纪."""
    number = {"上": clock.today.year // 100, "本": clock.today.year // 100 + 1}.get(g[0] or "") or chinese_number(
        g[0] or ""
    )
    if not number or not 1 <= number < 99:
        return None
    return Frame(period=(date(max(1, number * 100 - 100), 1, 1), date(number * 100, 1, 1), "year"))


def month_words(g: Groups, clock: Clock) -> Frame:
    """上个月, 下下个月, 本月."""
    count = _steps(g[0] or "")
    first = month_span(clock.today.year, clock.today.month + count)[0]
    return Frame(year=first.year, month=first.month, relative=True)


def _steps(word: str) -> int:
    """上上 is two steps back, 下 one ahead, 这, 本, 今 and 当 none."""
    return word.count("下") + word.count("后") - word.count("上")


def lunar_month(g: Groups, clock: Clock) -> Frame | None:
    """腊月二十三, 八月初五, 正月."""
    month = {"正": 1, "冬": 11, "腊": 12}.get((g[0] or "")[0]) or chinese_number((g[0] or "").rstrip("月"))
    day = lunar_day(g[1]) if g[1] else None
    return Frame(month=month, day=day, lunar=True) if month and 1 <= month <= 12 else None


def lunar_day(word: str) -> int | None:
    """初五, 廿三 as a number."""
    return chinese_number(word.lstrip("初").rstrip("日号"))


def lunar_new_year(g: Groups, clock: Clock) -> Frame | None:
    """大年初一, 正月十五."""
    return Frame(month=1, day=lunar_day(g[0] or ""), lunar=True)


def month(g: Groups, clock: Clock) -> Frame | None:
    """三月, 3月5日, 八月十五 (by the lunar calendar)."""
    month, day = chinese_number(g[0] or ""), chinese_number(g[1]) if g[1] else None
    if g[0] == "八" and g[1] in ("十五",):
        return Frame(month=8, day=15, lunar=True)
    return any_date(None, month, day)


def day(g: Groups, clock: Clock) -> Frame | None:
    """15号."""
    day = chinese_number(g[0] or "")
    return (
        Frame(day=day, impossible=None if day and 1 <= day <= 31 else True, relative=True) if day is not None else None
    )


def weekday(g: Groups, clock: Clock) -> Frame:
    """周三, 下周三."""
    steps = g[0] or ""
    weekday = WEEKDAY_SIGNS[g[1] or "一"]
    if not steps:
        return Frame(weekday=weekday)
    return Frame(week=clock.monday + timedelta(weeks=_steps(steps)), weekday=weekday)


def weekend(g: Groups, clock: Clock) -> Frame:
    """周末, 下周末."""
    return Frame(week=clock.monday + timedelta(weeks=_steps(g[0] or "")), edge="weekend")


def week(g: Groups, clock: Clock) -> Frame:
    """上周, 下下个星期."""
    return Frame(week=clock.monday + timedelta(weeks=_steps(g[0] or "")))


def nth_of(g: Groups, clock: Clock) -> Frame | None:
    """第二个星期五, 最后一天, 最后一个月: within what was said before."""
    order, unit = g[0] or "", g[1] or ""
    number = {"最后": -1, "最后一": -1, "首": 1, "末": -1, "头": 1, "倒数第": -1}.get(order)
    if number is None:
        number = chinese_number(order.removeprefix("倒数").removeprefix("第"))
        number = -number if number and order.startswith("倒数") else number
    if not number:
        return None
    kind: str | int = (
        "month"
        if unit == "月"
        else "quarter"
        if unit == "季度"
        else "workday"
        if unit == "工作日"
        else "day"
        if unit in ("天", "日")
        else "weekend"
        if unit.endswith(("周末",))
        else "week"
    )
    if kind == "week" and unit[-1] in WEEKDAY_SIGNS and unit not in ("周", "星期", "礼拜"):
        kind = WEEKDAY_SIGNS[unit[-1]]
    return Frame(nth=(number, kind))


def quarter(g: Groups, clock: Clock) -> Frame | None:
    """第三季度, Q1."""
    word = g[0] or ""
    number = {"首": 1, "末": 4, "头": 1, "最后一": 4}.get(word) or chinese_number(word.strip("第Qq "))
    return Frame(quarter=number) if number and 1 <= number <= 4 else None


def next_workday(g: Groups, clock: Clock) -> Frame:
    """下个工作日, 上一个工作日."""
    return Frame(date=days_moved(clock.today, 1, "workday", 1 if g[0] == "下" else -1), relative=True)


def quarter_word(g: Groups, clock: Clock) -> Frame:
    """上季度."""
    quarter = (clock.today.month - 1) // 3 + _steps(g[0] or "")
    return Frame(year=clock.today.year + quarter // 4, quarter=quarter % 4 + 1)


def half(g: Groups, clock: Clock) -> Frame:
    """上半年, 下半月."""
    half = "half1" if (g[0] or "")[0] in "上前" else "half2"
    return Frame(edge=half, edge_of="month" if (g[0] or "").endswith("月") else "year")


def edge(g: Groups, clock: Clock) -> Frame:
    """月底, 年初, 中旬."""
    word = g[-1] or ""
    if word.endswith("旬"):
        return Frame(edge={"上": "xun1", "中": "xun2", "下": "xun3"}[word[0]], edge_of="month")
    edge = {"初": "start", "中": "mid"}.get(word[-1], "end")
    unit = {"年": "year", "岁": "year", "季": "quarter", "月": "month"}.get(word[0])
    return Frame(edge=edge, edge_of=unit)


def day_word(g: Groups, clock: Clock) -> Frame:
    """明天, 大前天."""
    return Frame(date=clock.today + timedelta(days=DAY_WORDS[g[0] or ""]))


def short_day(g: Groups, clock: Clock) -> Frame:
    """今晚, 明早."""
    offset, part = SHORT_DAYS[g[0] or ""]
    return Frame(date=clock.today + timedelta(days=offset), part=part)


def part(g: Groups, clock: Clock) -> Frame:
    """下午, 凌晨."""
    return Frame(part=PART_WORDS[g[0] or ""])


def now(g: Groups, clock: Clock) -> Frame:
    """现在, 马上."""
    return Frame(exact=(clock.now, "second"))


def clock_digits(g: Groups, clock: Clock) -> Frame:
    """15:30, 3:15pm."""
    meridiem = {"a": "am", "p": "pm"}.get((g[3] or " ")[0].lower())
    hour = int(g[0] or 0)
    if meridiem is None and (len(g[0] or "") == 2 and (g[0] or "").startswith("0") or hour > 12):
        meridiem = "24"
    return Frame(hour=hour, minute=int(g[1] or 0), second=int(g[2]) if g[2] else None, meridiem=meridiem)


def am_pm(g: Groups, clock: Clock) -> Frame | None:
    """3pm."""
    hour = int(g[0] or 0)
    return Frame(hour=hour, meridiem={"a": "am", "p": "pm"}[(g[1] or "a")[0].lower()]) if 1 <= hour <= 12 else None


def to_clock(g: Groups, clock: Clock) -> Frame | None:
    """差五分三点, 差一刻三点."""
    minutes = {"一刻": 15, "1刻": 15}.get(g[0] or "") or chinese_number((g[0] or "").rstrip("分"))
    hour = chinese_number(g[1] or "")
    if not minutes or not hour or minutes > 59 or hour > 24:
        return None
    meridiem = "am" if hour == 7 else "24" if hour > 12 else None
    return Frame(hour=hour - 1 if hour > 1 else 12, minute=60 - minutes, meridiem=meridiem)


def clock(g: Groups, clock: Clock) -> Frame | None:
    """三点, 三点半, 三点一刻, 三点踏三 (Cantonese: times five), 三点二十五(分十秒), 三点三个字."""
    hour = chinese_number(g[0] or "")
    minute: int | None
    if g[1]:
        minute = 30 if "半" in g[1] else 45 if g[1].startswith(("三", "3")) else 15
    elif g[2]:
        minute = {"一": 5, "三": 15, "六": 30, "九": 45, "半": 30, "1": 5, "3": 15, "6": 30, "9": 45}.get(g[2])
        minute = minute if minute is not None else (chinese_number(g[2]) or 0) * 5
    elif g[3]:
        minute = chinese_number(g[3])
    elif g[6]:
        minute = (chinese_number(g[6]) or 0) * 5
    else:
        minute = chinese_number(g[5]) if g[5] else None
    second = chinese_number(g[4]) if g[4] else None
    if hour is None or hour > 24 or (minute or 0) > 59 or (second or 0) > 59:
        return None
    sure = "24" if hour > 12 or (g[0] or "").startswith(("0", "零", "〇")) else None
    return Frame(hour=hour, minute=minute, second=second, meridiem=sure)


def holiday(g: Groups, clock: Clock) -> Frame | tuple[str, Frame | None, object] | None:
    """国庆节, 除夕, 春节后第三天, 上个元旦."""
    which, after = g[0] or "", g[2] or ""
    days: int | None = {"": None, "前夜": -1, "前夕": -1, "翌日": 1, "次日": 1}.get(after, 0)
    if days == 0:
        said = after.lstrip("的")[1:].removeprefix("第").rstrip("天周星期礼拜个")
        amount = chinese_amount(said)
        if amount is None or about(said):
            return None
        days = round(amount * (1 if after.endswith("天") else 7)) * (-1 if "前" in after else 1)
    names, said_as = holiday_names("zh"), g[1] or ""
    night = "evening" if said_as.endswith("夜") and said_as[:-1] in names else None
    frame = Frame(holiday=names[said_as], holiday_shift=days, part=night)
    return ("frame", frame, "past") if which.startswith("上") else frame


def season(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """去年夏天; a bare season counts only beside a year."""
    word = g[0] or ""
    if word[0] in "今去明":
        year = clock.today.year + {"今": 0, "去": -1, "明": 1}[word[0]]
        return "frame", Frame(year=year, season=SEASON_WORDS[word[-1]]), None
    return "weak", Frame(season=SEASON_WORDS[word[0]]), None


def this_hour(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """明天这个时候: the hour and minute of now."""
    return "weak", Frame(hour=clock.now.hour, minute=clock.now.minute, meridiem="24"), None


def all_day(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """全天."""
    return "frame", Frame(date=clock.today), "all day"


def zone(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """北京时间, 纽约时间, GMT."""
    place, abbreviation = g[0], g[1] or ""
    return "weak", Frame(zone=NAMES_ZH[place] if place else ZONES[abbreviation.upper()]), None


def kind(kind: str, value: object = None) -> Builder:
    """A builder for words that only connect."""
    return lambda g, clock: (kind, None, value if value is not None else (g[0] if g else None))


def half_number(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """The 五 of 五到六点."""
    return "half", None, (chinese_number(g[0] or ""), g[0])


def every(g: Groups, clock: Clock) -> tuple[str, Frame | None, object]:
    """每, 逐 and 隔 open a recurrence; 天天 is one."""
    return ("pattern", None, "every_day") if g[1] else ("every", None, None)
