"""Recurrences and the small language of their patterns.

``every_`` and then one of: a unit or number of units (``day``, ``week``, ``3_days``, ``2_weeks``), a weekday
(``monday``), ``weekend``, ``workday``, a place in the month (``month_15``, ``month_start``, ``month_end``,
``month_last_friday``, ``month_2nd_monday``), in the quarter or year (``quarter_end``, ``year_03-15``, ``year_march``,
``year_spring``, ``year_start``, ``year_end``, ``year_christmas``); then, where said, ``_morning`` (or another part of
the day), ``_09:30`` or ``_20:00-22:00``. Two weekdays are joined: ``every_tuesday_thursday``.
"""

from __future__ import annotations

from models.times.frame import DATE_FIELDS, Frame
from models.times.place import clock_of

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ORDER = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th", -1: "last", -2: "2nd_last"}


def pattern_of(frame: Frame | None, unit: str | None = None, count: int = 1) -> str:
    """The pattern of "every `count` `unit`" with what `frame` adds: part, hour, weekday, day of the month."""
    core = _core(frame, unit, count)
    return f"every_{core}{_clock(frame)}"


_INSIDE = {
    "every_week": {"weekday"}, "every_month": {"day", "nth", "edge"}, "every_year": {"month", "day", "holiday", "season"}, "every_day": set(),
}  # fmt: skip


def within(pattern: str | None, frame: Frame) -> str | None:
    """The pattern of "weekly" with the day that follows ("on Mondays"); None where the two do not go together."""
    inside = _INSIDE.get(pattern or "")
    said = {name for name in frame.set() if name in DATE_FIELDS}
    if inside is None or not said <= inside:
        return None
    return pattern_of(frame, (pattern or "").removeprefix("every_"))


def _core(frame: Frame | None, unit: str | None, count: int) -> str:
    if frame is None:
        return _counted(unit or "day", count)
    if frame.holiday is not None:
        return f"year_{frame.holiday}"
    if frame.month is not None and frame.day is not None:
        return f"year_{frame.month:02d}-{frame.day:02d}"
    if frame.month is not None:
        return f"year_{MONTHS[frame.month - 1]}" + (f"_{frame.edge}" if frame.edge else "")
    if frame.season is not None:
        return f"year_{frame.season}"
    if frame.edge == "weekend":
        return "weekend" if count == 1 else f"{count}_weeks_weekend"
    if frame.edge is not None:
        return f"{unit or frame.edge_of or 'month'}_{frame.edge}"
    if frame.nth is not None:
        number, kind = frame.nth
        name = WEEKDAYS[kind] if isinstance(kind, int) else kind
        if kind == "day":
            return f"{unit or 'month'}_end" if number == -1 else f"{unit or 'month'}_{number}"
        return f"{unit or 'month'}_{_ORDER.get(number, f'{number}th')}_{name}"
    if frame.day is not None:
        return f"month_{frame.day}"
    if frame.weekday is not None:
        day = WEEKDAYS[frame.weekday]
        return day if count == 1 else f"{count}_weeks_{day}"
    return _counted(unit or "day", count)


def _counted(unit: str, count: int) -> str:
    return unit if count == 1 else f"{count}_{unit}s"


def clock_word(frame: Frame) -> str:
    """The hour and minute that a frame says, as 09:30."""
    try:
        clock = clock_of(frame)
    except ValueError:
        return ""
    return f"{clock[0] % 24:02d}:{clock[1]:02d}" if clock else ""


def _clock(frame: Frame | None) -> str:
    if frame is None:
        return ""
    if frame.hour is not None:
        said = clock_word(frame)
        return f"_{said}" if said else ""
    return f"_{frame.part}" if frame.part else ""
