"""An expression as it is built, and where it lies: single places, ranges, limits, counted and corrected times.

Ranges borrow what one side leaves unsaid from the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from models.times.atoms import Clock, days_moved
from models.times.frame import DATE_FIELDS, Bias, Frame
from models.times.place import Placed, clock_of, place
from models.times.spans import month_span
from models.times.zones import Zone, minutes_east


@dataclass(slots=True)
class Piece:
    """One expression being built. `limit` is "before" or "after"; `known` a reading that needs no placing."""

    start: int
    end: int
    frame: Frame | None = None
    known: Placed | None = None
    until: Frame | None = None
    length: timedelta | None = None
    limit: str | None = None
    recurrence: str | None = None
    vague: bool = False
    bare: bool = False
    unit: str | None = None
    counted: object = None
    reach: int = 0


def placed(piece: Piece, clock: Clock, bias: Bias = None) -> Placed | None:
    """Where the piece lies; None where its words leave that open."""
    if piece.known is not None:
        found: Placed | None = piece.known
    elif piece.frame is None or piece.vague or piece.recurrence:
        return None
    elif piece.until is not None:
        found = _range(piece.frame, piece.until, clock, bias)
    else:
        found = place(piece.frame, clock.now, "future" if piece.limit == "before" and bias is None else bias)
        if found is not None and piece.frame.zone is not None and piece.frame.hour is not None:
            found = _in_zone(found, piece.frame.zone, clock)
    if found is not None and piece.counted is not None:
        found = _count(found, piece.counted)
    if found is not None and piece.length is not None:
        found = Placed(found.start, found.start + piece.length, found.grain)
    if found is not None and piece.limit:
        found = Placed(found.start, None, found.grain)
    return found


def _count(base: Placed, counted: object) -> Placed | None:
    """The week of a day, or so many units or weekdays from it."""
    day = base.start.date()
    if counted == "week":
        monday = day - timedelta(days=day.weekday())
        return span_placed((monday, monday + timedelta(days=7), "week"))
    assert isinstance(counted, tuple)
    if counted[0] == "first":
        return _first_units(base, int(counted[1]), str(counted[2]))
    amount, unit, sign = counted
    try:
        if unit in ("whole week", "whole month", "whole year", "weekend"):
            return _neighbour(day, unit, int(amount) * sign)
        if isinstance(unit, int):
            ahead = (sign * (unit - day.weekday())) % 7 or 7
            moved_to: date | None = day + sign * timedelta(days=ahead + 7 * (int(amount) - 1))
        elif unit in ("hour", "minute", "second"):
            moment = base.start + sign * timedelta(seconds=amount * {"hour": 3600, "minute": 60, "second": 1}[unit])
            return Placed(moment, None, unit)
        else:
            moved_to = days_moved(day, amount, unit, sign)
    except (OverflowError, ValueError):
        return None
    if moved_to is None:
        return None
    if base.end is None and base.grain in ("hour", "minute", "second"):
        return Placed(datetime.combine(moved_to, base.start.time()), None, base.grain)
    return span_placed((moved_to, moved_to + timedelta(days=1), "day"))


def _neighbour(day: date, unit: str, steps: int) -> Placed:
    """The week, month, year or weekend before or after the one that holds a day."""
    monday = day - timedelta(days=day.weekday())
    if unit == "weekend":
        saturday = monday + timedelta(days=5) + timedelta(weeks=steps if steps < 0 or day.weekday() > 4 else steps - 1)
        return span_placed((saturday, saturday + timedelta(days=2), "day"))
    if unit == "whole week":
        monday += timedelta(weeks=steps)
        return span_placed((monday, monday + timedelta(days=7), "week"))
    if unit == "whole month":
        return span_placed((*month_span(day.year, day.month + steps), "month"))
    return span_placed((date(day.year + steps, 1, 1), date(day.year + steps + 1, 1, 1), "year"))


def _first_units(base: Placed, amount: int, unit: str) -> Placed | None:
    """今年前五个月: a share from the beginning of the stated span."""
    if base.end is None or unit not in ("day", "week", "month", "quarter", "year"):
        return None
    end = days_moved(base.start.date(), amount, unit, 1)
    return Placed(base.start, datetime.combine(end, time()), unit) if end else None


def _in_zone(found: Placed, zone: Zone, clock: Clock) -> Placed:
    shift = timedelta(minutes=clock.offset - minutes_east(zone, found.start.date()))
    return Placed(found.start + shift, found.end + shift if found.end else None, found.grain)


def span_placed(value: tuple[object, ...]) -> Placed:
    """A stretch (first, end, unit) of days or instants."""
    first, end, grain = value[0], value[1], str(value[2])
    return Placed(_moment(first), _moment(end), "day" if grain == "workday" else grain)


def _moment(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    assert isinstance(value, date)
    return datetime.combine(value, time())


def _range(left: Frame, right: Frame, clock: Clock, bias: Bias) -> Placed | None:
    own_day = right.has_date()
    left, right = _borrowed(left, right)
    whole_week = bias is None and left.weekday is not None and right.weekday is not None
    start = place(left, clock.now, "now" if whole_week else bias)
    if start is None:
        return None
    open_hour = right.hour is not None and right.hour <= 12 and right.part is None and right.meridiem is None
    if open_hour and not own_day:
        end = _next_reading(right, start.start, clock)
    elif right.weekday is not None and right.week is None and left.weekday not in (None, right.weekday):
        ahead = (right.weekday - left.weekday) % 7 or 7
        end = place(right.copy(weekday=None, date=start.start.date() + timedelta(days=ahead)), clock.now)
    else:
        end = place(right, clock.now, bias)
    if end is None:
        return None
    finish = end.end or end.start
    if finish <= start.start:
        finish = _after(start.start, end, right)
    if left.zone is not None or right.zone is not None:
        zone = left.zone if left.zone is not None else right.zone
        shift = timedelta(minutes=clock.offset - minutes_east(zone or 0, start.start.date()))
        return Placed(start.start + shift, finish + shift, end.grain)
    order = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    grain = max((start.grain, end.grain), key=order.index)
    return Placed(start.start, finish, grain) if finish > start.start else None


def _next_reading(right: Frame, start: datetime, clock: Clock) -> Placed | None:
    """An hour that may be before or after noon: the first such time after the start."""
    clock_only = Frame(hour=right.hour, minute=right.minute, second=right.second, meridiem="am", date=start.date())
    morning = place(clock_only, clock.now)
    if morning is None:
        return None
    moment = morning.start
    for _ in range(3):
        if moment > start:
            break
        moment += timedelta(hours=12)
    return Placed(moment, None, morning.grain)


def _after(start: datetime, end: Placed, right: Frame) -> datetime:
    """The end moved on to where it follows the start: half a day, a day, or a year later."""
    finish = end.end or end.start
    if right.hour is not None:
        return finish + timedelta(days=1)
    if right.year is None and right.month is not None:
        return finish.replace(year=finish.year + 1)
    return finish


def _borrowed(left: Frame, right: Frame) -> tuple[Frame, Frame]:
    """Each side with what only the other says: 1月3日到8日, 13 to 15 July, 3 to 5pm tomorrow."""
    if not right.has_date() and left.has_date():
        right = right.copy(
            **{name: getattr(left, name) for name in DATE_FIELDS}, edge_of=left.edge_of, relative=left.relative
        )
    elif not left.has_date() and right.has_date() and left.has_time():
        left = left.copy(**{name: getattr(right, name) for name in DATE_FIELDS})
    else:
        left, right = _borrow_calendar(left, right)
    open_left = left.meridiem is None and left.part is None and left.hour is not None and left.hour <= 12
    if open_left and right.hour is not None and (right.meridiem or right.part):
        left = _borrow_noon(left, right)
    if right.zone is not None and left.zone is None and left.hour is not None:
        left = left.copy(zone=right.zone)
    return left, right


def _borrow_calendar(left: Frame, right: Frame) -> tuple[Frame, Frame]:
    whole = right.date is None and right.week is None and right.period is None and right.holiday is None
    if whole and right.month is None and right.day is not None and left.month is not None:
        right = right.copy(month=left.month, year=right.year if right.year is not None else left.year)
    if whole and right.month is None and right.day is None and right.nth is not None and left.month is not None:
        right = right.copy(month=left.month, year=left.year)
    if whole and right.month is None and right.edge is not None and right.edge_of == "month" and left.month is not None:
        right = right.copy(month=left.month, year=left.year)
    if left.day is not None and left.month is None and right.month is not None:
        left = left.copy(month=right.month, year=right.year)
    if left.month is not None and left.year is None and right.year is not None and right.month is not None:
        over = left.month > right.month
        left = left.copy(year=right.year - 1 if over else right.year)
    if whole and right.year is None and left.year is not None and right.weekday is None:
        same = right.month is not None or right.quarter is not None
        if same and right.month is not None and left.month is not None and right.month < left.month:
            right = right.copy(year=left.year + 1)
        elif same:
            right = right.copy(year=left.year)
    if left.week is not None and right.weekday is not None and right.week is None:
        right = right.copy(week=left.week)
    if left.lunar and right.lunar is None and right.day is not None:
        right = right.copy(lunar=True)
    return left, right


def _borrow_noon(left: Frame, right: Frame) -> Frame:
    """ "3 to 5pm": the start takes the end's half of the day unless that would put it after the end."""
    try:
        candidate = left.copy(meridiem=right.meridiem, part=right.part)
        first, last = clock_of(candidate), clock_of(right)
    except ValueError:
        return left
    if first and last and first < last:
        return candidate
    return left.copy(meridiem="am" if (left.hour or 0) < 12 else "pm")


def leans(piece: Piece) -> bool:
    """Whether the tense of the sentence could tell where the piece lies: its year, month, week or day is not said."""
    frame = piece.frame
    if frame is None or piece.known is not None or piece.recurrence is not None:
        return False
    return frame.year is None and frame.date is None and frame.week is None and frame.exact is None
