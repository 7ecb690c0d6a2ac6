"""Placing a frame on the calendar, against the clock of the utterance.

All arithmetic is on local wall time; ``models/times/__init__.py`` attaches the zone. Defaults, in words: a weekday is
the next one, a date without a year is this year's unless that lies more than half a year back, a clock time that has
passed is tomorrow's; words in the past tense turn each of these to the latest one before. Hours from one to six without
a part of the day are afternoon hours. A date that does not exist has no place.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from models.times.calendars import lunar_date, lunar_months, lunar_year_end, lunar_year_of
from models.times.frame import Bias, Frame
from models.times.holidays import holiday_span
from models.times.spans import DAY, Span, add_months, edge_of, month_span, nth_in, year_span

LONG_PAST = 180
"""Days after which a date without a year is taken to be next year's."""

PARTS: dict[str, tuple[int, int]] = {
    "dawn": (0, 6), "early_morning": (5, 8), "morning": (6, 12), "noon": (11, 14), "afternoon": (12, 18),
    "evening": (18, 24), "night": (18, 24), "midnight": (24, 24),
}  # fmt: skip
"""Parts of the day as hours [from, to)."""

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


@dataclass(slots=True, frozen=True)
class Placed:
    """Local wall times: `end` is exclusive and None for an instant; `grain` the finest unit said."""

    start: datetime
    end: datetime | None
    grain: str


def place(frame: Frame, now: datetime, bias: Bias = None) -> Placed | None:
    """Where the frame lies, `now` being naive local time; None where it cannot be known or does not exist."""
    try:
        return _place(frame, now, bias)
    except (ValueError, OverflowError):
        return None


def _place(frame: Frame, now: datetime, bias: Bias) -> Placed | None:
    if frame.impossible:
        return None
    if frame.exact is not None and frame.hour is None:
        moment, grain = frame.exact
        return Placed(moment, None, grain)
    span = _days(frame, now, bias)
    if span is None:
        if frame.has_date():
            return None
        return _clock_alone(frame, now, bias)
    first, last, grain = span
    if not frame.has_time():
        return Placed(_midnight(first), _midnight(last), grain)
    if last - first > DAY:
        return None
    return _clock_on(frame, first)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def clock_of(frame: Frame) -> tuple[int, int, int] | None:
    """(hour 0..24 or more, minute, second) that the frame says, part of the day and am/pm taken in; 25 is 1 am."""
    if frame.hour is None:
        return None
    hour, minute, second = frame.hour, frame.minute or 0, frame.second or 0
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute):
        raise ValueError("no such time of day")
    return _hour(hour, frame.part, frame.meridiem), minute, second


def _hour(hour: int, part: str | None, meridiem: str | None) -> int:
    if meridiem == "am" and part in ("evening", "night") and hour < 6:
        return 24 + hour
    if meridiem == "am":
        return hour % 12 if hour <= 12 else hour
    if meridiem == "pm":
        return hour % 12 + 12 if hour <= 12 else hour
    if hour > 12 or hour == 0:
        return hour
    if part in ("dawn", "early_morning", "morning"):
        return 0 if part == "dawn" and hour == 12 else hour
    if part == "noon":
        return hour + 12 if hour <= 4 else hour
    if part == "afternoon":
        return hour if hour == 12 else hour + 12
    if part in ("evening", "night", "midnight"):
        if hour == 12:
            return 24
        return hour + 24 if hour <= (4 if part != "midnight" else 6) else hour + 12
    if meridiem == "24":
        return hour
    return hour + 12 if hour <= 6 else hour


def clock_grain(frame: Frame) -> str:
    """The finest unit of the clock time that was said."""
    return "second" if frame.second is not None else "minute" if frame.minute is not None else "hour"


def _clock_on(frame: Frame, day: date) -> Placed:
    clock = clock_of(frame)
    if clock is not None:
        hour, minute, second = clock
        return Placed(_midnight(day) + timedelta(hours=hour, minutes=minute, seconds=second), None, clock_grain(frame))
    start, end = PARTS[frame.part or "morning"]
    if start == end:
        return Placed(_midnight(day) + timedelta(hours=start), None, "hour")
    return Placed(_midnight(day) + timedelta(hours=start), _midnight(day) + timedelta(hours=end), "day")


