"""One place in time: as many neighbouring words as agree, and the numbers that take their unit from what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from models.times.atoms import Atom
from models.times.frame import Frame, joined
from models.times.pieces import Piece, span_placed

Glue = Callable[[str], bool]

MOST_AROUND = 3
"""Words such as "about" that may stand before a time."""


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


def between(text: str, left: Atom | Piece, right: Atom) -> str:
    """The text between a word or piece and the next word."""
    reach = max(left.end, left.reach) if isinstance(left, Piece) else left.end
    return text[reach : right.start]


def next_to(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> bool:
    """Whether the word after this one stands right beside it."""
    return at + 1 < len(atoms) and grammar.tight(between(text, atoms[at], atoms[at + 1]))


def point(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    """One place in time, as many words as agree."""
    first, start, last = atoms[at], None, at + MOST_AROUND
    while first.kind == "around" and first.value in ("left", "skip"):
        if at + 1 == len(atoms) or at == last:
            return None
        if first.value == "left":
            if not grammar.tight(between(text, first, atoms[at + 1])):
                return None
            start = first.start if start is None else start
        at += 1
        first = atoms[at]
    found = _point(atoms, at, text, grammar)
    if found is not None and start is not None:
        found[0].start = start
    return found


def _point(atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
    first = atoms[at]
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
    if at + 1 >= len(atoms) or not grammar.glue(between(text, first, atoms[at + 1])):
        return None
    found = point(atoms, at + 1, text, grammar)
    if found is None or found[0].frame is None:
        return None
    base, after = found
    return Piece(first.start, base.end, base.frame, counted="week" if first.kind == "weekof" else first.value), after


@dataclass(slots=True)
class _Growing:
    """A point as its words are taken in. `reach` is where the last word ended, also where it is not part of the span."""

    text: str
    grammar: Grammar
    start: int
    end: int
    frame: Frame
    reach: int = 0
    shift: Atom | None = None
    strong: bool = False
    bare: bool = True
    past: bool = False
    opened: bool = False

    def beside(self, atom: Atom) -> bool:
        """Whether an atom stands near enough to belong to the point."""
        glue = self.grammar.tight if atom.weak else self.grammar.glue
        return glue(self.text[max(self.end, self.reach) : atom.start])

    def links(self, atom: Atom, following: Atom) -> bool:
        """Takes in a word that only connects ("Monday from 9am", 农历, "around") if what follows continues the point."""
        said = following.frame
        if atom.kind == "from" and self.frame.has_date() and self.frame.hour is None:
            if self.frame.weekday is not None and said is not None and said.week is not None:
                self.end = atom.end
                return True
            if following.kind == "half" or (said is not None and said.hour is not None):
                self.opened, self.end = True, atom.end
                return True
        if atom.kind == "around" and atom.value == "skip" and following.kind == "frame":
            self.reach = atom.end
            return True
        if atom.kind == "lunar" and following.kind == "frame":
            self.frame, self.end = self.frame.copy(lunar=True), atom.end
            return True
        return False

    def takes(self, atom: Atom) -> bool:
        """Takes in what an atom says, unless that contradicts what was said before."""
        addition = atom.frame
        if addition is None:
            return False
        is_shift = isinstance(atom.value, tuple) and atom.value[0] == "shift"
        if self.shift is not None and self.text[atom.start : atom.end] in ("今天", "今日"):
            self.end = atom.end
            return True
        if is_shift and atom.value[1] == "year" and (self.frame.holiday or self.frame.month) and addition.date:
            addition = Frame(year=addition.date.year)
        if is_shift and atom.value[1] in ("week", "month") and addition.date and self.frame.set() == ["weekday"]:
            addition = Frame(week=addition.date - timedelta(days=addition.date.weekday()))
        base = _within_shift(self.shift, addition) if self.shift is not None else self.frame
        both = joined(base, addition) if base is not None else None
        if both is None:
            return False
        self.frame, self.reach = both, atom.end
        if not (atom.weak and addition.zone is not None):
            self.end = atom.end
        self.shift = atom if is_shift else None
        self.strong = self.strong or not atom.weak
        self.past = self.past or atom.value == "past"
        self.bare = self.bare and atom.value == "bare"
        return True

    def piece(self) -> Piece | None:
        """The point, or None where only words were said that need others beside them."""
        if not self.strong and not (self.frame.has_date() and self.frame.has_time()):
            return None
        unit = "past" if self.past else "from" if self.opened else None
        return Piece(self.start, self.end, self.frame, bare=self.bare, unit=unit, reach=self.reach)


def _merge(
    atoms: list[Atom], at: int, text: str, grammar: Grammar, start: int, lunar: bool
) -> tuple[Piece, int] | None:
    """As many atoms as agree, from `at` on."""
    point_of = _Growing(text, grammar, start, start, Frame(lunar=True if lunar else None), reach=start)
    index = at
    while index < len(atoms):
        atom = atoms[index]
        if index > at and not point_of.beside(atom):
            break
        if atom.kind == "half":
            halved = _half_range(point_of.frame, atoms, index, text, grammar, start)
            if halved is not None:
                return halved
            break
        dated = point_of.frame.has_date()
        if atom.kind == "toward" and dated and isinstance(atom.value, tuple) and text[atom.start] == "前":
            share = ("first", atom.value[3], atom.value[2])
            return Piece(start, atom.end, point_of.frame, counted=share), index + 1
        following = atoms[index + 1] if index + 1 < len(atoms) else None
        linked = index > at and following is not None and point_of.links(atom, following)
        if not linked and not (atom.kind == "frame" and point_of.takes(atom)):
            break
        index += 1
    piece = point_of.piece()
    return (piece, index) if piece is not None else None


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
    second = point(atoms, index + 1, text, grammar) if next_to(atoms, index, text, grammar) else None
    if second is None or second[0].frame is None:
        second = plain_number(Frame(hour=number), atoms, index, text, grammar)
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


def plain_number(left: Frame, atoms: list[Atom], at: int, text: str, grammar: Grammar) -> tuple[Piece, int] | None:
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
