"""Which of many regular expressions can match a text at all, by the characters they cannot do without.

Every expression is reduced to factors: strings of which each match holds at least one (as Cox's index does for code search). One
expression that joins all factors finds those in the text, and only expressions with one of them are searched. It never changes what
is found: an expression without factors is always searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any

MAX_TEXT = 4000
"""In a longer text nearly every factor occurs somewhere: all expressions are searched."""
_MANY = 256
"""Strings that a part of an expression is spelled out into at most."""
_TELLING = 6
"""A factor of so many characters is as good as a longer one."""
_ODD_CASE = re.compile("[\u0130\u0131\u017f\u212a]")
"""Signs outside ASCII that an expression read without case takes for a Latin letter."""

Strings = frozenset[str]


class Prefilter:
    """Expressions by number; `possible` names those that can match a text."""

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._all = tuple(range(len(patterns)))
        always: list[int] = []
        tree: dict[str, Any] = {}
        for number, pattern in enumerate(patterns):
            factors = factors_of(pattern)
            if factors is None:
                always.append(number)
            for factor in factors or ():
                _add(tree, factor, number)
        self._always = tuple(always)
        self._numbers: dict[str, tuple[int, ...]] = {}
        source = _rendered(tree, "", self._numbers)
        self._factor = re.compile(source) if tree else None

    def possible(self, text: str) -> Sequence[int]:
        """Numbers of the expressions that may match somewhere in a text, rising."""
        if len(text) > MAX_TEXT or not (text.isascii() or _ODD_CASE.search(text) is None):
            return self._all
        if self._factor is None:
            return self._always
        low = text.lower()
        hit = self._factor.search(low)
        if hit is None:
            return self._always
        found = set(self._always)
        while hit is not None:
            found.update(self._numbers[hit.group()])
            hit = self._factor.search(low, hit.start() + 1)
        return sorted(found)


class Named:
    """Expressions by name; `possible` names those that can match a text. The answers for the latest texts are kept."""

    def __init__(self, patterns: Mapping[str, re.Pattern[str]]) -> None:
        self._names = tuple(patterns)
        self._prefilter = Prefilter(tuple(patterns.values()))
        self.possible: Callable[[str], frozenset[str]] = lru_cache(maxsize=32)(self._possible)

    def _possible(self, text: str) -> frozenset[str]:
        return frozenset([self._names[number] for number in self._prefilter.possible(text)])


def _add(tree: dict[str, Any], factor: str, number: int) -> None:
    """Puts a factor into the tree, character by character; the numbers of those that end at a node stand under ""."""
    for ch in factor:
        tree = tree.setdefault(ch, {})
    tree.setdefault("", set()).add(number)


def _rendered(tree: dict[str, Any], before: str, numbers: dict[str, tuple[int, ...]]) -> str:
    """The tree as an expression; where one factor begins another, the longer one counts as found with the shorter."""
    if "" in tree:
        numbers[before] = tuple(sorted(_below(tree)))
        return ""
    branches = [(re.escape(ch), _rendered(tree[ch], before + ch, numbers)) for ch in sorted(tree)]
    singles = [ch for ch, rest in branches if not rest]
    longer = [ch + rest for ch, rest in branches if rest]
    if len(singles) > 1:
        longer.append(f"[{''.join(singles)}]")
    else:
        longer += singles
    return longer[0] if len(longer) == 1 else f"(?:{'|'.join(longer)})"


def _below(tree: dict[str, Any]) -> set[int]:
    return set(tree.get("", ())).union(*(_below(part) for ch, part in tree.items() if ch))


def factors_of(pattern: re.Pattern[str]) -> Strings | None:
    """Lower-case strings of which every match of the pattern holds one; None where none can be named.

    >>> sorted(factors_of(re.compile("(?i)Refunds?|退(?:货|款)")) or ()), factors_of(re.compile(r"\\d+"))
    (['refund', 'refunds', '退款', '退货'], None)
    """
    exact, need = _read(_parser.parse(pattern.pattern, pattern.flags))
    best = _better(need, exact)
    cased = best is not None and any(ch.upper() != ch.lower() for ch in set().union(*best) if not ch.isascii())
    return (
        None if cased else best
    )  # which letters outside ASCII are one letter in two cases is the expression's business


def _read(items: Iterable[tuple[Any, Any]]) -> tuple[Strings | None, Strings | None]:
    """(every string that the items match, if they are few; strings of which each match holds one, if known)."""
    run: Strings = frozenset([""])
    need: Strings | None = None
    whole = True
    for operator, argument in items:
        exact, inner = _item(str(operator), argument)
        if exact is not None and len(run) * len(exact) <= _MANY:
            run = frozenset(a + b for a in run for b in exact)
            continue
        whole = False
        need = _better(_better(need, run), inner)
        run = exact if exact is not None else frozenset([""])
    return (run, need) if whole else (None, _better(need, run))


def _item(name: str, argument: Any) -> tuple[Strings | None, Strings | None]:
    """The same of one item."""
    if name == "LITERAL":
        return frozenset([chr(argument).lower()]), None
    if name == "IN":
        return _set(argument), None
    if name == "SUBPATTERN":
        return _read(argument[3])
    if name == "ATOMIC_GROUP":
        return _read(argument)
    if name == "BRANCH":
        return _branch([_read(branch) for branch in argument[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        low, high, inner = argument
        exact, need = _read(inner)
        if high == 1 and exact is not None:
            return exact | {""} if low == 0 else exact, None
        return None, _better(need, exact) if low else None
    if name in ("ASSERT", "ASSERT_NOT", "AT"):
        return frozenset([""]), None
    return None, None


def _branch(branches: list[tuple[Strings | None, Strings | None]]) -> tuple[Strings | None, Strings | None]:
    exact: Strings = frozenset()
    needs: Strings = frozenset()
    spelled = named = True
    for whole, need in branches:
        spelled = spelled and whole is not None
        exact |= whole or frozenset()
        best = _better(need, whole)
        named = named and best is not None
        needs |= best or frozenset()
    if spelled and len(exact) <= _MANY:
        return exact, None
    return None, needs if named else None


def _set(items: Iterable[tuple[Any, Any]]) -> Strings | None:
    """The characters of a set, if they are few."""
    found: set[str] = set()
    for operator, argument in items:
        name = str(operator)
        if name == "LITERAL":
            found.add(chr(argument).lower())
        elif name == "RANGE" and argument[1] - argument[0] < 64:
            found.update(chr(code).lower() for code in range(argument[0], argument[1] + 1))
        else:
            return None
    return frozenset(found)


def _better(one: Strings | None, other: Strings | None) -> Strings | None:
    """Of two sets of factors the one that rules out more: without the empty string, longer, then smaller."""
    one, other = (found if found and "" not in found else None for found in (one, other))
    if one is None or other is None:
        return one if other is None else other
    return max((one, other), key=lambda found: (min(_TELLING, *map(len, found)), -len(found)))
