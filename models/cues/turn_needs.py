"""What a turn asks memory for, besides its words: a promise, an earlier trouble, a time, a ritual (R1, R2, R6)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from models.lexicons import load_lexicon
from models.records import Affect, TimeExpression

READ = 2000
"""Characters of a turn that are read for these words."""

SHORT = 12
"""Letters and digits up to which a turn is a look-up ("ERR_7741_QX"), not a remark."""

_YEAR = re.compile(r"\d{4}|[一二三四五六七八九零〇]{4}年|今年|去年|明年|前年|year", re.IGNORECASE)
_DATED = frozenset({"day", "week", "weekend", "month", "quarter", "season"})
_GRAIN_HOURS = {"day": 24.0, "week": 168.0, "weekend": 48.0, "month": 730.5, "quarter": 2191.5, "season": 2191.5}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Window(Struct, frozen=True):
    """A stretch of time that the turn names, in hours since 1970; `sharp` is 1 for a day and less for a month."""

    start: float
    end: float
    sharp: float


class TurnNeeds(Struct, frozen=True):
    """`kinds` of unit it calls for (`lasting`: preference, constraint, identity), `answers`: place, time, number, person.

    `asking`: a question, a request or a look-up, not a remark. `pressing` 0..1: how far the causal terms should speak up against plain relevance."""

    asking: bool
    promise: bool
    trouble: bool
    kinds: tuple[str, ...]
    answers: tuple[str, ...]
    windows: tuple[Window, ...]
    cycles: tuple[str, ...]
    pressing: float


def read_needs(turn: Affect) -> TurnNeeds:
    """The turn's needs, from its words, its time expressions and its affect."""
    text = turn.resolved_text[:READ]
    promise = _matches("promises", text)
    trouble = _matches("troubles", text) or turn.recurring
    troubled = trouble and (
        turn.intent.label == "challenge" or turn.emotion.label not in ("calm", "joy", "gratitude", "surprise")
    )
    pressing = 1.0 if promise or troubled else 0.5 if trouble or turn.load.stress >= 0.6 else 0.0
    short = sum(character.isalnum() for character in text) <= SHORT
    asks = turn.intent.label in ("request", "clarify") or _matches("questions", text) or _matches("requests", text)
    return TurnNeeds(
        asking=short or asks,
        promise=promise,
        trouble=trouble,
        kinds=_named("kinds", text) if asks else (),
        answers=_named("answers", text) if asks else (),
        windows=tuple(windows(turn.times, turn.ts)),
        cycles=cycles_named(text, turn.ts),
        pressing=pressing,
    )


def windows(times: list[TimeExpression], now: datetime) -> list[Window]:
    """The dated stretches among the times of a turn; a day and month without a year is also looked for in the past."""
    out: list[Window] = []
    for time in times:
        if time.normalized_time is None or time.grain not in _DATED or time.recurrence:
            continue
        try:
            start = datetime.fromisoformat(time.normalized_time)
            end = datetime.fromisoformat(time.end_time) if time.end_time else None
            length = (end - start) / timedelta(hours=1) if end else _GRAIN_HOURS[time.grain]
            starts = [start]
            if start > now and time.grain != "week" and not _YEAR.search(time.original_form):
                starts.append(start.replace(year=start.year - 1))
        except ValueError:
            continue
        sharp = 1.0 if length <= 49 else 0.8 if length <= 24 * 8 else 0.6 if length <= 24 * 32 else 0.4
        out.extend(Window(first.timestamp() / 3600.0, first.timestamp() / 3600.0 + length, sharp) for first in starts)
    return out


def cycles_named(text: str, now: datetime) -> tuple[str, ...]:
    """The cycle patterns whose words the text holds ("又到周五了" names every_friday), and that of a named weekend's day."""
    named = list(_named("cycles", text))
    today = f"every_{_WEEKDAYS[now.weekday()]}"
    if today not in named and _today().search(text):
        named.append(today)
    return tuple(named)


def _matches(name: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _patterns(name))


@lru_cache(maxsize=8)
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(item, re.IGNORECASE) for item in load_lexicon("recall_words.toml")[name])


def _named(table: str, text: str) -> tuple[str, ...]:
    """The names of a table of patterns that the text holds."""
    return tuple(name for name, pattern in _table(table) if pattern.search(text))


@lru_cache(maxsize=8)
def _table(name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = load_lexicon("recall_words.toml")[name]
    return tuple((key, re.compile(pattern, re.IGNORECASE)) for key, pattern in table.items())


@lru_cache(maxsize=1)
def _today() -> re.Pattern[str]:
    return re.compile(r"今天|今晚|今日|\btoday\b|\btonight\b", re.IGNORECASE)
