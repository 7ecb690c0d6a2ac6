"""The same dialogue about other things: names, cuisines, areas, prices, streets and distances exchanged throughout."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

LISTS = Path(__file__).with_name("coreference_swaps.toml")
_STREET = re.compile(r"\b\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Dr|Drive|St|Street|Ave|Avenue|Rd|Road|Pl|Way|Ct|Real)\b")
_DISTANCE = re.compile(r"\b(\d{1,2})(?=[ -](?:miles?|minutes?|min)\b)")


@cache
def _lists() -> dict[str, list[str]]:
    with LISTS.open("rb") as file:
        return dict(tomllib.load(file)["classes"])


@cache
def _pattern(chinese: bool) -> tuple[re.Pattern[str], dict[str, str]]:
    classes = {n.casefold(): kind for kind, names in _lists().items() for n in names if n.isascii() != chinese}
    names = sorted(classes, key=lambda n: (-len(n), n))
    edge = "" if chinese else r"\b"
    return re.compile(edge + "(?:" + "|".join(map(re.escape, names)) + ")" + edge, re.IGNORECASE), classes


def swapped(texts: Sequence[str], rng: random.Random, chinese: bool) -> list[str]:
    """The texts with every listed name exchanged for another of its class, alike in all of them."""
    pattern, classes = _pattern(chinese)
    found = {m.group().casefold() for t in texts for m in pattern.finditer(t)}
    new: dict[str, str] = {}
    for name in sorted(found):
        taken = {*found, *(n.casefold() for n in new.values())}
        free = [n for n in _lists()[classes[name]] if n.casefold() not in taken]
        new[name] = rng.choice(free) if free else name
    done = [pattern.sub(lambda m: _cased(new[m.group().casefold()], m.group()), t) for t in texts]
    if chinese:
        return done
    for name in new.values():
        article = "an" if name[0] in "AEIOUaeiou" else "a"
        done = [re.sub(rf"(?i)\ban? (?={re.escape(name)}\b)", article + " ", t) for t in done]
    return _numbers(done, rng)


def _cased(new: str, old: str) -> str:
    if old.islower():
        return new.lower()
    return new[0].upper() + new[1:] if old[:1].isupper() else new


def _numbers(texts: list[str], rng: random.Random) -> list[str]:
    streets = sorted({m.group() for t in texts for m in _STREET.finditer(t)}, key=lambda s: (-len(s), s))
    for street in streets:
        number, rest = street.split(" ", 1)
        other = f"{rng.randint(1, 9999)} {rng.choice(_lists()['street_name'])} {rest.split(' ')[-1]}"
        texts = [t.replace(street, other) for t in texts]
    miles = {m.group() for t in texts for m in _DISTANCE.finditer(t)} - {"1"}
    new = {n: str(rng.randint(2, 14)) for n in sorted(miles)}
    return [_DISTANCE.sub(lambda m: new.get(m.group(), m.group()), t) for t in texts]


def swapped_case(
    record: Mapping[str, Any], rewrites: Sequence[str], rng: random.Random, chinese: bool
) -> tuple[dict[str, Any], list[str]]:
    """A case (text, context) and its rewrites, about other things."""
    turns = record.get("context", [])
    texts = swapped([record["text"], *rewrites, *(t["text"] for t in turns)], rng, chinese)
    context = [{**t, "text": s} for t, s in zip(turns, texts[1 + len(rewrites) :], strict=True)]
    return {**record, "text": texts[0], "context": context}, texts[1 : 1 + len(rewrites)]
