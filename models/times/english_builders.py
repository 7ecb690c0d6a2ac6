"""What each English word pattern says: functions from the groups of a match to a frame (or another kind of atom).

The last group is always the whole match, all groups in lower case. A builder answers None where the words turn out
not to be a time.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from models.times.atoms import Clock, days_moved, moved
from models.times.chinese_builders import any_date
from models.times.english_tables import (
    DAY_PARTS,
    DAY_WORDS,
    MONTHS,
    PART_WORDS,
    SEASONS,
    STEPS,
    UNIT_WORDS,
    WEEKDAYS,
)
from models.times.frame import Frame
from models.times.holidays import holiday_names
from models.times.numbers import english_number, english_ordinal, full_year, number
from models.times.scan import Builder, Groups, Said
from models.times.spans import month_span
from models.times.zones import NAMES_EN, ZONES


def month_of(word: str | None) -> int | None:
    """The number of a month's name."""
    return MONTHS.get((word or "").strip(" ."))


def year_of(word: str | None, clock: Clock) -> int | None:
    """A year of two or four digits or in words."""
    value = english_number(word) if word else None
    return None if value is None else full_year(value, clock.today.year)


def ymd(g: Groups, clock: Clock) -> Said:
    """2020-09-23, 2020/Sep/23, 2020/23/Sep."""
    second, third = g[1] or "", g[2] or ""
    if month_of(third):
        second, third = third, second
    month = month_of(second) or number(second)
    day = number(third)
    if month is not None and month > 12 and day is not None and day <= 12:
        month, day = day, month
    return any_date(number(g[0]), month, day)


def mdy(g: Groups, clock: Clock) -> Said:
    """4/21/2016, and 21/04/16 where the first cannot be a month."""
    month, day = number(g[0]) or 0, number(g[1]) or 0
    if month > 12:
        month, day = day, month
    return any_date(year_of(g[2], clock), month, day)


def month_day(g: Groups, clock: Clock) -> Said:
    """February 15, march third 2015, Oct/2, may twenty nine."""
    return any_date(year_of(g[2], clock), month_of(g[0]), number(g[1]))


def day_month(g: Groups, clock: Clock) -> Said:
    """15 of february, 31-Oct-74, the ides of march."""
    return any_date(year_of(g[2], clock), month_of(g[1]), number(g[0]))


def ides(g: Groups, clock: Clock) -> Said:
    """The ides of march."""
    month = month_of(g[0])
    return any_date(None, month, 15 if month in (3, 5, 7, 10) else 13)


def month_year(g: Groups, clock: Clock) -> Said:
    """October 2026, 10/2026."""
    month = month_of(g[0]) or number(g[0])
    return Frame(year=year_of(g[1], clock), month=month) if month and month <= 12 else None


def year_month(g: Groups, clock: Clock) -> Said:
    """2026 October, 2026/10."""
    return month_year((g[1], g[0]), clock)


def month(g: Groups, clock: Clock) -> Said:
    """A bare month."""
    return Frame(month=month_of(g[0]))


def digits_month_day(g: Groups, clock: Clock) -> Said:
    """4/25, and 22/04 where the first cannot be a month."""
    month, day = number(g[0]) or 0, number(g[1]) or 0
    if month > 12:
        month, day = day, month
    return any_date(None, month, day) if month <= 12 else None


def year(g: Groups, clock: Clock) -> Said:
    """2026, nineteen ninety six."""
    value = year_of(g[0], clock)
    return Frame(year=value) if value is not None and 1000 <= value <= 2999 else None


def month_step(g: Groups, clock: Clock) -> Said:
    """next March, last May, this September, March after next."""
    step, wanted = STEPS.get(g[0] or "", 0), month_of(g[1]) or 1
    if g[0] == "after next":
        step = 2
    this = clock.today.year
    if step > 0:
        first = this if wanted > clock.today.month else this + 1
        return Frame(year=first + step - 1, month=wanted)
    if step < 0:
        return Frame(year=this if wanted < clock.today.month else this - 1, month=wanted)
    return Frame(year=this, month=wanted)


def weekday(g: Groups, clock: Clock) -> Said:
    """Friday."""
    return Frame(weekday=WEEKDAYS[(g[0] or "").rstrip(".")])


def weekday_after_next(g: Groups, clock: Clock) -> Said:
    """friday after next, sunday before last."""
    day = WEEKDAYS[g[0] or "mon"]
    if (g[1] or "").startswith("before"):
        back = (clock.today.weekday() - day) % 7 or 7
        return Frame(date=clock.today - timedelta(days=back + 7))
    return Frame(date=clock.today + timedelta(days=((day - clock.today.weekday()) % 7 or 7) + 7))


