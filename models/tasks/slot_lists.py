"""The word lists and patterns of ``lexicons/slots.toml``, read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from models.lexicons import load_lexicon

Mode = Literal["value", "like", "have", "gone", "many"]


class SlotPattern(Struct, frozen=True):
    """One pattern over a clause; see the head of the file."""

    lang: str
    mode: Mode
    attribute: str
    regex: re.Pattern[str]
    requires: re.Pattern[str] | None
    generic: bool


class SlotLists(Struct, frozen=True):
    """All lists, compiled."""

    patterns: tuple[SlotPattern, ...]
    negative: frozenset[str]
    stop: frozenset[str]
    articles: frozenset[str]
    en_tail: tuple[str, ...]
    en_light: tuple[str, ...]
    zh_tail: tuple[str, ...]
    zh_light: tuple[str, ...]
    zh_head: tuple[str, ...]
    relations: tuple[str, ...]
    fillers: tuple[str, ...]
    change: re.Pattern[str]
    addition: re.Pattern[str]
    past: re.Pattern[str]
    doubt: re.Pattern[str]
    wishes: re.Pattern[str]
    attributes: frozenset[str]
    classes: tuple[tuple[str, re.Pattern[str]], ...]
    function_words: frozenset[str]
    english_pronouns: frozenset[str]
    no_value_starts: tuple[str, ...]


def words_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """One alternation over words ("_" stands for a blank), longest first; Latin ones with word boundaries."""
    latin = sorted((w for w in words if w.isascii()), key=lambda w: (-len(w), w))
    other = sorted((w for w in words if not w.isascii()), key=lambda w: (-len(w), w))
    parts = [r"\b(?:" + "|".join(re.escape(w.replace("_", " ")) for w in latin) + r")\b"] if latin else []
    return re.compile("(?i)" + "|".join(parts + [re.escape(w) for w in other]))


def _long_first(text: str) -> tuple[str, ...]:
    return tuple(sorted((w.replace("_", " ") for w in text.split()), key=lambda w: (-len(w), w)))


@lru_cache(maxsize=1)
def slot_lists() -> SlotLists:
    """The lists of the shipped file. Raises ResourceError where it is malformed."""
    data = load_lexicon("slots.toml")
    patterns = tuple(
        SlotPattern(
            p["lang"],
            p["mode"],
            p["attribute"],
            re.compile(p["regex"]),
            re.compile(p["requires"]) if "requires" in p else None,
            p.get("generic", False),
        )
        for p in data["pattern"]
    )
    negative = {w.replace("_", " ") for key in ("en_negative", "zh_negative") for w in data[key].split()}
    return SlotLists(
        patterns=patterns,
        negative=frozenset(negative),
        stop=frozenset(data["stop_objects"].split()),
        articles=frozenset(data["articles"].split()),
        en_tail=_long_first(data["en_tail"]),
        en_light=_long_first(data["en_light"]),
        zh_tail=_long_first(data["zh_tail"]),
        zh_light=_long_first(data["zh_light"]),
        zh_head=_long_first(data["zh_measures"] + " " + data["zh_colours"]),
        relations=_long_first(data["relations"]),
        fillers=_long_first(data["fillers"]),
        change=words_pattern(data["change"].split()),
        addition=words_pattern(data["addition"].split()),
        past=words_pattern(data["past"].split()),
        doubt=words_pattern(data["doubt"].split()),
        wishes=re.compile(rf"(?i)\b(?:{data['wishes']['en']})\b|{data['wishes']['zh']}"),
        attributes=frozenset("|".join(data["attributes"].values()).split("|")),
        classes=tuple((name, _class_pattern(table["values"])) for name, table in sorted(data["classes"].items())),
        function_words=frozenset(data["function_words"].split()),
        english_pronouns=frozenset(data["english_pronouns"].split()),
        no_value_starts=tuple(data["no_value_starts"].split()),
    )


def _class_pattern(values: str) -> re.Pattern[str]:
    """A closed-class value where it is really chosen: after "in", "by", 用 … or before "only", 沟通 …"""
    words = _long_first(values)
    en = "|".join(re.escape(w) for w in words if w.isascii())
    zh = "|".join(re.escape(w) for w in words)
    return re.compile(
        rf"(?i)\b(?:in|via|by|over|through|use|using|as|to|prefer|only|with|rather|me|on) (?:my |a |the )?(?P<a>{en})\b"
        rf"|\b(?P<b>{en}) (?:only|please|instead|over|rather)\b"
        rf"|(?:用|发|按|走|成|是|要|只|说|讲|以|通过|偏好|习惯|喜欢|为|接受)(?P<c>{zh})"
        rf"|(?P<d>{zh})(?:沟通|联系|付款|付|回复|交流|显示|格式|版|就行|就好|吧)"
    )
