"""What the word patterns of a language hand to the assembly: atoms, each a stretch of text with what it says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal

from models.times.frame import Frame
from models.times.spans import add_months

Kind = Literal[
    "frame",
    "span",
    "range",
    "from",
    "until",
    "before",
    "after",
    "around",
    "every",
    "pattern",
    "half",
    "vague",
    "link",
    "toward",
    "lunar",
    "offset",
    "length",
    "weekof",
]


@dataclass(slots=True)
class Atom:
    """`frame` says fields; `value` is a span (start, end, grain), a pattern, a bare number or a unit, by kind.

    `weak` atoms count only beside another one; `bare` marks a clock time that needs company to be one.
    """

    start: int
    end: int
    kind: Kind
    frame: Frame | None = None
    value: Any = None
    weak: bool = False


@dataclass(slots=True, frozen=True)
class Clock:
    """The utterance's own clock: naive local time, its day, and its zone with the offset in minutes at that moment."""

    now: datetime
    offset: int = 0
    zone: tzinfo | None = None

    @property
    def today(self) -> date:
        """The day of the utterance."""
        return self.now.date()

    @property
    def monday(self) -> date:
        """The Monday of its week."""
        return self.today - timedelta(days=self.today.weekday())


DAY_UNITS = ("day", "week", "month", "quarter", "year", "decade", "century", "workday")


def moved(clock: Clock, amount: float, unit: str, sign: int) -> tuple[Frame, datetime] | None:
    """`amount` units before (-1) or after (+1) the clock: a frame for the moment, and the moment itself."""
    if amount > 100_000:
        return None
    try:
        if unit in ("second", "minute", "hour"):
            seconds = {"second": 1, "minute": 60, "hour": 3600}[unit] * amount
            moment = _elapsed(clock, sign * timedelta(seconds=seconds))
            grain = unit if amount == int(amount) else {"hour": "minute"}.get(unit, "second")
            return Frame(exact=(moment, grain), relative=True), moment
        day = days_moved(clock.today, amount, unit, sign)
    except (OverflowError, ValueError):
        return None
    if day is None:
        return None
    return Frame(date=day, relative=True), datetime.combine(day, clock.now.time())


def _elapsed(clock: Clock, lapse: timedelta) -> datetime:
    """Wall time after a stretch of real time: where clocks are put on or back in between, they show it."""
    if clock.zone is None or isinstance(clock.zone, timezone):
        return clock.now + lapse
    later = clock.now.replace(tzinfo=clock.zone).astimezone(UTC) + lapse
    return later.astimezone(clock.zone).replace(tzinfo=None)


def days_moved(day: date, amount: float, unit: str, sign: int) -> date | None:
    """The day `amount` units away; half months and years count whole days and months."""
    if unit == "workday":
        return _workdays(day, int(amount) * sign)
    if unit in ("day", "week"):
        return day + sign * timedelta(days=round(amount * (7 if unit == "week" else 1)))
    months = amount * {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}[unit]
    whole = int(months)
    day = add_months(day, sign * whole)
    return day + sign * timedelta(days=round((months - whole) * 30))


def _workdays(day: date, count: int) -> date:
    step = timedelta(days=1 if count > 0 else -1)
    left = min(abs(count), 5000)
    while left:
        day += step
        if day.weekday() < 5:
            left -= 1
    return day
