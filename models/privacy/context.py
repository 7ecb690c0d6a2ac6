"""What the words before a number say about it."""

from __future__ import annotations

import re
from functools import lru_cache

from models.lexicons import load_lexicon

WINDOW = 28
"""Characters before a number in which a word may say what it is."""

_CUT = re.compile(r"[。！？；!?\n]|\d{4,}")
_LINK = r"(?:\s*(?:编?号码?|no\.?|num(?:ber)?|id))?[\s:：#=是为\-]*(?:is\s*)?[\s:：#]*$"


def alternatives(words: str) -> str:
    """A regular expression alternation of a blank-separated list, longest first; `_` is any blank."""
    items = sorted(set(words.split()), key=lambda word: (-len(word), word))
    return "|".join(_bounded(re.escape(item.replace("_", " ")).replace(r"\ ", r"[ _]")) for item in items)


def _bounded(pattern: str) -> str:
    left = r"(?<![A-Za-z])" if pattern[0].isascii() else ""
    return left + pattern + (r"(?![A-Za-z])" if pattern[-1].isascii() else "")


@lru_cache(maxsize=1)
def _kinds() -> re.Pattern[str]:
    table = load_lexicon("privacy.toml")["context"]
    return re.compile("|".join(f"(?P<{kind}>{alternatives(words)})" for kind, words in table.items()), re.IGNORECASE)


@lru_cache(maxsize=1)
def _business_link() -> re.Pattern[str]:
    words = load_lexicon("privacy.toml")["context"]["business"]
    return re.compile(f"(?:{alternatives(words)}){_LINK}", re.IGNORECASE)


def kind_before(text: str, start: int) -> str | None:
    """The kind (`phone`, `card`, `id`, `code`, `business` …) that the nearest word before offset `start` names."""
    before = text[max(0, start - WINDOW) : start]
    cut = 0
    for match in _CUT.finditer(before):
        cut = match.end()
    kind = None
    for match in _kinds().finditer(before, cut):
        kind = match.lastgroup
    return kind


def is_business(text: str, start: int) -> bool:
    """Whether a word such as 订单号 or "tracking number" leads straight up to offset `start`."""
    return _business_link().search(text, max(0, start - WINDOW), start) is not None
