"""The English grammar: glue between words, spans, what a past tense says, and recurrences after "every"."""

from __future__ import annotations

import re
from functools import lru_cache

from models.times.assemble import pieces_in
from models.times.atoms import Atom, Clock
from models.times.english_clock import amount_of
from models.times.english_fragments import UNIT
from models.times.english_tables import UNIT_WORDS
from models.times.english_words import english_patterns, start_words
from models.times.frame import Bias, Frame, joined
from models.times.numbers import number
from models.times.pieces import Piece, leans
from models.times.point import Grammar
from models.times.recurrence import pattern_of
from models.times.scan import Scanner

_GLUE = re.compile(r"\s*,?\s*(?:(?:on|at|of|in|for|the|from|around|about|during|@|a|an)\b\s*|@\s*){0,3}")
_TIGHT = re.compile(r"\s*(?:(?:on|at|the)\b\s*){0,2}")
_EVERY_UNIT = re.compile(
    rf"\s?(other|second|third|\d{{1,3}}|two|three|four|five|six|ten|twelve)?\s?({UNIT}|weekday|weekend)\b"
)
_AND_DAY = re.compile(r"\s?(?:and|,|&)\s?")
_PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|got|left|made|took|bought|ordered|received|met|saw|said|told|called|paid|sent"
    r"|arrived|happened|started|ended|finished|drank|ate|broke|stopped|[a-z]{3,}[^e\W]ed|used to)\b"
)
_FUTURE = re.compile(
    r"\b(?:will|'ll|shall|going to|gonna|would|should|can|could|let's|please|plan|book|schedule"
    r"|need|must|want|due|by|before)\b"
)
_IS_NOW = re.compile(r"(?:\bit(?:['\u2019]s|\sis)|today(?:['\u2019]s|\sis))\s(?:already\s)?$")
_CLAUSE = re.compile(r"[.!?;\n](?=\s|$)")
REACH = 400
"""Characters on either side that can tell what has happened."""
_NUMBER = re.compile(r"\s?(\d{1,2}|[a-z]{3,6})(?![\w:%]|\.\d)")


def _recurrence(atoms: list[Atom], at: int, text: str) -> tuple[Piece, int] | None:
    every = atoms[at]
    end, index, frame = every.end, at + 1, Frame()
    unit, count = None, 1
    found = _EVERY_UNIT.match(text, end)
    if found:
        word = found[1] or ""
        count = 2 if word == "other" else int(number(word) or amount_of(word) or 1) if word else 1
        unit = {"weekday": "workday", "weekend": "weekend"}.get(found[2]) or UNIT_WORDS.get(found[2], "day")
        end = found.end()
        if unit == "fortnight":
            unit, count = "week", count * 2
        if found[2].startswith("night"):
            unit, frame = "day", Frame(part="evening")
    other = re.match(r"\s?(other|second)\s", text[end:])
    if other and not found:
        count, end = 2, end + other.end() - 1
    while index < len(atoms) and atoms[index].start < end:
        index += 1
    extra: list[str] = []
    while index < len(atoms) and atoms[index].kind == "frame" and atoms[index].frame is not None:
        between, addition = text[end : atoms[index].start], atoms[index].frame
        if not _GLUE.fullmatch(between) or addition is None:
            break
        if (
            addition.relative
            and addition.month is not None
            or text[atoms[index].start : atoms[index].end] == "the year"
        ):
            unit, end = "month" if addition.month is not None else "year", atoms[index].end
            index += 1
            continue
        both = joined(frame, addition)
        if both is None or both.exact is not None or both.date is not None:
            break
        frame, end = both, atoms[index].end
        index += 1
    if unit is None and not frame.set():
        return None
    return Piece(every.start, end, frame, recurrence=pattern_of(frame, unit, count) + "".join(extra)), index


def _number_after(text: str, at: int) -> tuple[int, int] | None:
    found = _NUMBER.match(text, at)
    value = number(found[1]) if found else None
    return (value, found.end()) if found and value is not None else None


GRAMMAR = Grammar(
    glue=lambda between: _GLUE.fullmatch(between) is not None,
    tight=lambda between: _TIGHT.fullmatch(between) is not None,
    recurrence=_recurrence,
    bare_is_time=lambda text, piece: True,
    suffixes=False,
    number_after=_number_after,
)


@lru_cache(maxsize=1)
def _scanner() -> Scanner:
    return Scanner(english_patterns(), start_words())


def lowered(text: str) -> str:
    """Lower case without a change of length."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)


def find_english(original: str, clock: Clock) -> list[Piece]:
    """The expressions of a half-width text."""
    text = lowered(original)
    atoms = [atom for atom in _scanner().atoms_in(text, clock) if _said(atom, text, original)]
    if not atoms:
        return []
    pieces = pieces_in(atoms, text, GRAMMAR)
    return [_with_preposition(piece, text) for piece in pieces]


_LETTERED = re.compile(r"\d{1,2}[ap]")
_VERBS = re.compile(r"(?:sat|sun|wed|mar|dec)\.?$")
_STANDS = re.compile(
    r"\s*(?:$|[,.;:!?)]|at\b|the\b|\d|morning|afternoon|evening|night|"
    + r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))"
)
_LEADS = re.compile(
    r"(?:\b(?:on|in|of|this|next|last|by|until|till|from|to|and|or|since|every|each|before"
    r"|after|through|coming)|[,(\-:])\s*$"
)


def _said(atom: Atom, text: str, original: str) -> bool:
    """Whether a short word that has another meaning (sat, sun, wed) is meant as a day here."""
    word = text[atom.start : atom.end]
    if _LETTERED.fullmatch(word) and original[atom.end - 1].isupper():
        return False
    if atom.kind != "frame" or not _VERBS.fullmatch(word):
        return True
    leads = bool(_LEADS.search(text[max(0, atom.start - 12) : atom.start]))
    alone = not text[: atom.start].strip() and not text[atom.end :].strip(" .!?")
    return leads or alone or (original[atom.start].isupper() and bool(_STANDS.match(text, atom.end)))


def _with_preposition(piece: Piece, text: str) -> Piece:
    """The "at" of "at 8.30pm today" and the "on" of "on monday of next week" belong to the expression."""
    before = text[max(0, piece.start - 4) : piece.start]
    frame = piece.frame
    if frame is None or piece.until is not None or piece.limit:
        return piece
    said = text[piece.start : piece.end]
    clock_first = re.match(r"[\d.: ]+(?:[ap]\.?\s?m\b|o)?", said)
    if (
        frame.has_time()
        and frame.has_date()
        and clock_first
        and before.endswith("at ")
        and frame.hour is not None
        or frame.week is not None
        and frame.weekday is not None
        and " of " in said
        and before.endswith("on ")
    ):
        piece.start -= 3
    return piece


def english_bias(text: str, piece: Piece) -> Bias:
    """ "past" where the sentence around the expression tells of what has happened."""
    if piece.unit == "past":
        return "past"
    if not leans(piece):
        return None
    before, after = text[max(0, piece.start - REACH) : piece.start], text[piece.end : piece.end + REACH]
    if _IS_NOW.search(lowered(before[-16:])):
        return "now"
    starts = [m.end() for m in _CLAUSE.finditer(before)]
    stop = _CLAUSE.search(after)
    clause = lowered(before[starts[-1] if starts else 0 :] + " " + after[: stop.start() if stop else None])
    if not _PAST.search(clause) or _FUTURE.search(clause):
        return None
    return "past"
