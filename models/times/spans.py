"""Stretches of days: months, years, the parts of them, and the n-th week or weekday inside."""

from __future__ import annotations

from datetime import date, timedelta

DAY = timedelta(days=1)
Span = tuple[date, date, str]
"""First day, the day after the last, and the grain that was said."""


def month_span(year: int, month: int) -> tuple[date, date]:
    """First day of a month and of the next one; months may run over the year."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the last of that month where it is shorter."""
    first, after = month_span(day.year, day.month + months)
    return min(first + timedelta(days=day.day - 1), after - DAY)


def year_span(year: int) -> tuple[date, date]:
    """First day of a year and of the next."""
    return date(year, 1, 1), date(year + 1, 1, 1)


def edge_of(span: Span, edge: str | None) -> Span | None:
    """Beginning, middle, end, ten-day part or half of a span. An end is its last day."""
    first, after, grain = span
    edge = edge or ""
    length = (after - first).days
    if length > 366:
        return _third(first, after, edge)
    if edge == "end":
        return after - DAY, after, "day"
    if edge == "start":
        return first, first + timedelta(days=max(1, round(length / 3 if grain != "year" else 31))), "day"
    if edge in ("early", "late", "half1", "half2", "mid"):
        return _share(first, after, grain, edge)
    if edge.startswith("xun"):
        place_of = int(edge[3:]) - 1
        until = after if place_of == 2 else first + timedelta(days=10 * place_of + 10)
        return first + timedelta(days=10 * place_of), until, "day"
    if edge == "weekend":
        return None
    return None


def _third(first: date, after: date, edge: str) -> Span:
    """The beginning, middle or end of a decade or century: a third of it."""
    years = after.year - first.year
    low, high = first.year + round(years / 3), first.year + round(2 * years / 3)
    if edge in ("start", "early", "half1"):
        return first, date(low, 1, 1), "year"
    if edge == "mid":
        return date(low, 1, 1), date(high, 1, 1), "year"
    return date(high, 1, 1), after, "year"


def _share(first: date, after: date, grain: str, edge: str) -> Span:
    if grain == "year":
        half = add_months(first, 6)
        if edge == "mid":
            return add_months(first, 5), add_months(first, 7), "month"
        return (first, half, "month") if edge in ("early", "half1") else (half, after, "month")
    if grain == "quarter":
        half = add_months(first, 1)
        if edge == "mid":
            return half, add_months(first, 2), "month"
        return (first, half, "month") if edge in ("early", "half1") else (add_months(first, 2), after, "month")
    if grain == "month":
        if edge == "mid":
            return first + 10 * DAY, first + 20 * DAY, "day"
        half = first + 15 * DAY
        return (first, half, "day") if edge in ("early", "half1") else (half, after, "day")
    if edge == "mid":
        return first + 2 * DAY, first + 4 * DAY, "day"
    return (first, first + 3 * DAY, "day") if edge in ("early", "half1") else (first + 3 * DAY, after, "day")


def nth_in(first: date, after: date, number: int, kind: str | int) -> Span | None:
    """The number-th day, working day, weekday, week or weekend of a span (from its end where negative).

    A first week begins on the first Monday inside; a last week is the last one whose Thursday lies inside.
    """
    if kind == "day":
        day = first + timedelta(days=number - 1) if number > 0 else after + timedelta(days=number)
        return (day, day + DAY, "day") if first <= day < after else None
    if kind == "workday":
        days = (first + timedelta(days=at) for at in range((after - first).days))
        working = [day for day in days if day.weekday() < 5]
        found = working[number - 1 : number] if number > 0 else working[number:][:1] if -number <= len(working) else []
        return (found[0], found[0] + DAY, "day") if found else None
    if kind in ("month", "quarter"):
        return _nth_months(first, after, number, 1 if kind == "month" else 3, kind)
    weekday = {"week": 0, "weekend": 5}.get(str(kind), kind if isinstance(kind, int) else 0)
    if number > 0:
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    elif kind == "week":
        thursday = after - timedelta(days=(after.weekday() - 4) % 7 + 1)
        day = thursday - timedelta(days=3 + 7 * (-number - 1))
    else:
        last = after - timedelta(days=(after.weekday() - weekday - 1) % 7 + 1)
        day = last - timedelta(days=7 * (-number - 1))
    if kind == "week":
        return day, day + 7 * DAY, "week"
    if not first <= day < after:
        return None
    return (day, day + 2 * DAY, "day") if kind == "weekend" else (day, day + DAY, "day")


def _nth_months(first: date, after: date, number: int, months: int, kind: str) -> Span | None:
    """The number-th month or quarter of a year or quarter."""
    start = add_months(first, months * (number - 1)) if number > 0 else add_months(after, months * number)
    end = add_months(start, months)
    return (start, end, kind) if first <= start and end <= after else None
