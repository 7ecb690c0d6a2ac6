"""The Chinese grammar: glue between words, what makes a bare 三点 a time, and recurrences after 每."""

from __future__ import annotations

import re
from functools import lru_cache

from models.times.assemble import pieces_in, with_hours
from models.times.atoms import Atom, Clock
from models.times.chinese_tables import UNIT_WORDS, WEEKDAY_SIGNS
from models.times.chinese_words import N31, NO_MINUTES, chinese_patterns
from models.times.frame import Bias, Frame, joined
from models.times.numbers import chinese_number
from models.times.pieces import Piece, leans
from models.times.point import Grammar
from models.times.recurrence import WEEKDAYS, pattern_of
from models.times.scan import Scanner

_GLUE = re.compile(r"[\s的]{0,2}|\s?[,，]\s?|\s?[(（]\s?|[)）]?\s?|那天|当天|的?那个?")
_TIGHT = re.compile(r"\s{0,2}")
_NO_TIME_AFTER = re.compile(
    r"\s?(?:[儿也都不没优缺建要想内原问说理看疑好击子头评意感共经教启收知用心事小错进新一二两三四五六七八九十水钱吃烦]|需要|其他|注意|解释|补充)"
)
_TIME_AFTER = re.compile(r"\s?(?:[开见出集左整半准]|到|之?前|之?后|下班|上班)")
_AT = re.compile(r"[到至约于]$")
_STOP_AFTER = re.compile(r"\s?(?:$|[\W吧吗啦呢的再])")
_TIME_BEFORE = re.compile(r"(?:^|[\s,，。！？:：]|[在到至约了快都才就过成定于从午上晚]|那就)$")
_PUT_RIGHT = re.compile(r"(?:不对|错了|更正|我是说|应该)[，,：: ]{0,2}(?:应该)?是$")
_NO_TIME_BEFORE = re.compile(r"[这那哪有第几提讲说谈列差早晚点多少每共下分扣加]$|以下|补充|总结|注意$|一共$|至少$")
_EVERY_UNIT = re.compile(
    r"(隔)?\s?(\d{1,3}|[一二两三四五六七八九十半]{1,3})?个?(工作日|年|月|周|星期|礼拜|天|日(?!子)|晚(?!上)|早(?!上)|小时|分钟|季度)"
)
_NUMBER = re.compile(rf"\s?({N31}){NO_MINUTES}")
_MORE_DATES = re.compile(rf"(?:[、和及]{N31}[日号])+")
_MORE_DAYS = re.compile(r"(?:[、和及,，]?(?:周|星期|礼拜)?[一二三四五六日天](?![点时个年月号]))+")
_PAST = re.compile(r"了(?!吗|没|吧|解)|过(?!来|去|期|程|后|于|年|节|生日|会)|已经|曾经|当时|上次|那次")
_FUTURE = re.compile(
    r"[要会将请约]|打算|准备|保证|承诺|一定|答应|给你|派人|麻烦|前完成|快|别|为了|除了|改到|推迟|提前|必须|务必|之后再|再"
)
_CLAUSE = re.compile(r"[。！？!?;；\n]")
REACH = 200
"""Characters on either side that can tell what has happened: a look at all of a long text for each time in it has no end."""
_PHRASE = re.compile(r"[,，]")


def _bare_is_time(text: str, piece: Piece) -> bool:
    """Whether 三点 with nothing beside it tells the time: 两点建议 and 好一点 do not."""
    before, after = text[max(0, piece.start - 3) : piece.start], text[piece.end : piece.end + 3]
    if _NO_TIME_AFTER.match(after) or _NO_TIME_BEFORE.search(before):
        return False
    if _PUT_RIGHT.search(text, max(0, piece.start - 8), piece.start):
        return True
    stops = _STOP_AFTER.match(after) is not None
    if text[piece.start : piece.end].startswith(("一点", "1点", "一时", "1时")):
        return bool(_AT.search(before)) if stops else bool(_TIME_AFTER.match(after))
    return bool(_TIME_BEFORE.search(before)) if stops else True


