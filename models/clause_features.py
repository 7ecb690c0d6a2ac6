"""Evidence for a clause boundary before each word: words, word classes, the punctuation between, the spans around.

Everything is hashed into one table, so a model is a single row of weights: the score of a position is the sum of the
weights of its features. Chinese words and classes come from jieba's dictionary, English classes from a word list.
"""

from __future__ import annotations

import re
from functools import lru_cache
from zlib import crc32

import numpy as np
import rjieba
from msgspec import Struct
from numpy.typing import NDArray

from models.lexicons import load_lines
from models.text import narrow, simplify

BITS = 18
"""The table holds 2**BITS weights."""

DOMAINS = ("unit", "tree", "act", "intent", "chat")
"""Whose idea of a boundary a training line follows; reading always asks for ``unit``."""

_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_ENGLISH = re.compile(
    r"[A-Za-z]+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+(?:[-.@/:][^\W_]+)*|[^\w\s]|_|\n+"
)
_RUN_LIMIT = 400
_VERBS = frozenset("VDZPGBM")
_ZH_VERB = frozenset({"v", "vn", "vd", "vg", "vq", "vi", "a", "zg"})
_MARKS = {
    mark: kind
    for kind, marks in enumerate(
        ("", ",，", "。.!！?？…\n", ";；", "、/", ":：", '(（[【<《“"「『‘', ")）]】>》”」』’")
    )
    for mark in marks
}
_RANK = (0, 5, 8, 7, 1, 6, 4, 3, 2)
"""Which of several marks names the gap: a sentence end before a semicolon, a colon, a comma, an opening, a closing."""


class Tokens(Struct, frozen=True):
    """Words that hold a letter or digit, with offsets, classes, and the marks that stand before each."""

    words: list[str]
    starts: list[int]
    ends: list[int]
    tags: list[str]
    gaps: list[str]
    chinese: bool


@lru_cache(maxsize=1)
def _english_classes() -> dict[str, str]:
    classes = {}
    for line in load_lines("english_classes.txt"):
        code, _, words = line.partition(" ")
        for word in words.split():
            classes[word] = code
    return classes


def is_chinese(text: str) -> bool:
    """Whether a text is read with the Chinese model: a fifth of its letters, or more than eight, are Chinese."""
    count = len(_CJK.findall(text))
    return count > 8 or count * 5 >= max(1, sum(ch.isalpha() for ch in text[:200]))


def tokenize(text: str) -> Tokens:
    """The words of a text, in order. Offsets are characters of ``text``."""
    flat = narrow(text)
    chinese = is_chinese(flat)
    pieces = _chinese_pieces(simplify(flat)) if chinese else _english_pieces(flat)
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    tags: list[str] = []
    gaps: list[str] = []
    gap = ""
    for word, start, tag in pieces:
        if not any(ch.isalnum() for ch in word):
            mark = word.strip(" \t\r\u3000")
            if mark and len(gap) < 4:
                gap += "\n" if mark.isspace() else mark[: 4 - len(gap)]
            continue
        words.append(word.lower())
        starts.append(start)
        ends.append(start + len(word))
        tags.append(tag)
        gaps.append(gap)
        gap = ""
    return Tokens(words, starts, ends, tags, gaps, chinese)


def _chinese_pieces(text: str) -> list[tuple[str, int, str]]:
    pieces = []
    at = 0
    classes = _english_classes()
    for cut in range(0, len(text), _RUN_LIMIT):
        for word, tag in rjieba.tag(text[cut : cut + _RUN_LIMIT], False):
            kind = "m" if word[0].isdigit() else ("e" + classes.get(word.lower(), "n")) if tag == "eng" else tag
            pieces.append((word, at, kind))
            at += len(word)
    return pieces


def _english_pieces(text: str) -> list[tuple[str, int, str]]:
    classes = _english_classes()
    pieces = []
    for match in _ENGLISH.finditer(text):
        word = match.group()
        pieces.append((word, match.start(), classes.get(word.lower().replace("’", "'")) or _guess(word)))
    return pieces


def _guess(word: str) -> str:
    if word[0].isdigit():
        return "#"
    if word.endswith("ing"):
        return "G"
    if word.endswith("ed"):
        return "D"
    return "P" if word[0].isupper() and len(word) > 1 else "N"


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def _bucket(n: int) -> int:
    return n if n < 5 else 5 if n < 8 else 6 if n < 13 else 7 if n < 25 else 8


