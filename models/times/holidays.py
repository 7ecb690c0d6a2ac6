"""Public, religious and popular holidays: their names in both languages and the days on which they fall.

``models/lexicons/holidays.toml`` lists them; a rule is one of ``12-25``, ``lunar 8-15``, ``lunar-end`` (the eve of that
year's lunar new year), ``lunar-last`` (the last day of that lunar year), ``term 清明``,
``easter+1``, ``orthodox-2``, ``11 thu 4`` (fourth Thursday of November; ``5 mon -1`` the last), ``4 wed week -1``,
``islamic 10-1``, ``hebrew 1-15``, each with ``+N`` days added and ``*N`` for N days in a row.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache

from models.errors import ResourceError
from models.lexicons import load_lexicon
from models.times import calendars

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SHIFTED = re.compile(r"^(?P<core>.+?)(?:\s\+\s(?P<add>-?\d+))?(?:\s\*\s(?P<days>\d+))?$")


@lru_cache(maxsize=1)
def holiday_rules() -> dict[str, str]:
    """Rule of each holiday by its key."""
    return {key: str(entry["rule"]) for key, entry in load_lexicon("holidays.toml").items()}


@lru_cache(maxsize=2)
def holiday_names(lang: str) -> dict[str, str]:
    """Key of each holiday by its names in a language (English ones in lower case)."""
    names: dict[str, str] = {}
    for key, entry in load_lexicon("holidays.toml").items():
        for name in entry.get(lang, []):
            names[name] = key
    return names


@lru_cache(maxsize=4096)
def holiday_span(key: str, year: int) -> tuple[date, date] | None:
    """First day and the day after the last of a holiday in a Gregorian year; None where it cannot be worked out."""
    found = _SHIFTED.match(holiday_rules()[key])
    if not found:
        raise ResourceError(f"holidays.toml: {key}: rule not understood")
    day = _day(key, found["core"], year)
    if day is None:
        return None
    day += timedelta(days=int(found["add"] or 0))
    return day, day + timedelta(days=int(found["days"] or 1))


def _day(key: str, rule: str, year: int) -> date | None:
    word, _, rest = rule.partition(" ")
    if word == "easter":
        return calendars.easter(year)
    if word == "orthodox":
        return calendars.orthodox_easter(year)
    if word == "lunar-end":
        return calendars.lunar_year_end(year - 1)
    if word == "lunar-last":
        return calendars.lunar_year_end(year)
    if word == "term":
        return calendars.solar_term(year, rest)
    if word in ("lunar", "islamic", "hebrew"):
        month, day = (int(part) for part in rest.split("-"))
        return _foreign(word, month, day, year)
    if word == "every4":
        return _day(key, rest, year) if year % 4 == 0 else None
    if re.fullmatch(r"\d+-\d+", rule):
        month, day = (int(part) for part in rule.split("-"))
        return date(year, month, day) if (month, day) != (2, 29) or year % 4 == 0 else None
    parts = rule.split()
    if len(parts) == 3 and parts[1] in _WEEKDAYS:
        return _weekday_in(year, int(parts[0]), _WEEKDAYS.index(parts[1]), int(parts[2]))
    raise ResourceError(f"holidays.toml: {key}: rule not understood: {rule}")


def _weekday_in(year: int, month: int, weekday: int, number: int) -> date:
    first = date(year, month, 1)
    after = date(year + month // 12, month % 12 + 1, 1)
    if number > 0:
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    return after - timedelta(days=(after.weekday() - weekday - 1) % 7 + 1 + 7 * (-number - 1))


def _foreign(calendar: str, month: int, day: int, year: int) -> date | None:
    """The day of another calendar that falls in a Gregorian year (the first, if two do)."""
    if calendar == "lunar":
        tries = [calendars.lunar_date(y, month, day) for y in (year - 1, year)]
    elif calendar == "islamic":
        guess = int((year - 622) * 33 / 32)
        tries = [calendars.islamic_date(y, month, day) for y in range(guess - 1, guess + 3)]
    else:
        tries = [calendars.hebrew_date(y, month, day) for y in (year + 3760, year + 3761)]
    return min((d for d in tries if d and d.year == year), default=None)
