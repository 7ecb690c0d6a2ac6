"""Corrections: "改到周四", "推迟一小时", "push it to Friday", "an hour later" move an event that was spoken of before.

The event is that of the earlier turn whose words fit best (the latest of equals), and what the correction leaves unsaid
is kept: moved to Thursday, the review still begins at 15:00. Without such an event the words are read as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from models.context import Turn
from models.records import TimeExpression
from models.times.atoms import Clock, days_moved
from models.times.frame import Frame
from models.times.numbers import chinese_amount
from models.times.pieces import Piece
from models.times.place import Placed, place

_TO_ZH = re.compile(
    r"(?:改期?|挪|移|推迟?|延期?|延后|延迟|提前|换|调整?|顺延|变更?|更改|定|(?:push|move|reschedule|postpone|delay|shift|change|switch)\s?)"
    r"(?:[到成为在至]|一下到|到了)\s?(?:了|下|这|那)?$"
    r"|(?:不对|[说记搞写]?错了|更正(?:一下)?|纠正(?:一下)?|我是说|应该|不是[^，,]{1,10})[，,：: ]{0,2}(?:应该|而)?[是为]\s?$|(?:我是说|我的意思是)[，, ]?$"
)
_TO_EN = re.compile(
    r"\b(?:mov(?:e|ed|ing)|push(?:ed|ing)?|reschedul(?:e|ed|ing)|shift(?:ed|ing)?|chang(?:e|ed|ing)|postpon(?:e|ed|ing)"
    r"|delay(?:ed|ing)?|bring|brought|bump(?:ed)?|make|do|switch(?:ed)?|put\s(?:it\s)?off)\b"
    r"(?:\s[a-z']+){0,4}?\s?(?:to|until|till|for|from\s.{1,30}\sto)?\s?(?:on\s)?$"
    r"|\b(?:i\smeant?|correction:?|no,?\swait,?)\s(?:it['\u2019]?s\s|that['\u2019]?s\s|it\sis\s|on\s|at\s)?$"
)
_SAME = re.compile(r"的?(?:同一|相同的?|同样的?|一样的?)(?:时间|时候|钟点)|,?\s?(?:at\s)?(?:the\s)?same\stime\b")
_MAKE_IT = re.compile(
    r"\bmake\s(?:it|that)\s(?P<h>1[0-2]|[1-9])(?=\s?(?:$|[.!?,;]|instead\b|please\b|then\b|o['\u2019]clock\b))"
)
_CYCLE = re.compile(
    r"every_(?P<day>day|workday|[a-z]+day)(?:_[a-z_]*?)?(?:_(?P<h>\d\d):(?P<m>\d\d)(?:-(?P<h2>\d\d):(?P<m2>\d\d))?)"
)
_INSTEAD = re.compile(r"\s?(?:instead|rather)\b")
_SHIFT_ZH = re.compile(
    r"(?P<way>推迟|推后|往后推|向后推|往后挪|延迟|延后|延期|顺延|晚|提前|提早|往前挪|往前提|早)(?:了|个)?"
    r"(?P<n>\d{1,3}|[半两一二三四五六七八九十]{1,3})(?P<g>个)?(?P<half>半)?(?P<unit>小时|钟头|分钟|刻钟|天|日|周|星期|礼拜|月|年)(?P<tail>半)?"
)
_BY_EN = re.compile(
    r"\b(?:push|pushed|move|moved|delay|delayed|postpone|postponed|bring|brought|shift|shifted|bump)\b"
    r"(?P<mid>(?:\s[a-z]+){0,4}?)\s(?:by\s)?(?P<n>an?|one|two|three|four|five|six|half\san|\d{1,3})"
    r"\s(?P<unit>hours?|minutes?|mins?|days?|weeks?|months?)\b"
    r"(?P<end>\s(?:later|earlier|forward|back|up|ahead))?"
)
_LATER_EN = re.compile(r"^(?:ok(?:ay)?,?\s|no,?\s|sorry,?\s|actually,?\s|let's\s|make\sit\s|can\swe\s|do\sit\s)*$")
_UNITS_ZH = {
    "小时": "hour", "钟头": "hour", "分钟": "minute", "刻钟": "minute", "天": "day", "日": "day", "周": "week",
    "星期": "week", "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_AMOUNTS_EN = {"a": 1.0, "an": 1.0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "half an": 0.5}
_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]{2,}")
_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "our",
        "you",
        "are",
        "was",
        "will",
        "can",
        "let",
        "please",
        "move",
        "push",
        "meeting",
        "have",
        "has",
        "that",
        "this",
        "with",
        "from",
        "我们",
        "你们",
        "他们",
        "一下",
        "可以",
        "那个",
        "这个",
        "改到",
        "推迟",
        "提前",
        "时候",
        "什么",
    ]
)
CLOCK_GRAINS = ("hour", "minute", "second")


@dataclass(slots=True, frozen=True)
class Event:
    """The time of an earlier turn: local wall times and the grain of what was said."""

    start: datetime
    end: datetime | None
    grain: str

    @property
    def has_clock(self) -> bool:
        """Whether an hour was said for it."""
        return self.grain in CLOCK_GRAINS


def corrects(text: str) -> bool:
    """Whether the text may correct an earlier time at all (a quick look)."""
    return _HINT.search(text.lower()) is not None


_HINT = re.compile(
    r"改|挪|移|推|延|提前|提早|换|调|变更|晚|早|定[在到]|instead|later|earlier"
    r"|错了|不对|正一下|我是说|应该|不是|\b(?:mov|push|resch|shift|chang|postp|delay|br(?:ing|ought)|bump|make|do\b|switch|i mean|correction|no,? wait)"
)


def may_shift(text: str) -> bool:
    """Whether the text says by how much something is moved."""
    lowered = text.lower()
    return any(pattern.search(lowered) for pattern in (_SHIFT_ZH, _BY_EN, _MAKE_IT))


def find_event(text: str, context: Sequence[Turn], zone_of: datetime) -> Event | None:
    """The event that the text speaks of: the turn with a time that shares most words with it."""
    mine = _words(text)
    best: tuple[int, int] | None = None
    found: Event | None = None
    for index, turn in enumerate(context):
        times = [t for t in turn.times if t.normalized_time and not t.recurrence]
        chosen = next((t for t in times if t.grain in CLOCK_GRAINS), times[0] if times else None)
        event = (
            _event(chosen, zone_of) if chosen else next(filter(None, (_next_of(t, zone_of) for t in turn.times)), None)
        )
        score = (len(mine & _words(turn.text)), index)
        if event is not None and (best is None or score > best):
            best, found = score, event
    return found


def _next_of(said: TimeExpression, now: datetime) -> Event | None:
    """The next time of something that recurs at an hour: what a correction of it moves."""
    cycle = _CYCLE.fullmatch(said.recurrence or "")
    if cycle is None or cycle["day"] not in ("day", "workday", *_WEEKDAYS):
        return None
    local = now.replace(tzinfo=None)
    start = datetime.combine(local.date(), time(int(cycle["h"]), int(cycle["m"])))
    if cycle["day"] in _WEEKDAYS:
        start += timedelta(days=(_WEEKDAYS.index(cycle["day"]) - start.weekday()) % 7)
    end = start.replace(hour=int(cycle["h2"]) % 24, minute=int(cycle["m2"])) if cycle["h2"] else None
    return Event(start, end if end is None or end > start else None, "hour" if cycle["m"] == "00" else "minute")


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _event(said: TimeExpression, zone_of: datetime) -> Event:
    start = datetime.fromisoformat(said.normalized_time or "").astimezone(zone_of.tzinfo).replace(tzinfo=None)
    end = (
        datetime.fromisoformat(said.end_time).astimezone(zone_of.tzinfo).replace(tzinfo=None) if said.end_time else None
    )
    return Event(start, end, said.grain or "day")


def _words(text: str) -> set[str]:
    """Latin words and Chinese bigrams of the text."""
    words: set[str] = set()
    for found in _WORD.findall(text.lower()):
        if found.isascii():
            words.add(found)
        else:
            words.update(found[i : i + 2] for i in range(len(found) - 1))
    return words - _COMMON


def moved_to(text: str, piece: Piece) -> bool:
    """Whether the words before (or after) the expression say that something is moved to it."""
    before, after = text[max(0, piece.start - 60) : piece.start], text[piece.end : piece.end + 10]
    clause = re.split(r"[.!?;。！？；\n]", before)[-1].lower()
    return bool(_TO_ZH.search(clause) or _TO_EN.search(clause) or _INSTEAD.match(after.lower()))


def merged(text: str, piece: Piece, reading: Placed | None, event: Event, clock: Clock) -> Placed | None:
    """The expression with what it leaves unsaid taken from the event."""
    frame = piece.frame
    if frame is not None and frame.week is not None and frame.weekday is None and frame.edge is None:
        if _SAME.match(text[piece.end : piece.end + 20].lower()) is None:
            return reading
        frame = frame.copy(weekday=event.start.weekday())
        piece, reading = replace(piece, frame=frame), place(frame, clock.now)
    if frame is None or piece.until is not None or piece.recurrence or piece.counted or frame.impossible:
        return reading
    if frame.has_date() and not frame.has_time():
        day = _day_near(frame, reading, event, clock)
        if day is None or not event.has_clock or day.grain != "day":
            return day
        start = datetime.combine(day.start.date(), event.start.time())
        return Placed(start, start + (event.end - event.start) if event.end else None, event.grain)
    if frame.has_time() and not frame.has_date():
        return _hour_near(frame, event, clock)
    return reading


def _day_near(frame: Frame, reading: Placed | None, event: Event, clock: Clock) -> Placed | None:
    """A bare weekday or day of the month is meant in the week or month of the event, unless that has passed."""
    said = set(frame.set()) - {"relative"}
    day = None
    if said == {"weekday"} and frame.weekday is not None:
        monday = event.start.date() - timedelta(days=event.start.weekday())
        day = monday + timedelta(days=frame.weekday)
    elif said == {"day"}:
        placed = place(frame.copy(year=event.start.year, month=event.start.month), clock.now)
        day = placed.start.date() if placed else None
    if day is None or day <= clock.today:
        return reading
    start = datetime.combine(day, datetime.min.time())
    return Placed(start, start + timedelta(days=1), "day")


def _hour_near(frame: Frame, event: Event, clock: Clock) -> Placed | None:
    """An hour on the day of the event, in the evening where the event was."""
    dated = frame.copy(date=event.start.date())
    if (
        frame.meridiem is None
        and frame.part is None
        and (frame.hour or 0) <= 12
        and event.has_clock
        and event.start.hour >= 18
    ):
        dated = dated.copy(meridiem="pm")
    found = place(dated, clock.now)
    if found is None or found.end is not None or event.end is None or not event.has_clock:
        return found
    return Placed(found.start, found.start + (event.end - event.start), found.grain)


def shifts_in(text: str, event: Event, clock: Clock) -> list[tuple[Piece, Placed]]:
    """推迟一小时, "push it back two days": the event moved by so much."""
    found = []
    for match in _SHIFT_ZH.finditer(text):
        amount = chinese_amount(match["n"])
        if amount is None or (match["unit"] == "月" and not match["g"]):
            continue
        amount = (amount + (0.5 if match["half"] or match["tail"] else 0)) * (15 if match["unit"] == "刻钟" else 1)
        sign = -1 if match["way"] in ("提前", "提早", "往前挪", "往前提", "早") else 1
        moved = _moved(event, amount, _UNITS_ZH[match["unit"]], sign)
        if moved:
            found.append((Piece(match.start(), match.end()), moved))
    for match in _BY_EN.finditer(text.lower()):
        words = re.sub(r"\s", " ", match["n"])
        amount = float(words) if words.isdigit() else _AMOUNTS_EN[words]
        unit = match["unit"].rstrip("s").replace("mins", "minute")
        unit = "minute" if unit == "min" else unit
        said = f"{match['mid']} {match['end'] or ''} {match[0].split()[0]}"
        early = bool(re.search(r"\b(?:earlier|forward|up|ahead|bring|brought)\b", said))
        moved = _moved(event, amount, unit, -1 if early else 1)
        if moved:
            found.append((Piece(match.start("n"), match.end()), moved))
    for match in _MAKE_IT.finditer(text.lower()):
        hour = _hour_near(Frame(hour=int(match["h"])), event, clock) if event.has_clock else None
        if hour:
            found.append((Piece(*match.span("h")), hour))
    return found


def shifted(text: str, piece: Piece, event: Event, amount: tuple[float, str, int]) -> Placed | None:
    """ "an hour later" said by itself: after the event, not after now."""
    clause = re.split(r"[.!?;\n]", text[: piece.start].lower())[-1]
    return _moved(event, *amount) if _LATER_EN.match(clause.lstrip()) else None


def _moved(event: Event, amount: float, unit: str, sign: int) -> Placed | None:
    if unit in ("hour", "minute"):
        if not event.has_clock:
            return None
        delta = sign * timedelta(seconds=amount * (3600 if unit == "hour" else 60))
        grain = "minute" if unit == "minute" or amount % 1 else event.grain
        return Placed(event.start + delta, event.end + delta if event.end else None, grain)
    day = days_moved(event.start.date(), amount, unit, sign)
    if day is None:
        return None
    start = datetime.combine(day, event.start.time())
    return Placed(start, start + (event.end - event.start) if event.end else None, event.grain)