def weekdays(g: Groups, clock: Clock) -> Said:
    """tuesdays, tuesday afternoons."""
    part = PART_WORDS.get((g[1] or "").strip())
    name = (g[0] or "").strip()
    day = WEEKDAYS[name if name in WEEKDAYS else name[:-1]]
    from models.times.recurrence import pattern_of

    return "pattern", None, pattern_of(Frame(weekday=day, part=part))


def weekday_step(g: Groups, clock: Clock) -> Said:
    """next monday: the Monday of next week; coming thursday: the next one."""
    word = (g[0] or "").removeprefix("the ")
    day = WEEKDAYS[(g[1] or "").rstrip(".")]
    if word in ("coming", "upcoming"):
        return Frame(weekday=day)
    return Frame(week=clock.monday + timedelta(weeks=STEPS[word]), weekday=day)


def unit_step(g: Groups, clock: Clock) -> Said:
    """next week, this month, the past quarter, current year, next day, last weekend, the week."""
    step, unit = STEPS.get(re.sub(r"\s+", " ", g[0] or "").strip(), 0), UNIT_WORDS.get(g[1] or "", g[1] or "")
    today = clock.today
    if unit == "week":
        return Frame(week=clock.monday + timedelta(weeks=step))
    if unit in ("weekend", "week-end"):
        return Frame(week=clock.monday + timedelta(weeks=step), edge="weekend")
    if unit == "month":
        first = month_span(today.year, today.month + step)[0]
        return Frame(year=first.year, month=first.month, relative=True)
    if unit in ("quarter", "qtr"):
        index = (today.month - 1) // 3 + step
        return Frame(year=today.year + index // 4, quarter=index % 4 + 1)
    if unit == "year":
        return Frame(year=today.year + step)
    if unit == "day":
        if (g[0] or "").endswith("last"):
            return None
        return Frame(date=today + timedelta(days=step))
    if unit in ("hour", "minute"):
        found = moved(clock, abs(step), unit, 1 if step > 0 else -1)
        ends = sorted([clock.now, found[1] if found else clock.now])
        return "span", None, (*ends, unit)
    if unit == "decade":
        first_year = today.year // 10 * 10 + step * 10
        return Frame(period=(date(first_year, 1, 1), date(first_year + 10, 1, 1), "year"))
    if unit == "century":
        first_year = today.year // 100 * 100 + step * 100
        return Frame(period=(date(first_year, 1, 1), date(first_year + 100, 1, 1), "year"))
    return None


def two_steps(g: Groups, clock: Clock) -> Said:
    """the week after next, the month before last."""
    unit, far = g[0] or "week", 1 if (g[1] or "").startswith("after") else -1
    today = clock.today
    if unit == "week":
        return Frame(week=clock.monday + timedelta(weeks=2 * far))
    if unit == "weekend":
        return Frame(week=clock.monday + timedelta(weeks=2 * far), edge="weekend")
    months = {"month": 1, "quarter": 3, "year": 12}[unit] * 2 * far
    first = month_span(today.year, today.month + months)[0]
    if unit == "year":
        return Frame(year=first.year)
    if unit == "quarter":
        return Frame(year=first.year, quarter=(first.month - 1) // 3 + 1)
    return Frame(year=first.year, month=first.month, relative=True)


def season(g: Groups, clock: Clock) -> Said:
    """this summer, winter 2019 (bare seasons count only beside a year)."""
    name = SEASONS[g[1] or ""]
    if g[0]:
        return Frame(year=clock.today.year + STEPS.get(g[0], 0), season=name)
    return "weak", Frame(season=name), None


def day_word(g: Groups, clock: Clock) -> Said:
    """today, the day after tomorrow."""
    return Frame(date=clock.today + timedelta(days=DAY_WORDS[re.sub(r"\s+", " ", g[0] or "")]))


def day_part(g: Groups, clock: Clock) -> Said:
    """tonight, last night."""
    offset, part = DAY_PARTS[re.sub(r"\s+", " ", g[0] or "")]
    return Frame(date=clock.today + timedelta(days=offset), part=part)


def part(g: Groups, clock: Clock) -> Said:
    """in the morning stands alone; a bare "morning" only beside a date or an hour."""
    frame = Frame(part=PART_WORDS[re.sub(r"\s+", " ", g[1] or "")])
    return frame if g[0] else ("weak", frame, None)


def ordinal_day(g: Groups, clock: Clock) -> Said:
    """the 18th, on the first, 20th of next month."""
    day = number(g[0])
    return Frame(day=day, impossible=None if 1 <= day <= 31 else True) if day is not None else None


def day_number(g: Groups, clock: Clock) -> Said:
    """A bare day after a weekday: Monday 21."""
    day = number(g[0])
    return Frame(day=day) if day and 1 <= day <= 31 else None


def nth_of(g: Groups, clock: Clock) -> Said:
    """first monday, 2nd last week, last day (of what follows)."""
    order, unit = re.sub(r"\s+", " ", (g[0] or "").strip()), (g[1] or "").strip(".")
    if order == "last":
        number_said: int | None = -1
    elif order.endswith(" last") or order.endswith(" to last"):
        number_said = number(order.split()[0])
        number_said = -number_said if number_said else None
    else:
        number_said = number(order)
    if not number_said:
        return None
    kind: str | int = WEEKDAYS.get(unit, unit)
    return Frame(nth=(number_said, kind))


def quarter(g: Groups, clock: Clock) -> Said:
    """Q3 2026, third quarter."""
    value = number((g[0] or "").removeprefix("q"))
    return Frame(quarter=value, year=year_of(g[1], clock)) if value and value <= 4 else None


def half_year(g: Groups, clock: Clock) -> Said:
    """H2 2026, the first half of 2026."""
    return Frame(edge="half1" if g[0] in ("1", "first", "1st") else "half2", edge_of="year", year=year_of(g[1], clock))


def edge(g: Groups, clock: Clock) -> Said:
    """beginning of, mid, early, late: of the month or year that follows."""
    word = (g[0] or "").split()[0].strip("-")
    name = {"beginning": "start", "start": "start", "middle": "mid", "mid": "mid", "end": "end", "early": "early",
            "earlier": "early", "late": "late", "later": "late"}[word]  # fmt: skip
    return "weak", Frame(edge=name), "edge"


def edge_alone(g: Groups, clock: Clock) -> Said:
    """end of month, eod, the end of the year."""
    word = (g[1] or "").strip()
    name = {"eod": "end", "eom": "end", "eoy": "end", "eow": "end"}.get(word)
    unit = {"eod": "day", "eom": "month", "eoy": "year", "eow": "week", "yr": "year"}.get(word, word)
    if name is None:
        start = (g[0] or "end").split()[0]
        name = {"end": "end", "close": "end", "middle": "mid"}.get(start, "start")
    return Frame(edge=name, edge_of=unit)


def holiday(g: Groups, clock: Clock) -> Said:
    """christmas, next thanksgiving day, last cyber monday."""
    name = re.sub(r"\s+", " ", (g[1] or "").replace("\u2019", "'"))
    key = holiday_names("en")[name.strip()]
    frame = Frame(holiday=key)
    if (g[0] or "").strip() in ("last", "previous", "past", "the last"):
        return "frame", frame.copy(relative=False), "past"
    return frame


def holiday_weekend(g: Groups, clock: Clock) -> Said:
    """labor day weekend: the weekend before or around the holiday, and the holiday."""
    name = re.sub(r"\s+", " ", (g[0] or "").replace("\u2019", "'"))
    return Frame(holiday=holiday_names("en")[name], edge="weekend")


def now(g: Groups, clock: Clock) -> Said:
    """now, right now."""
    return Frame(exact=(clock.now, "second"))


def week_of(g: Groups, clock: Clock) -> Said:
    """The week of what follows."""
    return "weekof", None, None


def iso_week(g: Groups, clock: Clock) -> Said:
    """Week 23 of 2018."""
    value = number(g[0])
    if not value or value > 53:
        return None
    try:
        monday = date.fromisocalendar(year_of(g[1], clock) or clock.today.year, value, 1)
    except ValueError:
        return Frame(impossible=True)
    return Frame(week=monday)


def decade(g: Groups, clock: Clock) -> Said:
    """the 1990s, the 90s."""
    value = int(g[0] or 0)
    first = value if value >= 1000 else full_year(value, clock.today.year - 5)
    years = 100 if first % 100 == 0 and first < 2000 else 10
    return Frame(period=(date(first, 1, 1), date(first + years, 1, 1), "year"))


def nth_century(g: Groups, clock: Clock) -> Said:
    """the 21st century."""
    value = number(g[0])
    if not value or not 1 <= value < 99:
        return None
    return Frame(period=(date(max(1, 100 * value - 99), 1, 1), date(100 * value + 1, 1, 1), "year"))


def zone(g: Groups, clock: Clock) -> Said:
    """GMT, PST, New York time."""
    return "weak", Frame(zone=NAMES_EN[g[1]] if g[1] else ZONES[(g[0] or "").upper()]), None


def next_workday(g: Groups, clock: Clock) -> Said:
    """next business day, the previous working day."""
    day = days_moved(clock.today, 1, "workday", -1 if (g[0] or "") in ("last", "previous") else 1)
    return Frame(date=day, relative=True)


def nth_workday(g: Groups, clock: Clock) -> Said:
    """the first business day of (the month)."""
    number = -1 if g[0] == "last" else english_ordinal(g[0] or "")
    return Frame(nth=(number, "workday")) if number else None


def half_number(g: Groups, clock: Clock) -> Said:
    """The 5 of 5 to 7pm."""
    value = number(g[0])
    return ("half", None, (value, g[0])) if value is not None else None


def kind(name: str, value: object = None) -> Builder:
    """A builder for words that only connect."""
    return lambda g, clock: (name, None, value if value is not None else g[-1])