def _clock_alone(frame: Frame, now: datetime, bias: Bias) -> Placed | None:
    if not frame.has_time():
        return None
    placed = _clock_on(frame, now.date())
    late = timedelta(minutes=15)
    if frame.hour is None:
        return placed
    if bias == "past":
        return placed if placed.start <= now else _clock_on(frame, now.date() - DAY)
    if placed.start < now - late:
        return _clock_on(frame, now.date() + DAY)
    return placed


def _days(frame: Frame, now: datetime, bias: Bias) -> Span | None:
    today = now.date()
    if frame.exact is not None:
        day = frame.exact[0].date()
        return day, day + DAY, "day"
    if frame.date is not None:
        if frame.year is not None and frame.year != frame.date.year and frame.relative is None:
            day = frame.date.replace(year=frame.year)
            return day, day + DAY, "day"
        return frame.date, frame.date + DAY, "day"
    if frame.holiday is not None:
        return _holiday(frame, today, bias)
    if frame.lunar:
        return _lunar(frame, today)
    if frame.week is not None:
        return _in_week(frame)
    if frame.period is not None:
        return edge_of(frame.period, frame.edge) if frame.edge else frame.period
    if frame.nth is not None:
        return _nth(frame, today, bias)
    if frame.season is not None:
        return _season(frame, today, bias)
    if frame.day is not None:
        return _numbered_day(frame, today, bias)
    if frame.month is not None or frame.quarter is not None or frame.year is not None:
        span = _long(frame, today, bias)
        if frame.weekday is not None:
            return None
        return edge_of(span, frame.edge) if frame.edge else span
    if frame.edge is not None and frame.weekday is None:
        return _edge_alone(frame, today)
    if frame.weekday is not None:
        day = _weekday(frame.weekday, today, bias)
        return day, day + DAY, "day"
    return None


