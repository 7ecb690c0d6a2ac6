"""Putting atoms together: points, ranges, limits and recurrences, the same way for both languages.

A grammar says what may stand between two words of one expression (``Glue``); fields that contradict each other end an
expression.
"""

from __future__ import annotations

from dataclasses import replace

from models.times.atoms import Atom
from models.times.frame import Frame, joined
from models.times.pieces import Piece
from models.times.point import Grammar, between, next_to, plain_number, point
from models.times.recurrence import WEEKDAYS, clock_word, within


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
        if not next_to(atoms, at, text, grammar):
            return None
        found = point(atoms, at + 1, text, grammar)
    else:
        found = point(atoms, at, text, grammar)
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
        if addition is not None and addition.has_date() and (dated := within(piece.recurrence, addition)):
            piece.recurrence, piece.end = dated, atoms[at].end
            at += 1
            continue
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
    if not grammar.tight(between(text, piece, atoms[after])) or not next_to(atoms, after, text, grammar):
        return found
    second = point(atoms, after + 1, text, grammar)
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
    if not grammar.tight(between(text, piece, link)):
        return None
    if link.value in ("起", "开始") and after + 2 < len(atoms):
        after += 1
        link = atoms[after]
    if link.kind != "range" and not (
        link.kind == "link" and (opener == "from" or piece.unit == "from") and _pairs(atoms, after)
    ):
        return None
    second = point(atoms, after + 1, text, grammar) if next_to(atoms, after, text, grammar) else None
    if second is None or second[0].frame is None or _says_other(piece.frame, second[0].frame):
        second = plain_number(piece.frame, atoms, after, text, grammar)
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


def _says_other(left: Frame, right: Frame) -> bool:
    """Whether a range would run from an hour to a year or the like."""
    return left.hour is not None and right.hour is None and right.part is None and right.exact is None


def _suffixes(piece: Piece, atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int]:
    while at < len(atoms):
        atom = atoms[at]
        if not grammar.tight(between(text, piece, atom)):
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
