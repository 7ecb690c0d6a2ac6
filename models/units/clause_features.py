"""Evidence for a clause boundary before each word: words, word classes, the punctuation between, the spans around.

Everything is hashed into one table, so a model is a single row of weights: the score of a position is the sum of the
weights of its features. Chinese words and classes come from jieba's dictionary, English classes from a word list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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

DOMAINS = ("unit", "tree", "act")
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
    count = 0 if text.isascii() else len(_CJK.findall(text))
    return count > 8 or count * 5 >= max(1, sum(map(str.isalpha, text[:200])))


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
        if not (word.isalnum() or any(map(str.isalnum, word))):
            gap += gap_of(word)[: 4 - len(gap)]
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


def _spans(tokens: Tokens, rows: Sequence[int]) -> list[tuple[int, ...]]:
    """What lies around each of `rows` (rising) within its unmarked stretch: words and verbs before and after it."""
    if not rows:
        return []
    words, gaps = tokens.words, tokens.gaps
    verbs = _verb_flags(tokens)
    wanted = set(rows)
    begin, end = rows[0], rows[-1] + 1
    while begin and not gaps[begin]:
        begin -= 1
    while end < len(words) and not gaps[end]:
        end += 1
    left: dict[int, tuple[int, int, int, int, int]] = {}
    since = seen = 0
    verb_back = de_back = 99
    first = begin
    for i in range(begin, rows[-1] + 1):
        if gaps[i] and i:
            since = seen = 0
            verb_back = de_back = 99
            first = i
        if i in wanted:
            left[i] = since, seen, verb_back, de_back, first
        since += 1
        verb_back += 1
        de_back += 1
        if verbs[i]:
            seen += 1
            verb_back = 0
        if words[i] in ("的", "that", "who", "which"):
            de_back = 0
    found: list[tuple[int, ...]] = []
    ahead = verbs_ahead = 0
    verb_next = de_next = 99
    verb_in_de = 0
    for i in range(end - 1, rows[0] - 1, -1):
        if i + 1 < end and gaps[i + 1]:
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
        if i in wanted:
            since, seen, verb_back, de_back, first = left[i]
            found.append((
                _bucket(since), min(seen, 3), _bucket(verb_back), _bucket(de_back), _hash(words[first]),
                _bucket(ahead), min(verbs_ahead, 3), _bucket(verb_next), _bucket(de_next), verb_in_de,
            ))  # fmt: skip
    found.reverse()
    return found


def _verb_flags(tokens: Tokens) -> list[bool]:
    if tokens.chinese:
        return [tag in _ZH_VERB or tag[:1] == "v" or (tag[:1] == "e" and tag[1:] in _VERBS) for tag in tokens.tags]
    return [tag in _VERBS for tag in tokens.tags]


_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(29)
_DROP = np.uint64(64 - BITS)

_COLUMNS = [
    "kind", "bare", "gap", "after", "house", "w-2", "w-1", "w0", "w1",
    "w2", "t-2", "t-1", "t0", "t1", "t2", "since", "seen", "verb_back",
    "de_back", "first", "ahead", "verbs_ahead", "verb_next", "de_next", "verb_in_de", "mark0", "mark1",
    "none",
]  # fmt: skip
_TEMPLATES = """
kind bare|gap|gap house|kind house bare|kind w0|kind w-1|kind w0 house|kind w1|kind w-2|kind w2|kind w0 w1|kind w-1 w0
kind w-2 w-1|kind t0|kind t-1|kind t1|kind t-2|kind t2|kind t-1 t0|kind t0 t1|kind t-2 t-1|kind t-1 t0 t1|kind t-2 t-1 t0
kind t0 t1 t2|kind t-2 t-1 t0 t1|kind w-1 t0|kind t-1 w0|kind w0 t1|kind w-1 t0 t1|bare w0|bare t-1 t0|bare w-1
kind since ahead|kind seen verbs_ahead|kind since seen|kind ahead verbs_ahead|kind first verbs_ahead|kind verb_back t0
kind verb_next t0|kind de_back verb_in_de de_next|kind w-1 verb_back|kind w-1 verbs_ahead|kind w0 verb_next|kind w0 seen
kind first w0|kind de_next verb_in_de t0|kind after verbs_ahead|kind seen verb_next t0 t-1|kind t-1 verb_back verbs_ahead
kind house seen verbs_ahead|kind house t0|kind house t-1|kind verb_next de_next t-1|kind t0 verb_in_de de_next seen
mark0 bare|mark1 none bare|mark0 mark1 house|mark0 t-1|mark1 t0|mark0 mark1 t-1 t0|mark1 ahead verbs_ahead
"""
_WIDTH = 5


def _template_table() -> NDArray[np.intp]:
    """Which columns each template joins ``[templates, 5]``; a shorter one is filled with the constant column."""
    rows = [row.split() for line in _TEMPLATES.split("\n") for row in line.split("|") if row]
    return np.array([[_COLUMNS.index(name) for name in [*row, *["none"] * _WIDTH][:_WIDTH]] for row in rows])


_TABLE = _template_table()
_SLOTS = tuple(np.ascontiguousarray(column) for column in _TABLE.T)
_SEEDS = (np.arange(len(_TABLE), dtype=np.uint64) * np.uint64(2) + np.uint64(1))[:, None]


def features(tokens: Tokens, domain: str = "unit", rows: Sequence[int] | None = None) -> NDArray[np.int64]:
    """Feature numbers ``[words, templates]`` of every word, or of the words numbered `rows` (rising); a row is the evidence
    for a boundary before that word."""
    return templates(tokens, domain, rows).T


def templates(tokens: Tokens, domain: str = "unit", rows: Sequence[int] | None = None) -> NDArray[np.int64]:
    """The same by template, ``[templates, words]``."""
    count = len(tokens.words)
    rows = range(count) if rows is None else rows
    words = ["\x02", "\x02", *tokens.words, "\x02", "\x02"]
    tags = ["\x02", "\x02", *tokens.tags, "\x02", "\x02"]
    gaps = [*tokens.gaps, "\x02"]
    bare = int(not any(tokens.gaps[1:]) and count > 6)
    house = DOMAINS.index(domain)
    around = [
        (
            gap_kind(gaps[i]), bare, _hash(gaps[i]), _hash(gaps[i + 1]), house, *map(_hash, words[i : i + 5]),
            *map(_hash, tags[i : i + 5]), *span, _hash(gaps[i][:1]), _hash(gaps[i][-1:]), 0,
        )
        for i, span in zip(rows, _spans(tokens, rows), strict=True)
    ]  # fmt: skip
    base = np.array(around, dtype=np.uint64).reshape(len(rows), len(_COLUMNS)).T
    value = np.repeat(_SEEDS, len(rows), axis=1)
    for columns in _SLOTS:
        value ^= base.take(columns, axis=0)
        value *= _ODD
        value ^= value >> _SHIFT
    value *= _MIX
    value >>= _DROP
    return value.view(np.int64)


@lru_cache(maxsize=4096)
def gap_of(between: str) -> str:
    """The marks between two words, at most four; blanks count for nothing, a line break does.

    >>> gap_of(" ，“")
    ',“'
    """
    marks = [mark for mark in narrow(between) if mark not in " \t\r\u3000"]
    return "".join("\n" if mark.isspace() else mark for mark in marks[:4])


@lru_cache(maxsize=4096)
def gap_kind(gap: str) -> int:
    """0 none, 1 comma, 2 sentence end, 3 semicolon, 4 list mark, 5 colon, 6 opening, 7 closing bracket, 8 other."""
    return max((_MARKS.get(mark, 8) for mark in gap), key=lambda kind: _RANK[kind], default=0)