def _edge_alone(frame: Frame, today: date) -> Span | None:
    """月底, 年初, the end of the month: of the current one."""
    if frame.edge_of == "month":
        return edge_of((*month_span(today.year, today.month), "month"), frame.edge)
    if frame.edge_of == "year":
        return edge_of((*year_span(today.year), "year"), frame.edge)
    if frame.edge_of == "quarter":
        first = month_span(today.year, (today.month - 1) // 3 * 3 + 1)[0]
        return edge_of((first, add_months(first, 3), "quarter"), frame.edge)
    if frame.edge_of == "day":
        return today, today + DAY, "day"
    if frame.edge_of == "week":
        monday = today - timedelta(days=today.weekday())
        return edge_of((monday, monday + 7 * DAY, "week"), frame.edge)
    return None


def _weekday(weekday: int, today: date, bias: Bias) -> date:
    ahead = (weekday - today.weekday()) % 7
    if bias == "past":
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    return today + timedelta(days=ahead if bias == "now" else ahead or 7)


def _in_week(frame: Frame) -> Span | None:
    monday = frame.week
    if monday is None:
        return None
    if frame.edge in ("weekend",):
        return monday + 5 * DAY, monday + 7 * DAY, "day"
    if frame.weekday is not None:
        day = monday + timedelta(days=frame.weekday)
        return day, day + DAY, "day"
    if frame.edge:
        return edge_of((monday, monday + 7 * DAY, "week"), frame.edge)
    return monday, monday + 7 * DAY, "week"


def _long(frame: Frame, today: date, bias: Bias) -> Span:
    """The month, quarter or year that the frame names."""
    if frame.month is not None:
        year = frame.year if frame.year is not None else _year_for(today, frame.month, 1, bias, whole_month=True)
        return *month_span(year, frame.month), "month"
    year = frame.year if frame.year is not None else today.year
    if frame.quarter is not None:
        first = month_span(year, frame.quarter * 3 - 2)[0]
        if frame.year is None and bias == "past" and first > today:
            first = add_months(first, -12)
        return first, add_months(first, 3), "quarter"
    return *year_span(year), "year"


def _year_for(today: date, month: int, day: int, bias: Bias, whole_month: bool = False) -> int:
    """The year of a date said without one."""
    year = today.year
    probe = date(year, month, 1)
    if whole_month:
        past, passed = probe.replace(day=1) < today.replace(day=1), probe
        passed = month_span(year, month)[1]
    else:
        last = calendar.monthrange(year, month)[1]
        passed = probe.replace(day=min(day, last))
        past = passed < today
    if bias == "past":
        return year if past or probe <= today else year - 1
    if past and (bias == "future" or (today - passed).days > LONG_PAST):
        return year + 1
    return year


def _numbered_day(frame: Frame, today: date, bias: Bias) -> Span | None:
    day = frame.day or 0
    if not 1 <= day <= 31:
        return None
    if frame.month is None:
        found = _day_of_some_month(frame, day, today, bias)
    else:
        year = frame.year if frame.year is not None else _year_for(today, frame.month, day, bias)
        found = date(year, frame.month, day)
        if frame.weekday is not None and frame.year is None and found.weekday() != frame.weekday:
            close = [date(y, frame.month, day) for y in range(today.year - 6, today.year + 7)]
            match = [d for d in close if d.weekday() == frame.weekday]
            found = min(match, key=lambda d: (abs((d - today).days), d), default=found)
    return (found, found + DAY, "day") if found else None


def _day_of_some_month(frame: Frame, day: int, today: date, bias: Bias) -> date | None:
    base = today.replace(day=1)
    if frame.year is not None:
        return None
    steps = [0, 1, -1, *range(2, 14)] if frame.weekday is not None else [0, 1, -1, 2]
    options = []
    for step in steps:
        first, after = month_span(base.year, base.month + step)
        found = first + timedelta(days=day - 1)
        if found < after and (frame.weekday is None or found.weekday() == frame.weekday):
            options.append(found)
    if frame.weekday is not None:
        near = [d for d in options if (d <= today if bias == "past" else d >= today)]
        back = [d for d in options if (today - d).days in range(7)]
        return next(iter(back or near or options), None)
    if bias == "past":
        return max((d for d in options if d <= today), default=None)
    grace = 0 if bias == "future" or frame.relative is None else 10
    return min((d for d in options if (today - d).days <= grace), default=None)


def _nth(frame: Frame, today: date, bias: Bias) -> Span | None:
    number, kind = frame.nth or (1, "day")
    if kind == "week" and number > 5 and frame.month is None and frame.quarter is None:
        monday = date.fromisocalendar(frame.year if frame.year is not None else today.year, number, 1)
        return _in_week(frame.copy(week=monday, nth=None))
    if frame.month is not None or frame.quarter is not None or frame.year is not None:
        first, after, _ = _long(frame, today, bias)
    elif frame.period is not None:
        first, after, _ = frame.period
    elif isinstance(kind, str):
        return None
    else:
        first, after = month_span(today.year, today.month)
    found = nth_in(first, after, number, kind)
    if found and frame.weekday is not None and kind == "week":
        day = found[0] + timedelta(days=frame.weekday)
        return day, day + DAY, "day"
    return found


def _season(frame: Frame, today: date, bias: Bias) -> Span | None:
    year = frame.year
    if year is None:
        return None
    first = month_span(year, SEASONS[frame.season or "spring"])[0]
    return first, add_months(first, 3), "month"


def _lunar(frame: Frame, today: date) -> Span | None:
    """A Chinese lunar date, month or year end; without a year the one that has not passed."""
    years = [frame.year] if frame.year is not None else [lunar_year_of(today), lunar_year_of(today) + 1]
    for year in years:
        if frame.edge == "end" and frame.month is None:
            last = lunar_year_end(year)
            span = (last, last + DAY, "day") if last else None
        elif frame.day is None:
            months = [
                (first, days) for number, leap, first, days in lunar_months(year) if number == frame.month and not leap
            ]
            span = (months[0][0], months[0][0] + timedelta(days=months[0][1]), "month") if months else None
            if frame.month is None:
                all_months = lunar_months(year)
                end = lunar_year_end(year)
                span = (all_months[0][2], end + DAY, "year") if all_months and end else None
        else:
            day = lunar_date(year, frame.month or 1, frame.day)
            span = (day, day + DAY, "day") if day else None
        if span and (frame.year is not None or (today - span[1]).days < LONG_PAST):
            return span
    return None


def _holiday(frame: Frame, today: date, bias: Bias) -> Span | None:
    name, shift = frame.holiday or "", timedelta(days=frame.holiday_shift or 0)
    if frame.year is not None:
        span = holiday_span(name, frame.year)
    else:
        spans = [s for s in (holiday_span(name, today.year + n) for n in (-1, 0, 1, 2, 3, 4)) if s]
        if bias == "past":
            span = max((s for s in spans if s[0] <= today), default=None)
        else:
            span = min((s for s in spans if s[1] > today), default=None)
    if span is None:
        return None
    if frame.edge == "weekend":
        saturday = span[0] - timedelta(days=(span[0].weekday() - 5) % 7)
        return saturday, max(saturday + 2 * DAY, span[1]), "day"
    return span[0] + shift, span[1] + shift, "day"
