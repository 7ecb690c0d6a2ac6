"""Putting atoms together: points, ranges, limits and recurrences, the same way for both languages.

A grammar says what may stand between two words of one expression (``Glue``); fields that contradict each other end an
expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from models.times.atoms import Atom
from models.times.frame import Frame, joined
from models.times.pieces import Piece, span_placed
from models.times.recurrence import WEEKDAYS, clock_word

Glue = Callable[[str], bool]


@dataclass(slots=True)
class Grammar:
    """What differs between languages: the glue inside a point, and how a recurrence is read after 每 or "every"."""

    glue: Glue
    tight: Glue
    recurrence: Callable[[list[Atom], int, str], tuple[Piece, int] | None]
    bare_is_time: Callable[[str, Piece], bool]
    prefixes: bool = True
    suffixes: bool = True
    number_after: Callable[[str, int], tuple[int, int] | None] = lambda text, at: None


def pieces_in(atoms: list[Atom], text: str, grammar: Grammar) -> list[Piece]:
    """The expressions that the atoms make, left to right."""
    pieces: list[Piece] = []
    place_of = 0
    while place_of < len(atoms):
        found = _expression(atoms, place_of, text, grammar)
        if found is None:
            place_of += 1
            continue
        piece, place_of = found
        if piece.bare and piece.limit is None and piece.until is None and not grammar.bare_is_time(text, piece):
            continue
        if (
            pieces
            and pieces[-1].end == piece.start
            and text.startswith(text[pieces[-1].start : pieces[-1].end], piece.start)
        ):
            pieces.pop()
        pieces.append(piece)
    return pieces


def _between(text: str, left: Atom | Piece, right: Atom) -> str:
    reach = max(left.end, left.reach) if isinstance(left, Piece) else left.end
    return text[reach : right.start]


def _expression(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    first = atoms[at]
    if first.kind == "every":
        return _recurring(atoms, at, text, grammar)
    if first.kind == "pattern":
        return with_hours(
            Piece(first.start, first.end, Frame(), recurrence=str(first.value)), atoms, at + 1, text, grammar
        )
    opener = _opener(first, grammar)
    if opener is not None:
        if not _next_to(atoms, at, text, grammar):
            return None
        found = _point(atoms, at + 1, text, grammar)
    else:
        found = _point(atoms, at, text, grammar)
    if found is None:
        return None
    piece, after = found
    inner = piece.start
    piece.start = first.start if opener is not None else inner
    ranged = _ranged(piece, atoms, after, text, grammar, opener)
    if ranged is not None:
        return ranged
    if opener in ("until", "before", "after"):
        piece.limit = "after" if opener == "after" else "before"
    piece, after = _suffixes(piece, atoms, after, text, grammar)
    if opener == "from" and piece.limit is None and piece.length is None and piece.until is None:
        piece.start = inner
    return piece, after


def _opener(first: Atom, grammar: Grammar) -> str | None:
    """The limit that a word before an expression opens."""
    if first.kind == "range":
        return "until" if first.value in ("until", "till", "直到") else None
    if first.kind in ("from", "until") or (first.kind in ("after", "before") and grammar.prefixes):
        return first.kind
    return None


def _recurring(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    """A recurrence, with the end of the hours that it names: 每天晚上8:00~10:00."""
    found = grammar.recurrence(atoms, at, text)
    if found is None:
        return None
    return _to_end(*found, atoms, text, grammar)


def with_hours(piece: Piece, atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int]:
    """工作日上午9点到下午6点, weekdays at 9: the hours after a recurrence of one word."""
    while at < len(atoms) and atoms[at].frame is not None and grammar.glue(text[piece.end : atoms[at].start]):
        addition = atoms[at].frame
        if addition is None or addition.has_date() or piece.frame is None:
            break
        both = joined(piece.frame, addition)
        if both is None:
            break
        piece.frame, piece.end = both, atoms[at].end
        at += 1
    if piece.frame is not None and piece.frame.has_time():
        said = clock_word(piece.frame) if piece.frame.hour is not None else piece.frame.part
        piece.recurrence = f"{piece.recurrence}_{said}"
    return _to_end(piece, at, atoms, text, grammar)


def _to_end(piece: Piece, after: int, atoms: list[Atom], text: str, grammar: Grammar) -> tuple[Piece, int]:
    found = piece, after
    frame = piece.frame
    if frame is None or after >= len(atoms) or atoms[after].kind != "range":
        return found
    if not grammar.tight(_between(text, piece, atoms[after])) or not _next_to(atoms, after, text, grammar):
        return found
    second = _point(atoms, after + 1, text, grammar)
    if second is None or second[0].frame is None:
        return found
    until = second[0].frame
    if frame.weekday is not None and until.weekday is not None and not frame.has_time():
        ahead = (until.weekday - frame.weekday) % 7
        days = [WEEKDAYS[day % 7] for day in range(frame.weekday, frame.weekday + ahead + 1)]
        piece.end = second[0].end
        piece.recurrence = "every_workday" if days == list(WEEKDAYS[:5]) else "every_" + "_".join(days)
        piece.frame = until.copy(weekday=None) if until.has_time() else Frame()
        return with_hours(piece, atoms, second[1], text, grammar)
    if frame.hour is None or until.hour is None:
        return found
    if until.part is None and until.meridiem is None:
        until = until.copy(part=frame.part, meridiem=frame.meridiem)
    piece.end, piece.recurrence = second[0].end, f"{piece.recurrence}-{clock_word(until)}"
    return piece, second[1]


def _ranged(
    piece: Piece, atoms: list[Atom], after: int, text: str, grammar: Grammar, opener: str | None
) -> tuple[Piece, int] | None:
    """The piece as the first half of a range, if a connector and a second half follow."""
    if piece.frame is None or after >= len(atoms):
        return None
    link = atoms[after]
    if not grammar.tight(_between(text, piece, link)):
        return None
    if link.value in ("起", "开始") and after + 2 < len(atoms):
        after += 1
        link = atoms[after]
    if link.kind != "range" and not (
        link.kind == "link" and (opener == "from" or piece.unit == "from") and _pairs(atoms, after)
    ):
        return None
    second = _point(atoms, after + 1, text, grammar) if _next_to(atoms, after, text, grammar) else None
    if second is None or second[0].frame is None or _says_other(piece.frame, second[0].frame):
        second = _plain_number(piece.frame, atoms, after, text, grammar)
    if second is None or second[0].frame is None:
        return None
    right, following = second
    merged = replace(piece, end=right.end, until=right.frame, bare=False)
    while following < len(atoms) and atoms[following].value in ("止", "为止", "之间", "期间"):
        merged.end = atoms[following].end
        following += 1
    return merged, following


def _may_open(piece: Piece, atom: Atom) -> bool:
    """开始 after an hour tells that something begins then, not that a stretch does."""
    frame = piece.frame
    return atom.value != "开始" or frame is None or (frame.hour is None and frame.exact is None)


def _pairs(atoms: list[Atom], at: int) -> bool:
    """Whether "and" joins two ends here: after "between" or 从, not after "from"."""
    return all(atom.value != "from" for atom in atoms[max(0, at - 6) : at] if atom.kind == "from")


def _next_to(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> bool:
    return at + 1 < len(atoms) and grammar.tight(_between(text, atoms[at], atoms[at + 1]))


def _says_other(left: Frame, right: Frame) -> bool:
    """Whether a range would run from an hour to a year or the like."""
    return left.hour is not None and right.hour is None and right.part is None and right.exact is None


def _plain_number(left: Frame, atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    """November 19-20, from 11pm to 3: a number takes the unit of what stands before."""
    found = grammar.number_after(text, atoms[at].end)
    if found is None:
        return None
    value, end = found
    if left.hour is not None and value <= 24:
        frame = Frame(hour=value, meridiem="24" if value > 12 else None)
    elif left.day is not None and left.hour is None and value <= 31:
        frame = Frame(day=value)
    else:
        return None
    following = at + 1
    while following < len(atoms) and atoms[following].start < end:
        following += 1
    return Piece(atoms[at].end, end, frame), following


def _suffixes(piece: Piece, atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int]:
    while at < len(atoms):
        atom = atoms[at]
        if not grammar.tight(_between(text, piece, atom)):
            break
        if atom.kind in ("before", "after") and not grammar.suffixes:
            break
        if atom.kind == "before" and piece.limit in (None, "before") and piece.frame is not None:
            piece.limit = "before"
        elif atom.kind == "after" and piece.limit is None and piece.frame is not None and _may_open(piece, atom):
            piece.limit = "after"
        elif (atom.kind == "around" and atom.value == "right") or (atom.value == "all day" and piece.frame is not None):
            pass
        elif atom.kind == "length" and piece.length is None and piece.frame is not None and piece.limit is None:
            piece.length = atom.value
        else:
            break
        piece.end = atom.end
        at += 1
    return piece, at


def _point(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    """One place in time, as many words as agree."""
    first = atoms[at]
    if first.kind == "around" and first.value == "left" and at + 1 < len(atoms):
        if not grammar.tight(_between(text, first, atoms[at + 1])):
            return None
        found = _point(atoms, at + 1, text, grammar)
        if found:
            found[0].start = first.start
        return found
    if first.kind == "around" and first.value == "skip":
        return _point(atoms, at + 1, text, grammar) if at + 1 < len(atoms) else None
    if first.kind == "vague":
        return Piece(first.start, first.end, vague=True), at + 1
    if first.kind in ("span", "toward") and first.value is not None:
        return Piece(first.start, first.end, known=span_placed(first.value)), at + 1
    if first.kind == "offset" or first.kind == "weekof":
        return _counted_from(atoms, at, text, grammar)
    lunar = first.kind == "lunar"
    if lunar:
        at += 1
    if at >= len(atoms) or (atoms[at].kind not in ("frame", "half")):
        return None
    return _merge(atoms, at, text, grammar, first.start, lunar)


def _counted_from(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    """two days after tomorrow, third tuesday after christmas, the week of April 10th."""
    first = atoms[at]
    if at + 1 >= len(atoms) or not grammar.glue(_between(text, first, atoms[at + 1])):
        return None
    found = _point(atoms, at + 1, text, grammar)
    if found is None or found[0].frame is None:
        return None
    base, after = found
    return Piece(first.start, base.end, base.frame, counted="week" if first.kind == "weekof" else first.value), after


def _merge(
    atoms: list[Atom], at: int, text: str, grammar: Grammar, start: int, lunar: bool
) -> tuple[Piece, int] | None:
    frame = Frame(lunar=True if lunar else None)
    strong, end, index = False, start, at
    bare, opened, past, reach = True, False, False, start
    shift: Atom | None = None
    while index < len(atoms):
        atom = atoms[index]
        if index > at and not (grammar.tight if atom.weak else grammar.glue)(text[max(end, reach) : atom.start]):
            break
        if atom.kind == "from" and index > at and frame.has_date() and frame.hour is None and index + 1 < len(atoms):
            following = atoms[index + 1]
            if frame.weekday is not None and following.frame is not None and following.frame.week is not None:
                end = atom.end
                index += 1
                continue
            if following.kind == "half" or (following.frame is not None and following.frame.hour is not None):
                opened, end = True, atom.end
                index += 1
                continue
            break
        if (
            atom.kind == "around"
            and atom.value == "skip"
            and index + 1 < len(atoms)
            and atoms[index + 1].kind == "frame"
        ):
            reach = atom.end
            index += 1
            continue
        if atom.kind == "half":
            halved = _half_range(frame, atoms, index, text, grammar, start)
            if halved is not None:
                return halved
            break
        if atom.kind == "lunar":
            if index + 1 < len(atoms) and atoms[index + 1].kind == "frame":
                frame = frame.copy(lunar=True)
                end = atom.end
                index += 1
                continue
            break
        if atom.kind == "toward" and frame.has_date() and isinstance(atom.value, tuple) and "前" in text[atom.start]:
            share = ("first", atom.value[3], atom.value[2])
            return Piece(start, atom.end, frame, counted=share), index + 1
        if atom.kind != "frame" or atom.frame is None:
            break
        addition = atom.frame
        if shift is not None and text[atom.start : atom.end] in ("今天", "今日"):
            end, index = atom.end, index + 1
            continue
        if isinstance(atom.value, tuple) and atom.value == ("shift", "year") and (frame.holiday or frame.month):
            addition = Frame(year=addition.date.year if addition.date else None)
        if shift is not None:
            adjusted = _within_shift(shift, addition)
            both = joined(adjusted, addition) if adjusted else None
        else:
            both = joined(frame, addition)
        if both is None:
            break
        frame = both
        reach = atom.end
        if not (atom.weak and atom.frame.zone is not None):
            end = atom.end
        shift = atom if isinstance(atom.value, tuple) and atom.value[0] == "shift" else None
        strong = strong or not atom.weak
        past = past or atom.value == "past"
        bare = bare and atom.value == "bare"
        index += 1
    if not strong and not (frame.has_date() and frame.has_time()):
        return None
    return Piece(start, end, frame, bare=bare, unit="past" if past else "from" if opened else None, reach=reach), index


def _within_shift(shift: Atom, addition: Frame) -> Frame | None:
    """两周后的周三: the week, month or year in which the moved day lies."""
    day = shift.frame.date if shift.frame else None
    unit = shift.value[1]
    if day is None:
        return shift.frame
    if addition.weekday is not None and unit in ("week", "month", "year") and addition.week is None:
        return Frame(week=day - timedelta(days=day.weekday()))
    if (addition.month is not None or addition.holiday is not None or addition.season is not None) and unit == "year":
        return Frame(year=day.year)
    if addition.day is not None and addition.month is None and unit in ("month", "year"):
        return Frame(year=day.year, month=day.month)
    if (addition.edge or addition.nth) and unit == "month":
        return Frame(year=day.year, month=day.month)
    if (addition.edge or addition.nth) and unit == "year":
        return Frame(year=day.year)
    return shift.frame


def _half_range(
    frame: Frame, atoms: list[Atom], index: int, text: str, grammar: Grammar, start: int
) -> tuple[Piece, int] | None:
    """五到六点, 2——4月, from 5 to 6pm: the number takes the unit of what follows."""
    number, kind = atoms[index].value
    if number is None or (kind == "plain" and not frame.has_date()):
        return None
    second = _point(atoms, index + 1, text, grammar) if _next_to(atoms, index, text, grammar) else None
    if second is None or second[0].frame is None:
        second = _plain_number(Frame(hour=number), atoms, index, text, grammar)
    if second is None or second[0].frame is None:
        return None
    right = second[0].frame
    for name in ("hour", "day", "month", "year"):
        if getattr(right, name) is not None:
            if name == "year" and number < 100 and right.year is not None:
                number += right.year // 100 * 100
            left = joined(frame, Frame(**{name: number}))
            return (Piece(start, second[0].end, left, until=right), second[1]) if left else None
    return None
