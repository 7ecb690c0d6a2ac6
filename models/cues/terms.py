"""Index terms of a text: Chinese bigrams, stemmed Latin words, identifiers kept whole (the word road of recall, R2).

The same text always gives the same terms in the same order. Both sides of a search, what is remembered and what is
asked, are read with ``terms``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from models.lexicons import load_word_sets
from models.text import narrow, simplify

MAX_CHARACTERS = 20_000
"""Text beyond this is not indexed; callers cap utterances at the same length."""

MAX_WORD = 40
"""A longer run of letters is no word and is not stemmed."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f〇々"
_WORD = rf"[^\W_{_CJK}]"
_RUN = re.compile(rf"([{_CJK}]+)|{_WORD}+(?:[_\-./:@#+&'’]{{1,2}}{_WORD}+)*")
_PART = re.compile(rf"{_WORD}+")
_JOINED = re.compile(r"[_\-./:@#+&]")
_DIGIT = re.compile(r"\d")
_COUNTED = re.compile(r"\d+(?:st|nd|rd|th)?(?:[-/][a-z]+)+")
_VOWEL = re.compile("[aeiouy]")


def terms(text: str) -> list[str]:
    """The index terms of a text in order, with repeats.

    >>> terms("订单ＣＮ－Ａ１０２９３ cancelled")
    ['订单', 'cn-a10293', 'cancel']
    """
    stop = _stop_words()
    folded = narrow(text[:MAX_CHARACTERS]).lower()
    if not folded.isascii():
        folded = simplify(folded)
    out: list[str] = []
    for match in _RUN.finditer(folded):
        run = match[0]
        if match[1] is None:
            _add_words(run, stop, out)
        elif len(run) == 1:
            if run not in stop:
                out.append(run)
        else:
            out.extend([pair for pair in map(str.__add__, run, run[1:]) if pair not in stop])
    return out


def _add_words(run: str, stop: frozenset[str], out: list[str]) -> None:
    """A run of Latin letters, digits and joining signs: an identifier whole, else its words."""
    if run.isalnum():
        if run not in stop:
            out.append(stem(run))
        return
    if is_identifier(run):
        out.append(run.replace("’", "'"))
        return
    for part in _PART.findall(run.replace("'s", "").replace("’s", "")):
        if part not in stop and (len(part) > 1 or part.isdigit()):
            out.append(stem(part))


def is_identifier(run: str) -> bool:
    """Digits joined to letters or signs ("od-88921", "err_7741_qx", "15:00", "a@b.cn"), or an underscore: one term."""
    if "_" in run or "@" in run:
        return True
    return bool(_JOINED.search(run) and _DIGIT.search(run)) and not _COUNTED.fullmatch(run)


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    return load_word_sets("stop_words.toml")["index"]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light Porter-like stem of a lower-case ASCII word; other words come back as they are.

    >>> [stem(w) for w in ("cancelled", "cancels", "stories", "running", "making", "quickly")]
    ['cancel', 'cancel', 'stori', 'run', 'make', 'quick']
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha() or len(word) > MAX_WORD:
        return word
    word = _without_plural(word)
    for suffix in ("ingly", "edly", "ing", "ed") if not word.endswith("eed") else ():
        if word.endswith(suffix) and len(word) - len(suffix) >= 2 and _VOWEL.search(word[: -len(suffix)]):
            word = _mend(word[: -len(suffix)])
            break
    for suffix, shorter in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)] + shorter
            break
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    elif word.endswith("e") and len(word) > 5:
        word = word[:-1]
    return word


_SUFFIXES = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"), ("biliti", "ble"),
    ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("ement", ""), ("ment", ""), ("ness", ""), ("fully", "ful"),
    ("ably", "able"), ("ally", "al"), ("ly", ""),
)  # fmt: skip


def _without_plural(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def _mend(root: str) -> str:
    """What is left after -ed or -ing: "cancell" is "cancel", "mak" is "make"."""
    if root.endswith(("at", "bl", "iz", "v")):
        return root + "e"
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sz":
        return root[:-1] if root[-1] != "l" or len(root) > 4 else root
    if len(root) == 2:
        return root + "e" if root[0] in "aeiou" else root
    short = len(root) == 3 and root[-1] not in "aeiouwxy" and root[-2] in "aeiou" and root[-3] not in "aeiou"
    return root + "e" if short else root
