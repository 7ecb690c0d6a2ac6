"""Claims: which parts of an utterance are the speaker's own statements (I6), and what kind of talk a statement is (W1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from models.lexicons import load_lexicon
from models.prefilter import Named
from models.tasks.slot_values import content_tokens
from models.text import narrow

MAX_TEXT = 2000
"""Characters of one unit that are read; units are far shorter."""

_BLOCK_END = re.compile(r"\n\s*\n|</[\w -]+>|\[/[^\]\n]{1,40}\]|$")
_SENTENCE_STOP = re.compile(r"[。.!！?？;；]")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,8}>[^\n]*")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    data = load_lexicon("policy.toml")
    words = sorted(data["small_talk"].split(), key=lambda w: (-len(w), w))
    latin = "|".join(re.escape(w) for w in words if w.isascii())
    other = "|".join(re.escape(w) for w in words if not w.isascii())
    patterns = {"small_talk": re.compile(rf"(?i)\b(?:{latin})\b|{other}")}
    for name, source in data.items():
        if name not in ("small_talk", "data_names"):
            patterns[name] = re.compile(f"(?i){source}")
    return patterns


@lru_cache(maxsize=1)
def _named() -> Named:
    return Named({name: pattern for name, pattern in _patterns().items() if name != "small_talk"})


@lru_cache(maxsize=1)
def _milestones() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = load_lexicon("milestones.toml")
    return tuple((name, _words(table["words"])) for name, table in data.items())


@lru_cache(maxsize=1)
def _named_milestones() -> Named:
    return Named(dict(_milestones()))


def _words(words: Sequence[str]) -> re.Pattern[str]:
    latin = "|".join(re.escape(w) for w in words if w.isascii())
    other = "|".join(re.escape(w) for w in words if not w.isascii())
    parts = [rf"\b(?:{latin})(?:\b|(?<=\s))"] if latin else []
    return re.compile("(?i)" + "|".join(parts + ([other] if other else [])))


def foreign_spans(text: str) -> list[tuple[int, int]]:
    """Spans that are not the speaker's: injected recall blocks and quoted lines. Sorted, disjoint."""
    patterns = _patterns()
    spans = [match.span() for match in _QUOTED_LINE.finditer(text)] if ">" in text else []
    possible = _named().possible(text)
    for name in possible & {"injected", "injected_block"}:
        for match in patterns[name].finditer(text):
            block_end = _BLOCK_END.search(text, match.end())
            spans.append((match.start(), block_end.end() if block_end else len(text)))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def own_spans(start: int, end: int, foreign: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of ``[start, end)`` without the foreign spans.

    >>> own_spans(0, 10, [(2, 4)])
    [(0, 2), (4, 10)]
    """
    left, at = [], start
    for begin, stop in sorted(foreign):
        if stop <= at or begin >= end:
            continue
        if begin > at:
            left.append((at, begin))
        at = max(at, stop)
    if at < end:
        left.append((at, end))
    return left


def says(kind: str, text: str) -> bool:
    """Whether a text is of a kind named in ``lexicons/policy.toml``: recital, proposal, trial, reasoning, pending …"""
    text = _plain(text)
    return kind in _named().possible(text) and _patterns()[kind].search(text) is not None


@lru_cache(maxsize=256)
def is_small_talk(text: str) -> bool:
    """Whether a text consists of nothing but small talk ("嗯嗯。", "ok, thanks a lot!").

    >>> is_small_talk("哈哈哈好的好的。"), is_small_talk("好的，地址改成杭州"), is_small_talk("在吗？")
    (True, False, True)
    """
    text = _plain(text)
    if len(text) > 200:
        return False
    begins, at = _patterns()["small_talk"].match, 0
    while at < len(text):  # the first word that is none ends it
        match = begins(text, at)
        if match is None and text[at].isalnum():
            return False
        at = match.end() if match is not None else at + 1
    return True


def tells_besides_data(bare: str) -> bool:
    """Whether a text, its masked values taken out, says more than what kind of value it held ("my card number is")."""
    return bool(content_tokens(bare) - frozenset(load_lexicon("policy.toml")["data_names"].split()))


def milestone(text: str) -> str | None:
    """The business milestone that a statement reports (W2), or None.

    >>> milestone("这个报价我确认了，总价四万八，就按这个签。")
    'confirm_quote'
    """
    text = _plain(text)
    found = None
    possible = _named_milestones().possible(text)
    for name, pattern in _milestones():
        match = pattern.search(text) if name in possible else None
        if match and name == "not":
            return None
        if match and found is None:
            found = name
    return found


def asks_only(text: str) -> bool:
    """Whether a text only asks, telling nothing of the speaker.

    >>> asks_only("保修期是多久？"), asks_only("I moved to Rome, which gym is near?")
    (True, False)
    """
    return _asks(_plain(text), "") and not tells(text)


def tells(text: str) -> bool:
    """Whether some sentence of a text that is no question says something of the speaker."""
    plain = _plain(text)
    for match in re.finditer(r"[^.。!！?？;；\n,，]+[.。!！?？;；\n,，]?", plain):
        part = match.group()
        if not _asks(part, plain[match.end() :]) and _patterns()["first_person_fact"].search(part):
            return True
    return False


def _asks(part: str, rest: str) -> bool:
    """Whether a part of a text asks. A Chinese sentence that ends in a full stop only does if it says so (请问, 想知道)."""
    bare = part.strip(" ,，?？") if part.isascii() else _patterns()["hesitation"].sub("", part.strip(" ,，"))
    stop = _SENTENCE_STOP.search(part + rest)
    if not part.isascii() and stop is not None and stop.group() in "。.!！;；":
        return bool(_patterns()["polite_question"].search(bare))
    if part.rstrip().endswith("?") and _patterns()["question_start"].match(bare):
        return True
    return bool(_patterns()["question_mark"].search(bare))


def _plain(text: str) -> str:
    return narrow(text[:MAX_TEXT]).replace("’", "'").strip()