def _recurrence(atoms: list[Atom], at: int, text: str) -> tuple[Piece, int] | None:
    every = atoms[at]
    index, end, frame = at + 1, every.end, Frame()
    unit, count = None, 1
    if text[end : end + 1] == "个" and index < len(atoms) and atoms[index].start == end + 1:
        end += 1
    follows = index < len(atoms) and atoms[index].start == end and atoms[index].kind in ("frame", "pattern")
    if not follows:
        found = _EVERY_UNIT.match(text, end)
        if not found:
            return None
        amount = chinese_number(found[2]) if found[2] and found[2] != "半" else 1
        if found[2] == "半" or not amount:
            return None
        beside = bool(found[1]) or text[every.start : every.end] == "隔"
        unit, count = UNIT_WORDS.get(found[3], "day"), amount + 1 if beside else amount
        if found[3] in ("晚", "早"):
            frame = Frame(part="evening" if found[3] == "晚" else "morning")
        end = found.end()
        while index < len(atoms) and atoms[index].start < end:
            index += 1
    elif text[every.start : every.end] == "隔":
        return None
    while (
        index < len(atoms)
        and _GLUE.fullmatch(text[end : atoms[index].start])
        and "," not in text[end : atoms[index].start]
    ):
        atom = atoms[index]
        if atom.kind == "pattern" and not frame.set():
            whole = Piece(every.start, atom.end, Frame(), recurrence=str(atom.value))
            return with_hours(whole, atoms, index + 1, text, GRAMMAR)
        both = joined(frame, atom.frame) if atom.kind == "frame" and atom.frame is not None else None
        if both is None:
            break
        frame, end = both, atom.end
        index += 1
    if unit is None and not frame.set():
        return None
    pattern = pattern_of(frame, unit, count)
    if frame.day is not None and frame.month is None and (dates := _MORE_DATES.match(text, end)):
        pattern += "".join(f"_{chinese_number(day)}" for day in re.findall(N31, dates[0]))
        end = dates.end()
        while index < len(atoms) and atoms[index].start < end:
            index += 1
    if frame.weekday is not None and (more := _MORE_DAYS.match(text, end)):
        days = [WEEKDAY_SIGNS[ch] for ch in re.findall("[一二三四五六日天]", more[0])]
        names = "_".join(WEEKDAYS[day] for day in days)
        pattern, end = pattern.replace(WEEKDAYS[frame.weekday], f"{WEEKDAYS[frame.weekday]}_{names}", 1), more.end()
        while index < len(atoms) and atoms[index].start < end:
            index += 1
    if frame.has_time():
        return Piece(every.start, end, frame, recurrence=pattern), index
    return with_hours(
        Piece(every.start, end, Frame(weekday=frame.weekday), recurrence=pattern), atoms, index, text, GRAMMAR
    )


def _number_after(text: str, at: int) -> tuple[int, int] | None:
    """The bare number of 7月13到15 and its end."""
    found = _NUMBER.match(text, at)
    value = chinese_number(found[1]) if found else None
    return (value, found.end()) if found and value is not None else None


GRAMMAR = Grammar(
    glue=lambda between: _GLUE.fullmatch(between) is not None,
    tight=lambda between: _TIGHT.fullmatch(between) is not None,
    recurrence=_recurrence,
    bare_is_time=_bare_is_time,
    prefixes=False,
    number_after=_number_after,
)


@lru_cache(maxsize=1)
def _scanner() -> Scanner:
    return Scanner(chinese_patterns())


def find_chinese(text: str, clock: Clock) -> list[Piece]:
    """The expressions of a simplified, half-width text."""
    atoms = _scanner().atoms_in(text, clock)
    if not atoms:
        return []
    for atom in atoms:
        said = text[atom.start : atom.end]
        if atom.frame is not None and atom.frame.hour is not None and said[-1] in "点时" and len(said) < 5:
            atom.value = "bare"
    return pieces_in(atoms, text, GRAMMAR)


def chinese_bias(text: str, piece: Piece) -> Bias:
    """ "past" where the sentence around the expression tells of what has happened."""
    if not leans(piece):
        return None
    if piece.unit == "past":
        return "past"
    before, after = text[max(0, piece.start - REACH) : piece.start], text[piece.end : piece.end + REACH]
    if before.endswith(("今天是", "今天", "又到", "又是", "今儿", "到了")) or after.startswith("了"):
        return "now"
    starts = [m.end() for m in _CLAUSE.finditer(before)]
    stop = _CLAUSE.search(after)
    earlier, later = before[starts[-1] if starts else 0 :], after[: stop.start() if stop else None]
    head = _PHRASE.split(earlier)[-1]
    own, *following = _PHRASE.split(later)
    # What was said before a comma does not date what comes after it: "两把坏了，周一派人来修".
    for phrase in (f"{head} {own}", *following):
        if _FUTURE.search(phrase):
            return None
        if _PAST.search(phrase):
            return "past"
    return None
