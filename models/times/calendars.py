"""Calendars beside the Gregorian one: Chinese lunar dates, solar terms, Easter, Islamic and Hebrew dates.

The lunar table holds 1900-2100, six hexadecimal digits a year: days from 1 January to the lunar new year (bits 17-22),
the leap month or 0 (bits 13-16), and for each month in order whether it has 30 days (bits 12-0). It states astronomical
facts as published by the Purple Mountain and Hong Kong observatories. Other dates are computed.
"""

from __future__ import annotations

import math
from datetime import date, timedelta
from functools import lru_cache

_FIRST_YEAR = 1900
_LUNAR = (
    "3d096d62095c4c14ae38aa4d5c1a4c441b2a308d55560ad440135a2a495d50095c3ad49b60149a481a4a32baa55816a8"
    "421ad42c52da5212b63ee93764092e4c149636b64b5c0d4a460da82e95b556056c4012ae2c492f50092e3acc965e1a94"
    "481d4a32ada9580b5a44056c2e726e52125c3cf92d62192a4c1a9434db4a5a16aa460ad430955b5604ba40125a2a592b"
    "50152a38f6955e0d944816aa34aab55809b44214b62e6a57540a563d152a601d2a4c0d5436d5aa5a156a46096c3094ae"
    "5614ae400a4c287d264e1b2a3aeb555e0ad44812da34a95d5a095a42149a2c9a4d521a4a3d1aa56016a84a16d436d2da"
    "5c12b646093630949756149641564b640d4a4e0da838d5b45e156c4812ae34a92f5a092e440c962c6d4a501d4a3d0d65"
    "620b584a156c36b26d5c125c46192c2e9a95541a943e1b4a2a4b554e0ad438f55b6004ba4a125a32b92b58152a421694"
    "2c96aa5015aa3d2ab56209744c14b636ca575c0a56461526308e95540d543e15aa2a49b550096c38d4ae5e149c481a4c"
    "32bd26561aa6420b542c6d6a5212da3d695d62095a4c149a36da4b5a1a4a441aa42ebb545416b43e0ada2a495b500936"
    "3af4975e149648154a32b6a5580da44015b42c6ab652126e3f092f62092e4c0c9636cd4a5a1d4a440d642e956c54155c"
    "40125c28792e4e192c38fa955e1a94461b4a32ab55580ad44214da2c8a5d520a5a3d152b62152a4a169434d6aa5a15aa"
    "460ab42e94ba5414b6400a562a75274e0d2638ee535e0d544815aa32a9b558096c4214ae2e8a4e501a2c3b1d26601aa4"
    "4a1b5434cd6a5a0ada46095c30949d54145a3e1a2a285b254e1aa4"
)
SOLAR_TERMS = (
    "小寒", "大寒", "立春", "雨水", "惊蛰", "春分", "清明", "谷雨", "立夏", "小满", "芒种", "夏至",
    "小暑", "大暑", "立秋", "处暑", "白露", "秋分", "寒露", "霜降", "立冬", "小雪", "大雪", "冬至",
)  # fmt: skip
"""The 24 solar terms in the order of the year; term k begins where the sun's longitude is 285 + 15 k degrees."""


def lunar_months(year: int) -> list[tuple[int, bool, date, int]]:
    """The months of a lunar year as (number, is the leap one, first day, days). Empty outside 1900-2100."""
    index = year - _FIRST_YEAR
    if not 0 <= index < len(_LUNAR) // 6:
        return []
    bits = int(_LUNAR[index * 6 : index * 6 + 6], 16)
    leap = (bits >> 13) & 15
    first = date(year, 1, 1) + timedelta(days=bits >> 17)
    numbers = [(n, False) for n in range(1, 13)]
    if leap:
        numbers.insert(leap, (leap, True))
    months = []
    for place, (number, is_leap) in enumerate(numbers):
        days = 30 if bits >> (12 - place) & 1 else 29
        months.append((number, is_leap, first, days))
        first += timedelta(days=days)
    return months


def lunar_date(year: int, month: int, day: int, leap: bool = False) -> date | None:
    """The Gregorian date of a day of the Chinese lunar calendar, or None where that year has no such day."""
    for number, is_leap, first, days in lunar_months(year):
        if number == month and is_leap == leap:
            return first + timedelta(days=day - 1) if 1 <= day <= days else None
    return None