def _spans(tokens: Tokens) -> list[tuple[int, ...]]:
    words, gaps = tokens.words, tokens.gaps
    verbs = _verb_flags(tokens)
    count = len(words)
    left: list[tuple[int, int, int, int, int]] = []
    since = seen = 0
    verb_back = de_back = 99
    first = 0
    for i in range(count):
        if gaps[i] and i:
            since = seen = 0
            verb_back = de_back = 99
            first = i
        left.append((since, seen, verb_back, de_back, first))
        since += 1
        verb_back += 1
        de_back += 1
        if verbs[i]:
            seen += 1
            verb_back = 0
        if words[i] in ("的", "that", "who", "which"):
            de_back = 0
    rows: list[tuple[int, ...]] = []
    ahead = verbs_ahead = 0
    verb_next = de_next = 99
    verb_in_de = 0
    for i in range(count - 1, -1, -1):
        if i + 1 < count and gaps[i + 1]:
            ahead = verbs_ahead = verb_in_de = 0
            verb_next = de_next = 99
        ahead += 1
        verb_next += 1
        de_next += 1
        if verbs[i]:
            verbs_ahead += 1
            verb_next = 0
            verb_in_de = 1 if de_next < 99 else verb_in_de
        if words[i] == "的":
            de_next = 0
            verb_in_de = 0
        since, seen, verb_back, de_back, first = left[i]
        rows.append((
            _bucket(since), min(seen, 3), _bucket(verb_back), _bucket(de_back), _hash(words[first]),
            _bucket(ahead), min(verbs_ahead, 3), _bucket(verb_next), _bucket(de_next), verb_in_de,
        ))  # fmt: skip
    rows.reverse()
    return rows


def _verb_flags(tokens: Tokens) -> list[bool]:
    if tokens.chinese:
        return [tag in _ZH_VERB or tag[:1] == "v" or (tag[:1] == "e" and tag[1:] in _VERBS) for tag in tokens.tags]
    return [tag in _VERBS for tag in tokens.tags]


_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


def _combine(template: int, *columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = np.full(columns[0].shape, template * 2 + 1, dtype=np.uint64)
    for column in columns:
        value = (value ^ column) * _ODD
        value ^= value >> np.uint64(29)
    return (value * _MIX) >> np.uint64(64 - BITS)


def features(tokens: Tokens, domain: str = "unit") -> NDArray[np.int64]:
    """Feature numbers ``[words, templates]`` of every word; a row is the evidence for a boundary before that word."""
    count = len(tokens.words)
    pad = 3
    edge = _hash("\x02")
    words = np.array([edge] * pad + [_hash(w) for w in tokens.words] + [edge] * pad, dtype=np.uint64)
    tags = np.array([edge] * pad + [_hash(t) for t in tokens.tags] + [edge] * pad, dtype=np.uint64)
    gaps = np.array([_hash(g) for g in tokens.gaps] + [edge], dtype=np.uint64)
    kinds = np.array([gap_kind(g) for g in tokens.gaps], dtype=np.uint64)
    spans = np.array(_spans(tokens), dtype=np.uint64).reshape(count, 10)
    bare = np.full(count, int(not any(tokens.gaps[1:]) and count > 6), dtype=np.uint64)
    house = np.full(count, DOMAINS.index(domain), dtype=np.uint64)

    def w(k: int) -> NDArray[np.uint64]:
        return words[pad + k : pad + k + count]

    def t(k: int) -> NDArray[np.uint64]:
        return tags[pad + k : pad + k + count]

    s = spans.T
    gap, after = gaps[:count], gaps[1 : count + 1]
    lists: list[tuple[NDArray[np.uint64], ...]] = [
        (kinds, bare), (gap,), (gap, house), (kinds, house, bare), (kinds, w(0)), (kinds, w(-1)), (kinds, w(0), house),
        (kinds, w(1)), (kinds, w(-2)), (kinds, w(2)), (kinds, w(0), w(1)), (kinds, w(-1), w(0)), (kinds, w(-2), w(-1)),
        (kinds, t(0)), (kinds, t(-1)), (kinds, t(1)), (kinds, t(-2)), (kinds, t(2)), (kinds, t(-1), t(0)),
        (kinds, t(0), t(1)), (kinds, t(-2), t(-1)), (kinds, t(-1), t(0), t(1)), (kinds, t(-2), t(-1), t(0)),
        (kinds, t(0), t(1), t(2)), (kinds, t(-2), t(-1), t(0), t(1)), (kinds, w(-1), t(0)), (kinds, t(-1), w(0)),
        (kinds, w(0), t(1)), (kinds, w(-1), t(0), t(1)), (bare, w(0)), (bare, t(-1), t(0)), (bare, w(-1)),
        (kinds, s[0], s[5]), (kinds, s[1], s[6]), (kinds, s[0], s[1]), (kinds, s[5], s[6]), (kinds, s[4], s[6]),
        (kinds, s[2], t(0)), (kinds, s[7], t(0)), (kinds, s[3], s[9], s[8]), (kinds, w(-1), s[2]), (kinds, w(-1), s[6]),
        (kinds, w(0), s[7]), (kinds, w(0), s[1]), (kinds, s[4], w(0)), (kinds, s[8], s[9], t(0)), (kinds, after, s[6]),
        (kinds, s[1], s[7], t(0), t(-1)), (kinds, t(-1), s[2], s[6]), (kinds, house, s[1], s[6]), (kinds, house, t(0)),
        (kinds, house, t(-1)), (kinds, s[7], s[8], t(-1)), (kinds, t(0), s[9], s[8], s[1]),
    ]  # fmt: skip
    return np.stack([_combine(k, *columns) for k, columns in enumerate(lists)], axis=1).astype(np.int64)


def gap_kind(gap: str) -> int:
    """0 none, 1 comma, 2 sentence end, 3 semicolon, 4 list mark, 5 colon, 6 opening, 7 closing bracket, 8 other."""
    return max((_MARKS.get(mark, 8) for mark in gap), key=lambda kind: _RANK[kind], default=0)
