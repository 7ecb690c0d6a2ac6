"""Texts about other people: names exchanged, pronouns and nouns of the other sex, with every span moved along."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_FLIP = {
    "he": "she", "him": "her", "himself": "herself", "mr": "ms", "man": "woman", "men": "women", "boy": "girl", "boys": "girls",
    "father": "mother", "son": "daughter", "sons": "daughters", "brother": "sister", "brothers": "sisters", "husband": "wife",
    "uncle": "aunt", "nephew": "niece", "king": "queen", "prince": "princess", "actor": "actress", "boyfriend": "girlfriend",
    "grandfather": "grandmother", "lord": "lady", "sir": "dame", "widower": "widow", "male": "female", "masculine": "feminine",
}  # fmt: skip
_BACK = {v: k for k, v in _FLIP.items()} | {"mrs": "mr", "miss": "mr", "hers": "his"}
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"[A-Z][^\W\d_]{2,}")
Names = Mapping[str, tuple[Sequence[str], Sequence[str]]]


def names_by_sex(records: Sequence[dict[str, Any]]) -> Names:
    """First and last names of the people that the pronouns of GAP mean, by sex."""
    found: dict[str, tuple[set[str], set[str]]] = {"he": (set(), set()), "she": (set(), set())}
    for record in records:
        for mention in record["mentions"]:
            words = _NAME.findall((mention.get("antecedent") or {}).get("text", ""))
            if words:
                first, last = found[_sex(record)]
                first.add(words[0])
                last.update(words[1:])
    return {sex: (sorted(first), sorted(last)) for sex, (first, last) in found.items()}


def _sex(record: dict[str, Any]) -> str:
    return "she" if record["mentions"][0]["text"].casefold() in ("she", "her", "hers", "herself") else "he"


def renamed(record: dict[str, Any], names: Names, rng: random.Random, flipped: bool) -> dict[str, Any]:
    """A case of GAP whose candidates have other names; ``flipped``: its people are of the other sex."""
    sex = _sex(record)
    first, last = names[{"he": "she", "she": "he"}[sex] if flipped else sex]
    new: dict[str, str] = {}
    for candidate in record["candidates"]:
        for place, word in enumerate(_NAME.findall(candidate["text"])):
            if word not in new:
                taken = {*new, *new.values()}
                new[word] = rng.choice([n for n in (last if place else first) if n not in taken])

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if word in new or not flipped:
            return new.get(word, word)
        return _cased(_of_other_sex(word.casefold(), record["text"], match.end()), word)

    return moved(record, lambda text: _WORD.sub(other, text))


_OWNS = re.compile(r"['\u2019]?s? [^\W_]")
_NO_OWNED = re.compile(
    r" (?:to|in|on|at|for|and|with|as|from|that|by|when|after|about|over|into|through|before|because|if|than|a|an|the|out|up|off|back)\b"
)


def _of_other_sex(word: str, text: str, end: int) -> str:
    if word == "his":
        return "her" if _OWNS.match(text, end) else "hers"
    if word == "her":
        return "his" if _OWNS.match(text, end) and not _NO_OWNED.match(text, end) else "him"
    return _FLIP.get(word) or _BACK.get(word) or word


def _cased(new: str, old: str) -> str:
    return old if new == old.casefold() else new.capitalize() if old[0].isupper() else new


def moved(record: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The record with its texts changed and its spans moved along: what ``change`` makes of the characters before them.

    ``change`` must treat a text's pieces alike wherever they stand, and spans must not cut them.
    """

    def span(given: dict[str, Any], text: str) -> dict[str, Any]:
        start, end = len(change(text[: given["start"]])), len(change(text[: given["end"]]))
        return {**given, "start": start, "end": end, "text": change(text)[start:end]}

    text, context = record["text"], record.get("context", [])
    texts = [*(t["text"] for t in context), text]
    mentions = []
    for mention in record["mentions"]:
        made = span(mention, text)
        if mention.get("antecedent"):
            made["antecedent"] = span(mention["antecedent"], texts[mention["antecedent"]["turn"]])
        mentions.append(made)
    done = {
        **record, "text": change(text), "mentions": mentions,
        "context": [{**t, "text": change(t["text"])} for t in context],
    }  # fmt: skip
    if "candidates" in record:
        done["candidates"] = [span(c, text) for c in record["candidates"]]
    return done
