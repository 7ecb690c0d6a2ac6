"""Time expressions, normalised against the clock of the utterance (I4): ``find_times``.

Own grammars for Chinese and English, `dateparser` for other languages; the tables that users may extend lie in ``models/lexicons``. What the words leave
open stays null; nothing is read from the wall clock.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from msgspec import structs

from models.context import Turn
from models.records import TimeExpression
from models.text import narrow, simplify
from models.times.atoms import Clock
from models.times.chinese import chinese_bias, find_chinese
from models.times.correction import corrects, find_event, may_shift, merged, moved_to, shifted, shifts_in
from models.times.english import english_bias, find_english
from models.times.english_clock import amount_of
from models.times.english_fragments import AMOUNT, UNIT
from models.times.english_tables import UNIT_WORDS
from models.times.frame import Frame, joined
from models.times.other import find_other
from models.times.pieces import Piece, placed
from models.times.place import Placed
from models.times.recurrence import within

Reading = tuple[Piece, Placed | None]

LONGEST = 20_000
"""Characters that are read; an utterance is never longer."""

MOST = 60
"""Expressions of a text that are placed, in each language: a pasted table must not take long."""

_LATIN = re.compile("[A-Za-z]{2}")
_SEAM = re.compile(r"\s?(?:的|at|,|，)?\s?")
_AFTER_NOW = re.compile(rf"({AMOUNT})\s({UNIT})\s(later|earlier)")
_BREAK = re.compile(r"[。！？!?;；\n]|\.\s|.{41}")
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
    clock = Clock(local, round(offset.total_seconds() / 60), now.tzinfo)
    plain = simplify(narrow(text))
    if lang not in (None, "zh", "en") and not _HAN.search(plain):
        return find_other(plain, now, lang)
    found: list[Reading] = []
    if lang == "zh" or _HAN.search(plain):
        found += [(p, placed(p, clock, chinese_bias(plain, p))) for p in find_chinese(plain, clock)[:MOST]]
    if _LATIN.search(plain) or not found:
        english = [(p, placed(p, clock, english_bias(plain, p))) for p in find_english(plain, clock)[:MOST]]
        found = _together(found, english)
    found = _carried(_stitched(found, plain, clock), plain, clock)
    if context and corrects(plain):
        found = _corrected(found, plain, now, clock, context)
    return [_expression(text, piece, reading, now) for piece, reading in found]


def _stitched(found: list[Reading], text: str, clock: Clock) -> list[Reading]:
    """Neighbours of different languages that make one expression: "next Friday 下午3点"."""
    whole: list[Reading] = []
    for piece, reading in found:
        last = whole[-1][0] if whole else None
        if last is not None and last.recurrence and _plain(piece) and _SEAM.fullmatch(text[last.end : piece.start]):
            cycle = within(last.recurrence, piece.frame) if piece.frame else None
            if cycle is not None:
                whole[-1] = (Piece(last.start, piece.end, Frame(), recurrence=cycle), None)
                continue
        if last is not None and _plain(last) and _plain(piece) and _SEAM.fullmatch(text[last.end : piece.start]):
            both = joined(last.frame, piece.frame) if last.frame and piece.frame else None
            if both is not None:
                one = Piece(last.start, piece.end, both)
                whole[-1] = (one, placed(one, clock))
                continue
        whole.append((piece, reading))
    return whole


def _carried(found: list[Reading], text: str, clock: Clock) -> list[Reading]:
    """Hours said after a day in the same sentence are hours of that day: "3月5日20:40，通话至20:43"."""
    if len(found) < 2:
        return found
    carried: list[Reading] = []
    day: Reading | None = None
    for piece, reading in found:
        frame = piece.frame
        if frame is not None and frame.has_date():
            day = (piece, reading) if _is_day(piece, reading) else None
        elif day is not None and frame is not None and frame.hour is not None and _plain(replace(piece, limit=None)):
            gap, said = text[day[0].end : piece.start], day[1]
            if said is not None and _BREAK.search(gap) is None:
                dated = _same_half(frame, carried[-1][0].frame).copy(date=said.start.date())
                piece = replace(piece, frame=dated)
                reading = placed(piece, clock)
        carried.append((piece, reading))
    return carried


def _is_day(piece: Piece, reading: Placed | None) -> bool:
    if reading is None or piece.limit or piece.recurrence or piece.until:
        return False
    return reading.grain in ("day", "hour", "minute", "second") and piece.unit not in ("hour", "minute", "second")


def _same_half(frame: Frame, before: Frame | None) -> Frame:
    """明天下午三点到，四点走: an hour without a part of the day keeps the one said before, where that moves time on."""
    if (
        before is None
        or before.part is None
        or before.hour is None
        or frame.part
        or frame.meridiem
        or frame.hour is None
    ):
        return frame
    return frame.copy(part=before.part) if frame.hour >= before.hour % 12 else frame


def _plain(piece: Piece) -> bool:
    """Whether the piece is a point that nothing was done to yet."""
    return piece.frame is not None and not (
        piece.until or piece.limit or piece.recurrence or piece.counted or piece.length
    )


def _corrected(found: list[Reading], text: str, now: datetime, clock: Clock, context: Sequence[Turn]) -> list[Reading]:
    """The readings with corrections of earlier turns' times taken in."""
    moving = [index for index, (piece, _) in enumerate(found) if moved_to(text, piece)]
    later = [(index, _AFTER_NOW.fullmatch(text[p.start : p.end].lower())) for index, (p, _) in enumerate(found)]
    if not moving and not any(match for _, match in later) and not may_shift(text):
        return found

    known: list[Turn] = []
    for turn in context:
        times = turn.times or find_times(turn.text, turn.ts or now, None, known)
        if times:
            known.append(structs.replace(turn, times=list(times)))
    event = find_event(text, known, now)
    if event is None:
        return found
    result = list(found)
    for index in moving:
        piece, reading = result[index]
        result[index] = (piece, merged(text, piece, reading, event, clock))
    for index, match in later:
        if match and index not in moving:
            piece, reading = result[index]
            amount = amount_of(match[1])
            unit = UNIT_WORDS.get(match[2])
            if amount is not None and unit in ("hour", "minute", "day", "week", "month"):
                sign = -1 if match[3] == "earlier" else 1
                result[index] = (piece, shifted(text, piece, event, (amount, unit, sign)) or reading)
    moved = shifts_in(text, event, clock)
    return _together([(p, r) for p, r in moved], result) if moved else result


def _together(first: list[Reading], second: list[Reading]) -> list[Reading]:
    """Both languages' expressions; where two overlap, the longer one."""
    if not first or not second:
        return first or second
    kept: list[Reading] = []
    for piece, reading in sorted([*first, *second], key=lambda r: (r[0].start - r[0].end, r[0].start)):
        at = bisect_left(kept, piece.start, key=lambda r: r[0].start)
        before_ends = not at or kept[at - 1][0].end <= piece.start
        if before_ends and (at == len(kept) or piece.end <= kept[at][0].start):
            kept.insert(at, (piece, reading))
    return kept


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
    if isinstance(now.tzinfo, timezone):
        return aware.isoformat(timespec="seconds" if not moment.microsecond else "auto")
    return (
        aware.astimezone(UTC).astimezone(now.tzinfo).isoformat(timespec="seconds" if not moment.microsecond else "auto")
    )
