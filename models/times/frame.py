"""What one time expression says, field by field, before it is placed on the calendar.

Words of either language set fields of a ``Frame``; two words belong to one expression as long as their fields do not
contradict each other. ``place`` (models/times/place.py) turns a frame into a start, an end and a grain.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal

Bias = Literal["past", "future", "now"] | None


@dataclass(slots=True)
class Frame:
    """Fields are None until something said sets them.

    `week` is the Monday of a stated week, `period` (first day, day after the last, grain) a stated stretch of days,
    `exact` an instant worked out from the clock of the utterance with the grain of what was said; `nth` is (number,
    "day" | "week" | "weekend" | weekday 0..6) counted within the stated year, quarter or month, from its end if
    negative; `edge` one of start, mid, end, early, late, xun1..3, half1, half2, weekend, and
    `edge_of` the unit meant where no longer span is said; `meridiem` am, pm or 24 (hour certain);
    `zone` an offset in minutes or a place of `zones`; `impossible` marks a date that no calendar has.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    season: str | None = None
    week: dt.date | None = None
    weekday: int | None = None
    date: dt.date | None = None
    period: tuple[dt.date, dt.date, str] | None = None
    exact: tuple[dt.datetime, str] | None = None
    holiday: str | None = None
    holiday_shift: int | None = None
    lunar: bool | None = None
    nth: tuple[int, str | int] | None = None
    edge: str | None = None
    edge_of: str | None = None
    part: str | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    meridiem: str | None = None
    zone: int | str | None = None
    impossible: bool | None = None
    relative: bool | None = None

    def set(self) -> list[str]:
        """The names of the fields that are set."""
        return [name for name, value in zip(_NAMES, _values(self), strict=True) if value is not None]

    def has_date(self) -> bool:
        """Whether a day, week, month or year was said."""
        return _dates(self).count(None) < len(DATE_FIELDS)

    def has_time(self) -> bool:
        """Whether an hour of the day or a part of it was said."""
        return self.hour is not None or self.part is not None

    def copy(self, **changes: Any) -> Frame:
        """A copy with some fields changed."""
        new = Frame(*_values(self))
        for name, value in changes.items():
            setattr(new, name, value)
        return new


DATE_FIELDS = (
    "year", "month", "day", "quarter", "season", "week", "weekday", "date", "period", "exact", "holiday", "nth", "edge",
)  # fmt: skip
CLOCK_FIELDS = ("part", "hour", "minute", "second", "meridiem", "zone")
_FLAGS = frozenset({"relative", "lunar", "impossible", "meridiem", "edge_of"})
_NAMES = tuple(f.name for f in fields(Frame))
_values, _dates = attrgetter(*_NAMES), attrgetter(*DATE_FIELDS)

_APART: dict[str, frozenset[str]] = {
    "exact": frozenset(DATE_FIELDS) - {"date"} | {"part"},
    "date": frozenset({"month", "day", "quarter", "season", "week", "period", "holiday", "nth", "edge"}),
    "week": frozenset({"month", "quarter", "season", "date", "period", "holiday", "exact"}),
    "period": frozenset({"month", "day", "quarter", "date", "holiday", "season"}),
    "holiday": frozenset({"month", "day", "quarter", "season", "week", "date", "period", "nth"}),
    "quarter": frozenset({"month", "day", "season", "week", "date", "period", "holiday"}),
    "season": frozenset({"day", "quarter", "week", "date", "period", "holiday"}),
    "day": frozenset({"week", "date", "quarter", "season", "period", "holiday", "exact", "edge", "nth"}),
    "month": frozenset({"week", "date", "quarter", "period", "holiday", "exact"}),
    "nth": frozenset({"date", "day", "holiday", "week"}),
    "edge": frozenset({"date", "day", "exact", "nth"}),
}


def joined(left: Frame, right: Frame) -> Frame | None:
    """The frame that says both, or None where they contradict each other and so are two expressions."""
    mine, theirs = left.set(), right.set()
    if not mine:
        return right
    changes: dict[str, Any] = {}
    for name in theirs:
        value = getattr(right, name)
        if name in mine:
            if name not in _FLAGS or (name == "meridiem" and getattr(left, name) != value):
                return None
            continue
        apart = _APART.get(name)
        if apart and any(other in apart for other in mine):
            return None
        changes[name] = value
    if left.edge_of is not None and right.month is not None:
        return None
    both = left.copy(**changes)
    if both.exact is not None and (both.weekday is not None or (both.date is not None and not both.relative)):
        return None
    if both.has_time() and both.exact is None:
        if both.week is not None and both.weekday is None and both.edge is None:
            return None
        if both.month is not None and both.day is None and both.nth is None and not both.edge:
            return None
    return both
