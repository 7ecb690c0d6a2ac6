"""Running the word patterns of a language over a text.

At each place only the patterns that can begin with the characters there are tried, in order of precedence. Words begin
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

HEAD, MANY_HEADS = 3, 10_000
"""Characters by which patterns are told apart before they are tried, and so many of those strings are kept at most."""
MOST_TRIED, MOST_TELLING, MOST_WORDS = 800, 300, 800
"""Numbers and signs of a text at which an expression is looked for, and words of expressions that are read, without and with those of
`CONNECTING` kinds: nobody says more in an utterance, and a table pasted into one must not take long."""
CONNECTING = frozenset({"link", "range", "from", "until", "before", "after", "around"})

LONG, BEFORE, AFTER = 1500, 8, 60
"""In a longer text, what stood between so many characters and began no expression is not looked at again where it is repeated."""

_NUMERALS = "零〇一二两三四五六七八九十百"
_UNUSUAL = re.compile(r"(?![\x00-\x7f])[\d\s]|[\x1c-\x1f]")
"""What ``\\d`` and ``\\s`` match beside the digits and blanks that heads are made of."""
_CATEGORIES = {_constants.CATEGORY_DIGIT: "0123456789", _constants.CATEGORY_SPACE: " \t\n\u3000"}


class Scanner:
    """The patterns of a language, dispatched by the character that a match begins with."""

    def __init__(self, patterns: tuple[Pattern, ...], words: frozenset[str] | None = None) -> None:
        """`words`, where given, are the only Latin words at which an expression may begin."""
        self._words = words
        self._by_first: dict[str, list[tuple[re.Pattern[str], Builder, frozenset[str]]]] = {}
        for pattern, builder in patterns:
            compiled, beginnings, firsts = re.compile(pattern), heads(pattern), first_characters(pattern)
            for first in sorted(firsts):
                self._by_first.setdefault(first, []).append((compiled, builder, beginnings))
        self._near: dict[str, list[tuple[re.Pattern[str], Builder]]] = {}
        signs = "".join(
            re.escape(sign) for sign in sorted(self._by_first) if sign not in _NUMERALS and not sign.isspace()
        )
        self._token = re.compile(rf"[a-z]+|\d+|[{_NUMERALS}]+|[{signs}]")

    def atoms_in(self, text: str, clock: Clock) -> list[Atom]:
        """The atoms of the text, left to right, none overlapping."""
        found: list[Atom] = []
        done = tried = telling = 0
        long, nothing = len(text) > LONG, set[str]()
        for token in self._token.finditer(text):
            start, end = token.span()
            if text[start] <= "@":  # a number or a sign
                tried += 1
                if tried > MOST_TRIED:
                    continue
            if telling >= MOST_TELLING or len(found) >= MOST_WORDS:
                break
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
                around = text[max(0, start - BEFORE) : start + AFTER] if long else ""
                atom = None if around in nothing else self._atom_at(text, start, clock)
                if atom is None and long:
                    nothing.add(around)
                if atom is not None:
                    found.append(atom)
                    telling += atom.kind not in CONNECTING
                    done = start = atom.end
                elif text[start] in _NUMERALS:
                    start += 1
                else:
                    break
        return found

    def _beginning(self, head: str) -> list[tuple[re.Pattern[str], Builder]]:
        """The patterns that can match where the text goes on with `head`, in order of precedence."""
        known = self._near.get(head)
        if known is None:
            either = _UNUSUAL.search(head) is not None
            starts = {head[:length] for length in range(HEAD + 1)}
            known = [
                (pattern, builder)
                for pattern, builder, beginnings in self._by_first.get(head[0], ())
                if either or not starts.isdisjoint(beginnings)
            ]
            if len(self._near) >= MANY_HEADS:
                self._near.clear()
            self._near[head] = known
        return known

    def _atom_at(self, text: str, start: int, clock: Clock) -> Atom | None:
        for pattern, builder in self._beginning(text[start : start + HEAD]):
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


def heads(pattern: str) -> frozenset[str]:
    """Strings of at most `HEAD` characters of which every match of a pattern begins with one.

    >>> sorted(heads("(?:in )?two(?! of)|a?b?"))
    ['', 'a', 'ab', 'b', 'in ', 'two']
    """
    going, done = _extended(_parser.parse(pattern), frozenset([""]))
    return done | going


Heads = frozenset[str]


def _extended(items: Iterable[tuple[Any, Any]], going: Heads) -> tuple[Heads, Heads]:
    """(heads that what follows goes on from, finished heads) after a sequence of parsed items."""
    done: Heads = frozenset()
    for operator, argument in items:
        if not going:
            break
        going, more = _after(str(operator), argument, going)
        done |= more
    return going, done


def _after(name: str, argument: Any, going: Heads) -> tuple[Heads, Heads]:
    if name in ("LITERAL", "IN"):
        try:
            characters = {chr(argument)} if name == "LITERAL" else _in_set(argument)
        except (KeyError, ValueError):  # a set of all but some, or of a class
            return frozenset(), going
        longer = frozenset(head + ch for head in going for ch in characters)
        if len(longer) > MANY_HEADS:
            return frozenset(), going
        done = frozenset(head for head in longer if len(head) == HEAD)
        return longer - done, done
    if name == "SUBPATTERN":
        return _extended(argument[3], going)
    if name == "BRANCH":
        ways = [_extended(branch, going) for branch in argument[1]]
        return frozenset().union(*(on for on, _ in ways)), frozenset().union(*(done for _, done in ways))
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, items = argument
        done, on = frozenset[str](), going if low == 0 else frozenset[str]()
        for count in range(1, min(int(high), low + HEAD) + 1):
            going, more = _extended(items, going)
            done |= more
            on |= going if count >= low else frozenset()
            if not going:
                break
        return on, done
    if name in ("ASSERT", "ASSERT_NOT", "AT"):
        return going, frozenset()
    return frozenset(), going


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
