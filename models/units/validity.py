"""How long a unit holds (V1): permanent, periodic with a cycle pattern, or transient with an effective window."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from models.prefilter import Named
from models.records import TimeExpression, UnitType, Validity

_LASTING = frozenset({"preference", "identity", "constraint", "rule", "correction", "fact"})
_DAYS_ZH = {"一": "monday", "二": "tuesday", "三": "wednesday", "四": "thursday", "五": "friday", "六": "saturday", "日": "sunday", "天": "sunday"}  # fmt: skip
_WEEKDAY_ZH = re.compile(r"(?:每个?|逢)(?:周|星期|礼拜)([一二三四五六日天])")
_WEEKDAY_EN = re.compile(
    r"(?i)\bevery (mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(mon|tues|wednes|thurs|fri|satur|sun)days\b"
)
_CYCLES = (
    ("every_weekend", r"每个?周末|every weekend|weekends\b"),
    ("every_workday", r"每个?工作日|every (?:work ?day|weekday)|weekdays\b"),
    ("every_month_end", r"每个?月(?:底|末)|月底都|(?:at|by) the end of (?:each|every) month|every month[- ]end"),
    ("every_month_start", r"每个?月初|(?:start|beginning) of (?:each|every) month"),
    ("every_quarter", r"每个?季度|every quarter|quarterly\b"),
    ("every_spring", r"每年春[天季]?|每个春天|every spring"),
    ("every_summer", r"每年(?:夏[天季]?|暑假)|每个(?:夏天|暑假)|every summer"),
    ("every_autumn", r"每年秋[天季]?|每个秋天|every (?:autumn|fall)"),
    ("every_winter", r"每年(?:冬[天季]?|寒假)|每个(?:冬天|寒假)|every winter"),
    ("during_promotion", r"(?:促销|大促|活动|双十一|618)期间|during (?:the )?(?:sale|promotion)"),
    ("every_day", r"每天|每日|每晚|每早|天天|every ?day\b|every (?:morning|evening|night)|daily\b"),
    ("every_week", r"每(?:个?星期|周|个?礼拜)|every week\b|weekly\b|(?:once|twice) a week"),
    ("every_month", r"每个?月|every month|monthly\b|(?:once|twice) a month"),
    ("every_year", r"每年|年年|every year|yearly\b|annual(?:ly)?\b|once a year"),
)  # fmt: skip
_COMPILED = tuple((name, re.compile(source, re.IGNORECASE)) for name, source in _CYCLES)
_LENGTH = re.compile(
    r"(?i)(?:预计|大约|约|还要|需要|持续|停|封|关|延误|推迟|为期|for|about|another|lasts?)[^，。,.]{0,6}?(\d{1,3}|[一二两三四五六七八九十]|two|three|four|five|a|an|one)\s*个?(小时|天|周|星期|hours?|days?|weeks?)"
)
_NUMBERS = {ch: i for i, ch in enumerate("零一二三四五六七八九十")} | {"两": 2, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}  # fmt: skip


@lru_cache(maxsize=1)
def _cycles() -> Named:
    return Named({**dict(_COMPILED), "weekday_zh": _WEEKDAY_ZH, "weekday_en": _WEEKDAY_EN})


def cycle_pattern(flat: str, times: Sequence[TimeExpression]) -> str | None:
    """The cycle that a text names: the time reader's, else by words.

    >>> cycle_pattern("every summer we go camping", ())
    'every_summer'
    """
    for time in times:
        if time.recurrence:
            return time.recurrence
    possible = _cycles().possible(flat)
    if not possible:
        return None
    weekday = _WEEKDAY_ZH.search(flat)
    if weekday:
        return f"every_{_DAYS_ZH[weekday[1]]}"
    weekday = _WEEKDAY_EN.search(flat)
    if weekday:
        return f"every_{(weekday[1] or weekday[2]).lower()}day"
    return next((name for name, pattern in _COMPILED if name in possible and pattern.search(flat)), None)


def read_validity(
    flat: str, kind: UnitType, cues: frozenset[str], times: Sequence[TimeExpression], said_at: datetime | None
) -> Validity:
    """The validity of a unit said at `said_at`. A window is set only from what was said: unknown ends stay open."""
    cycle = cycle_pattern(flat, times)
    if cycle is not None and kind not in ("question", "action_request"):
        return Validity(type="periodic", effective_from=said_at, cycle_pattern=cycle, last_verified=said_at)
    if (
        "standing" in cues
        or (kind in _LASTING and "transient" not in cues)
        or kind in ("preference", "identity", "rule")
    ):
        return Validity(type="permanent", effective_from=said_at, last_verified=said_at)
    if kind in ("decision", "event", "refusal") and not ({"hold", "transient"} & cues):
        return Validity(type="permanent", effective_from=said_at, last_verified=said_at)
    start, end = _window(flat, times, said_at)
    return Validity(type="transient", effective_from=start, effective_to=end, last_verified=said_at)


def _window(
    flat: str, times: Sequence[TimeExpression], said_at: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """From when until when a passing state holds: a stated length, else the latest end among its times."""
    if said_at is None:
        return None, None
    length = _LENGTH.search(flat)
    if length:
        word = length[1].lower()
        number = int(word) if word.isdigit() else _NUMBERS.get(word, 1)
        unit = length[2].lower()
        hours = 1 if unit.startswith(("小时", "hour")) else 24 if unit.startswith(("天", "day")) else 168
        return said_at, said_at + timedelta(hours=number * hours)
    ends = [_parse(time.end_time or time.normalized_time) for time in times]
    later = [end for end in ends if end is not None and end > said_at]
    return said_at, max(later, default=None)


def _parse(value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
