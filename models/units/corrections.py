"""Corrections (W5): whether a statement says that something known is wrong, has moved to another time, or is settled."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from models.lexicons import load_lexicon
from models.prefilter import Named
from models.tasks.slot_values import content_tokens, value_kind
from models.text import narrow

MAX_TEXT = 600
"""Characters read at most."""


class Correction(Struct, frozen=True, kw_only=True):
    """`kind`: correction ("you got it wrong"), contrast ("not X but Y"), move ("put off to Y"), resolved ("it is fixed").

    `wrong` is what is denied, `what` the thing that was moved; either may be unknown (empty).
    """

    kind: Literal["correction", "contrast", "move", "resolved"]
    wrong: str = ""
    what: str = ""


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(f"(?i){source}") for name, source in load_lexicon("corrections.toml").items()}


@lru_cache(maxsize=1)
def _named() -> Named:
    return Named(_patterns())


def _english_contrast(text: str, possible: frozenset[str]) -> re.Match[str] | None:
    """ "not X but Y" of two values: names, numbers, times, or two things with articles; not "not easy, but worth it"."""
    for name in ("contrast_en", "contrast_back_en"):
        match = _search(name, text, possible)
        if match is None:
            continue
        articles = all(re.match(r"(?i)(?:the|a|an|my|our) ", match[side].strip()) for side in ("wrong", "right"))
        if articles or value_kind(match["wrong"]) != "other":
            return match
    return None


def read_correction(text: str, has_time: bool = False) -> Correction | None:
    """The correction in a statement, or None. `has_time`: a time is named, without which nothing can be moved to one.

    >>> read_correction("你记错了，我们公司已经搬到张江了。").kind
    'correction'
    >>> read_correction("不是周三，是周四").wrong
    '周三'
    """
    text = narrow(text[:MAX_TEXT]).replace("’", "'")
    possible = _named().possible(text)
    if not possible:
        return None
    contrast = _search("contrast_zh", text, possible) or _english_contrast(text, possible)
    wrong = contrast["wrong"].strip() if contrast else ""
    if _search("correction_zh", text, possible) or _search("correction_en", text, possible):
        return Correction(kind="correction", wrong=wrong)
    if text.rstrip().endswith(("?", "？", "吗")):
        return None
    if contrast:
        return Correction(kind="contrast", wrong=wrong)
    if has_time:
        move = _search("move_zh", text, possible) or _search("move_en", text, possible)
        if move:
            return Correction(kind="move", what=(move["what"] or "").strip())
    settled = _search("resolved_zh", text, possible) or _search("resolved_en", text, possible)
    if settled and not _search("unresolved", text, possible):
        return Correction(kind="resolved")
    return None


def _search(name: str, text: str, possible: frozenset[str]) -> re.Match[str] | None:
    return _patterns()[name].search(text) if name in possible else None


def is_bare_correction(text: str) -> bool:
    """Whether a text only says that something is wrong, not what is right ("不对，你搞错了，"): that comes in the next clause.

    >>> is_bare_correction("不对，你搞错了，"), is_bare_correction("你记错了，我住在苏州。")
    (True, False)
    """
    plain = narrow(text[:MAX_TEXT]).replace("’", "'")
    patterns, possible = _patterns(), _named().possible(plain)
    if not (_search("correction_zh", plain, possible) or _search("correction_en", plain, possible)):
        return False
    rest = patterns["correction_en"].sub(" ", patterns["correction_zh"].sub(" ", plain))
    return not content_tokens(rest)
