"""Running the word patterns of a language over a text.

At each place only the patterns that can begin with the character there are tried, in order of precedence. Words begin
at word starts and numbers at the start of a run of digits, so long runs cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from models.times.atoms import Atom, Clock
from models.times.frame import Frame

Groups = tuple[str | None, ...]
Said = Frame | tuple[str, Frame | None, object] | None
Builder = Callable[[Groups, Clock], Said]
Pattern = tuple[str, Builder]

LONGEST_NUMBER = 14
"""Digits of the longest number that a time expression holds; longer ones are identifiers."""

_NUMERALS = "零〇一二两三四五六七八九十百"
_CATEGORIES = {_constants.CATEGORY_DIGIT: "0123456789", _constants.CATEGORY_SPACE: " \t\n\u3000"}


class Scanner:
    """The patterns of a language, dispatched by the character that a match begins with."""

    def __init__(self, patterns: tuple[Pattern, ...], words: frozenset[str] | None = None) -> None:
        """`words`, where given, are the only Latin words at which an expression may begin."""
        self._words = words
        self._by_first: dict[str, list[tuple[re.Pattern[str], Builder]]] = {}
        for pattern, builder in patterns:
            compiled = re.compile(pattern)
            for first in sorted(first_characters(pattern)):
                self._by_first.setdefault(first, []).append((compiled, builder))
        signs = "".join(
            re.escape(sign) for sign in sorted(self._by_first) if sign not in _NUMERALS and not sign.isspace()
        )
        self._token = re.compile(rf"[a-z]+|\d+|[{_NUMERALS}]+|[{signs}]")

    def atoms_in(self, text: str, clock: Clock) -> list[Atom]:
        """The atoms of the text, left to right, none overlapping."""
        found: list[Atom] = []
        done = 0
        for token in self._token.finditer(text):
            start, end = token.span()
            if end <= done or (end - start > LONGEST_NUMBER and not "a" <= text[start] <= "z"):
                continue
            if (
                self._words is not None
                and text[start].isalpha()
                and text[start:end] not in self._words
                and done <= start
            ):
                continue
            start = max(start, done)
            while start < end:
                atom = self._atom_at(text, start, clock)
                if atom is not None:
                    found.append(atom)
                    done = start = atom.end
                elif text[start] in _NUMERALS:
                    start += 1
                else:
                    break
        return found

    def _atom_at(self, text: str, start: int, clock: Clock) -> Atom | None:
        for pattern, builder in self._by_first.get(text[start], ()):
            match = pattern.match(text, start)
            if match is None or match.end() == start:
                continue
            said = builder((*match.groups(), match.group()), clock)
            if said is None:
                continue
            if isinstance(said, Frame):
                return Atom(start, match.end(), "frame", said)
            kind, frame, value = said
            weak = kind == "weak"
            return Atom(start, match.end(), "frame" if weak else kind, frame, value, weak)  # type: ignore[arg-type]
        return None


def first_characters(pattern: str) -> set[str]:
    """The characters that a match of a pattern can begin with."""
    firsts, _ = _firsts(_parser.parse(pattern))
    return firsts


def _firsts(items: Iterable[tuple[Any, Any]]) -> tuple[set[str], bool]:
    """(first characters, whether nothing need be consumed) of a sequence of parsed items."""
    firsts: set[str] = set()
    for operator, argument in items:
        added, empty = _first_of(operator, argument)
        firsts |= added
        if not empty:
            return firsts, False
    return firsts, True


def _first_of(operator: Any, argument: Any) -> tuple[set[str], bool]:
    name = str(operator)
    if name == "LITERAL":
        return {chr(argument)}, False
    if name == "IN":
        return _in_set(argument), False
    if name == "SUBPATTERN":
        return _firsts(argument[3])
    if name == "BRANCH":
        branches = [_firsts(branch) for branch in argument[1]]
        return set().union(*(firsts for firsts, _ in branches)), any(empty for _, empty in branches)
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        firsts, empty = _firsts(argument[2])
        return firsts, empty or argument[0] == 0
    if name in ("ASSERT", "ASSERT_NOT", "AT"):
        return set(), True
    raise ValueError(f"a pattern may not begin with {name}")


def _in_set(items: Iterable[tuple[Any, Any]]) -> set[str]:
    firsts: set[str] = set()
    for operator, argument in items:
        name = str(operator)
        if name == "LITERAL":
            firsts.add(chr(argument))
        elif name == "RANGE":
            firsts |= {chr(code) for code in range(argument[0], argument[1] + 1)}
        elif name == "CATEGORY":
            firsts |= set(_CATEGORIES[argument])
        else:
            raise ValueError(f"a pattern may not begin with a set of {name}")
    return firsts
