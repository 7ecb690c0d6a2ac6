"""Time expressions, normalised against the clock of the utterance (I4): ``find_times``.

Own grammars for Chinese and English; the tables that users may extend lie in ``models/lexicons``. What the words leave
open stays null; nothing is read from the wall clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from models.context import Turn
from models.records import TimeExpression
from models.text import narrow, simplify
from models.times.assemble import Piece, placed
from models.times.atoms import Clock
from models.times.chinese import chinese_bias, find_chinese
from models.times.english import english_bias, find_english
from models.times.place import Placed

Reading = tuple[Piece, Placed | None]

LONGEST = 20_000
"""Characters that are read; an utterance is never longer."""

_LATIN = re.compile("[A-Za-z]{2}")
_HAN = re.compile("[\u3400-\u9fff]")


def find_times(text: str, now: datetime, lang: str | None = None, context: Sequence[Turn] = ()) -> list[TimeExpression]:
    """The time expressions of `text`, by place.

    `now` is the utterance's own instant with its zone; `lang` a hint ("zh", "en"); `context` the earlier turns, against
    whose times a correction ("改到周四", "an hour later") is read. Raises ValueError where `now` has no zone.
    """
    if now.tzinfo is None:
        raise ValueError("`now` must carry a zone")
    text = text[:LONGEST]
    local = now.replace(tzinfo=None)
    offset = now.utcoffset() or timedelta()
    clock = Clock(local, round(offset.total_seconds() / 60))
    plain = simplify(narrow(text))
    found: list[Reading] = []
    if lang == "zh" or _HAN.search(plain):
        found += [(p, placed(p, clock, chinese_bias(plain, p))) for p in find_chinese(plain, clock)]
    if _LATIN.search(plain) or not found:
        english = [(p, placed(p, clock, english_bias(plain, p))) for p in find_english(plain, clock)]
        found = _together(found, english)
    return [_expression(text, piece, reading, now) for piece, reading in found]


def _together(first: list[Reading], second: list[Reading]) -> list[Reading]:
    """Both languages' expressions; where two overlap, the longer one."""
    if not first or not second:
        return first or second
    kept: list[Reading] = []
    for piece, reading in sorted([*first, *second], key=lambda r: (r[0].start - r[0].end, r[0].start)):
        if all(piece.end <= other.start or piece.start >= other.end for other, _ in kept):
            kept.append((piece, reading))
    return sorted(kept, key=lambda r: r[0].start)


def _expression(text: str, piece: Piece, reading: Placed | None, now: datetime) -> TimeExpression:
    return TimeExpression(
        original_form=text[piece.start : piece.end],
        start=piece.start,
        end=piece.end,
        normalized_time=_written(reading.start, now) if reading else None,
        end_time=_written(reading.end, now) if reading and reading.end else None,
        grain=reading.grain if reading else None,
        recurrence=piece.recurrence,
        relative_base=now.isoformat(),
    )


def _written(moment: datetime, now: datetime) -> str:
    """RFC 3339 in the zone of `now`; a wall time that daylight saving leaps over becomes the one an hour on."""
    aware = moment.replace(tzinfo=now.tzinfo)
    return (
        aware.astimezone(UTC).astimezone(now.tzinfo).isoformat(timespec="seconds" if not moment.microsecond else "auto")
    )
