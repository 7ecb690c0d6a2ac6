"""What the words before a number say about it."""

from __future__ import annotations

import re
from functools import lru_cache

from models.lexicons import load_lexicon
from models.word_pattern import WordFinder

WINDOW = 28
"""Characters before a number in which a word may say what it is."""

_CUT = re.compile(r"[。！？；!?\n]|\d{4,}")
_LINK = re.compile(r"(?:\s*(?:编?号码?|no\.?|num(?:ber)?|id))?[\s:：#=是为\-]*(?:is\s*)?[\s:：#]*", re.IGNORECASE)


@lru_cache(maxsize=1)
def _all_words() -> WordFinder:
    return WordFinder(" ".join(load_lexicon("privacy.toml")["context"].values()))


@lru_cache(maxsize=1)
def _kind_of_word() -> dict[str, str]:
    kinds: dict[str, str] = {}
    for kind, words in load_lexicon("privacy.toml")["context"].items():
        for word in words.split():
            kinds.setdefault(word.lower().replace("_", " "), kind)
    return kinds


def kind_before(text: str, start: int) -> str | None:
    """The kind (`phone`, `card`, `id`, `code`, `business` …) that the nearest word before offset `start` names."""
    before = text[max(0, start - WINDOW) : start].lower()
    cut = 0
    for match in _CUT.finditer(before):
        cut = match.end()
    spans = _all_words().spans(before, cut)
    return _kind(before, spans[-1]) if spans else None


def is_business(text: str, start: int) -> bool:
    """Whether a word such as 订单号 or "tracking number" leads straight up to offset `start`."""
    before = text[max(0, start - WINDOW) : start].lower()
    for span in reversed(_all_words().spans(before)):
        if _kind(before, span) == "business":
            link = _LINK.match(before, span[1])
            return link is not None and link.end() == len(before)
        if _LINK.fullmatch(before, span[1]) is None:
            return False
    return False


def _kind(lowered: str, span: tuple[int, int]) -> str | None:
    return _kind_of_word().get(re.sub("[_-]", " ", lowered[span[0] : span[1]])) or _kind_of_word().get(
        lowered[span[0] : span[1]]
    )
