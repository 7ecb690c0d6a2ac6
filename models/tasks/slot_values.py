"""Values in statements: without articles and tails, what kind they are, and the content words two statements share."""

from __future__ import annotations

import re
from functools import lru_cache

from models.tasks.slot_lists import slot_lists
from models.text import narrow
from models.wording import split_words

MAX_TEXT = 2000
"""Characters read at most; memory units are far shorter."""

_MONEY = re.compile(
    r"[¥$€£]\s?\d|\d[\d,.]*\s*(?:元|块|万|美元|dollars|euros|yuan|usd|rmb)|[一二三四五六七八九十百千万两]+(?:元|块|万)"
)
_TIME = re.compile(
    r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|tomorrow|tonight|noon)\b|\b\d{1,2}(?::\d\d)?\s?(?:am|pm)\b|\b\d{1,2}:\d\d\b|周[一二三四五六日天末]"
    r"|星期|[月日号]$|\d[月日号点]|明天|后天|下午|上午|晚上|点半|\b\d{4}-\d\d-\d\d"
)
_ASIDE = re.compile(
    r" (?:called|named|with|in|on|at|from|that|which|who|for|since|because|when|while|after|before|during|to|and) "
)
_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万两]{2,}")
_NAME = re.compile(r"\b[A-Z][a-z]+|\b[A-Z]{2,}")


@lru_cache(maxsize=512)
def content_tokens(text: str) -> frozenset[str]:
    """The content words of a text, folded: what two statements must share to say the same."""
    lists = slot_lists()
    words = (w.key for w in split_words(narrow(text[:MAX_TEXT])))
    return frozenset(
        w for w in words if w not in lists.articles and w not in lists.function_words and any(c.isalnum() for c in w)
    )


def normal_value(raw: str, of_thing: bool = False, thing_only: bool = False) -> str:
    """A value without articles and tails, lower case; of a thing also without measure words, colours and light verbs.

    `thing_only` (a possession) leaves out what is said about the thing: "golden retriever called Biscuit" is a golden retriever.

    >>> normal_value("the Honda Civic now"), normal_value("吃川菜了", of_thing=True)
    ('honda civic', '川菜')
    """
    lists = slot_lists()
    value = narrow(raw).strip(" '\"“”「」《》-:：").lower()
    if value.isascii():
        value = _strip_tail(value, tuple(" " + t for t in lists.en_tail))
        for light in lists.en_light:
            if value.startswith(light + " ") and len(value) > len(light) + 2:
                value = value[len(light) + 1 :]
                break
        if thing_only:
            value = _ASIDE.split(value, maxsplit=1)[0]
        words = value.split()
        while len(words) > 1 and words[0] in lists.articles:
            words = words[1:]
        return " ".join(words)
    value = _strip_tail(value, lists.zh_tail)
    if not of_thing:
        return value.removeprefix("的").strip()
    for heads in (lists.zh_light, lists.zh_head, lists.zh_head):
        value = next((value[len(h) :] for h in heads if value.startswith(h) and len(value) > len(h)), value)
    return value.removeprefix("的").strip()


def _strip_tail(value: str, tails: tuple[str, ...]) -> str:
    for _ in range(4):
        tail = next((t for t in tails if value.endswith(t) and len(value) > len(t)), None)
        if tail is None:
            return value
        value = value[: -len(tail)].rstrip()
    return value


def value_kind(raw: str) -> str:
    """money, time, number, name or other."""
    for kind, pattern in (("money", _MONEY), ("time", _TIME), ("number", _DIGIT), ("name", _NAME)):
        if pattern.search(raw):
            return kind
    return "other"
