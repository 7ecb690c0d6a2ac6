"""Weak descriptions: "那个蓝色的盒子" met with what is known by its colour words, kind words and aliases (C5).

A description never binds by one of them alone where the other contradicts it, and never to one of several that fit equally.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from models.lexicons import load_lexicon
from models.text import narrow, simplify


class Description(Struct, frozen=True):
    """Base colours and kinds of things that a text names, each under its key in the lexicon."""

    colours: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()


class Candidate(Struct, frozen=True):
    """A known thing: its canonical id, and every text that says what it is like (its name, id, first sentence)."""

    id: str
    texts: tuple[str, ...]


@lru_cache(maxsize=1)
def _patterns() -> dict[str, tuple[re.Pattern[str], dict[str, str]]]:
    table = load_lexicon("descriptions.toml")
    patterns = {}
    for section in ("colours", "kinds"):
        owner: dict[str, str] = {}
        for key, words in table[section].items():
            for word in words.split():
                owner.setdefault(word.lower().replace("_", " "), key)
        ordered = sorted(owner, key=lambda word: (-len(word), word))
        latin = "|".join(
            re.escape(word) for word in ordered if word[0].isascii() and word[0].isalpha() and word.isascii()
        )
        han = "|".join(re.escape(word) for word in ordered if not word.isascii())
        patterns[section] = re.compile(f"(?<![a-z])(?:{latin})(?![a-z])|{han}"), owner
    return patterns


@lru_cache(maxsize=4096)
def describe(text: str) -> Description:
    """The colours and kinds that a text names: ``describe("深空蓝的收纳盒")`` is blue and box."""
    folded = simplify(narrow(text)).lower()
    found = []
    for section in ("colours", "kinds"):
        pattern, owner = _patterns()[section]
        found.append(frozenset(owner[match[0]] for match in pattern.finditer(folded)))
    return Description(*found)


@lru_cache(maxsize=1)
def _thing() -> re.Pattern[str]:
    words: dict[str, list[str]] = {"colours": [], "kinds": []}
    for section, listed in words.items():
        for line in load_lexicon("descriptions.toml")[section].values():
            listed += [word.lower().replace("_", " ") for word in line.split()]
        listed.sort(key=lambda word: (-len(word), word))
    latin = {key: "|".join(re.escape(word) for word in listed if word.isascii()) for key, listed in words.items()}
    han = {key: "|".join(re.escape(word) for word in listed if not word.isascii()) for key, listed in words.items()}
    long_kinds = "|".join(word for word in han["kinds"].split("|") if len(word) > 1)
    return re.compile(
        f"(?:深|浅|亮|暗|淡|哑光)?(?:{han['colours']})(?:(?:色系?的?|的)(?:{han['kinds']})|(?:{long_kinds}))"
        f"|(?<![a-z])(?:(?:dark|light|bright|deep|pale|matte) )?(?:{latin['colours']}) (?:[a-z]{{3,12}} )?(?:{latin['kinds']})(?![a-z])"
    )


def find_things(folded: str) -> Iterable[tuple[int, int]]:
    """Spans of things called by colour and kind ("深空蓝的收纳盒", "blue kettle") in a narrowed, lower-cased text."""
    return [match.span() for match in _thing().finditer(folded)]


def fit(description: Description, thing: Description) -> float:
    """How well a description fits a thing, 0..1: colours and kinds must not contradict; both agreeing is 1."""
    score = 0.0
    for said, known in ((description.colours, thing.colours), (description.kinds, thing.kinds)):
        if said and known:
            if not said & known:
                return 0.0
            score += 0.5
        elif said:
            score += 0.1
    return round(min(score, 1.0), 2)


def bind(mention: str, candidates: Iterable[Candidate]) -> tuple[str, float] | None:
    """The id of the one candidate that the mention describes, with its fit; None if none fits or two fit equally."""
    wanted = describe(mention)
    if not wanted.colours and not wanted.kinds:
        return None
    scored: dict[str, float] = {}
    for candidate in candidates:
        known = describe(" ".join(candidate.texts))
        scored[candidate.id] = max(scored.get(candidate.id, 0.0), fit(wanted, known))
    ranked = sorted(scored.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or ranked[0][1] < 0.5 or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
        return None
    return ranked[0]