def lunar_year_end(year: int) -> date | None:
    """The last day of a lunar year (除夕)."""
    months = lunar_months(year)
    return months[-1][2] + timedelta(days=months[-1][3] - 1) if months else None


def lunar_year_of(day: date) -> int:
    """The lunar year in which a Gregorian day lies."""
    months = lunar_months(day.year)
    return day.year if not months or day >= months[0][2] else day.year - 1


@lru_cache(maxsize=512)
def solar_term(year: int, name: str) -> date:
    """The day (China time) on which a solar term falls: low-precision solar longitude (Meeus, ch. 25)."""
    index = SOLAR_TERMS.index(name)
    wanted = (285 + 15 * index) % 360
    moment = (date(year, 1, 1) - date(2000, 1, 1)).days - 0.5 + 5 + index * 15.2184
    for _ in range(6):
        gap = (wanted - _sun_longitude(moment) + 180) % 360 - 180
        moment += gap * 365.2422 / 360
    clock = 67.6 / 86400 if year > 1950 else 0.0
    return date(2000, 1, 1) + timedelta(days=math.floor(moment + 0.5 + 8 / 24 - clock))


def _sun_longitude(days: float) -> float:
    """Apparent longitude of the sun in degrees, `days` after 2000-01-01T12 (terrestrial time)."""
    t = days / 36525
    mean = 280.46646 + 36000.76983 * t + 0.0003032 * t * t
    anomaly = math.radians(357.52911 + 35999.05029 * t - 0.0001537 * t * t)
    centre = (1.914602 - 0.004817 * t) * math.sin(anomaly) + 0.019993 * math.sin(2 * anomaly)
    centre += 0.000289 * math.sin(3 * anomaly)
    node = math.radians(125.04 - 1934.136 * t)
    return (mean + centre - 0.00569 - 0.00478 * math.sin(node)) % 360


def easter(year: int) -> date:
    """Western Easter Sunday (the anonymous Gregorian algorithm)."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month, day = divmod(h + k - 7 * m + 114, 31)
    return date(year, month, day + 1)


def orthodox_easter(year: int) -> date:
    """Orthodox Easter Sunday in the Gregorian calendar (Meeus's Julian algorithm; valid 1900-2099)."""
    a, b, c = year % 4, year % 7, year % 19
    d = (19 * c + 15) % 30
    month, day = divmod(d + (2 * a + 4 * b - d + 34) % 7 + 114, 31)
    return date(year, month, day + 1) + timedelta(days=13)


def islamic_date(year: int, month: int, day: int) -> date:
    """A day of the tabular Islamic calendar (30-year cycle, civil epoch). Sightings may differ by a day."""
    days = day + math.ceil(29.5 * (month - 1)) + (year - 1) * 354 + (3 + 11 * year) // 30
    return date.fromordinal(227014 + days)


def hebrew_date(year: int, month: int, day: int) -> date:
    """The Gregorian day on whose evening a Hebrew day begins; Nisan is month 1, Tishri 7."""
    days = _hebrew_new_year(year) + day - 1
    first = 7
    last = 13 if _hebrew_leap(year) else 12
    order = [*range(first, last + 1), *range(1, first)]
    for number in order[: order.index(month)]:
        days += _hebrew_month_days(year, number)
    return date.fromordinal(days)


def _hebrew_leap(year: int) -> bool:
    return (7 * year + 1) % 19 < 7


@lru_cache(maxsize=256)
def _hebrew_elapsed(year: int) -> int:
    months = (235 * year - 234) // 19
    parts = 12084 + 13753 * months
    days = 29 * months + parts // 25920
    return days + 1 if 3 * (days + 1) % 7 < 3 else days


@lru_cache(maxsize=256)
def _hebrew_new_year(year: int) -> int:
    """The ordinal of 1 Tishri."""
    before, this, after = (_hebrew_elapsed(year + n) for n in (-1, 0, 1))
    delay = 2 if after - this == 356 else 1 if this - before == 382 else 0
    return this + delay - 1373428


def _hebrew_month_days(year: int, month: int) -> int:
    length = _hebrew_new_year(year + 1) - _hebrew_new_year(year)
    if month == 8:
        return 30 if length % 10 == 5 else 29
    if month == 9:
        return 29 if length % 10 == 3 else 30
    if month == 12:
        return 30 if _hebrew_leap(year) else 29
    return 29 if month in (2, 4, 6, 10, 13) else 30
