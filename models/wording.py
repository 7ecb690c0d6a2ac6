"""Words with offsets, the unit in which references are found and copied: Chinese by dictionary, the rest by script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import rjieba
from msgspec import Struct

from models.text import simplify

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_RUN = re.compile(rf"[{CJK}]+")
_PIECES = re.compile(
    rf"[{CJK}]+|[^\W_{CJK}]+(?:(?:[-:'’/&+@]|\.(?!(?<=[a-z]{{2}}\.)[A-Z][a-z]))[^\W_{CJK}]+)*(?<!'s)(?<!’s)|['’]s\b|[^\w\s]|_"
)
_RUN_LIMIT = 400
"""Longest stretch of Chinese characters given to the dictionary at once; longer ones are cut, so time stays linear."""


_REMEMBER = 600
"""Texts up to this length are remembered: each turn is read again as context of the next ones."""


class Word(Struct, frozen=True):
    """One word and where it stands: ``text == source[start:end]`` before width and case folding."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Form under which words are compared: compatibility-normalised, simplified and case-folded."""
        return fold(self.text)


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """A word without case and width, in simplified characters."""
    return simplify(unicodedata.normalize("NFKC", word)).casefold()


def is_cjk(word: str) -> bool:
    """Whether a word is written in Chinese characters."""
    return bool(_CJK_RUN.match(word))


def has_cjk(text: str) -> bool:
    """Whether a text holds a Chinese character."""
    return bool(_CJK_RUN.search(text))


def split_words(text: str) -> list[Word]:
    """Words and punctuation marks of a text, in order, with their character offsets. White space is dropped."""
    return list(_remembered(text) if len(text) <= _REMEMBER else _split(text))


@lru_cache(maxsize=2048)
def _remembered(text: str) -> tuple[Word, ...]:
    return tuple(_split(text))


def _split(text: str) -> list[Word]:
    """Traditional characters are cut as their simplified ones, which the dictionary knows; a word keeps its own."""
    plain = simplify(text)
    if plain == text:
        return _split_plain(text)
    return [Word(text[word.start : word.end], word.start, word.end) for word in _split_plain(plain)]


def _split_plain(text: str) -> list[Word]:
    words: list[Word] = []
    for match in _PIECES.finditer(text):
        piece, at = match.group(), match.start()
        if not _CJK_RUN.match(piece):
            words.extend(_split_possessive(piece, at))
            continue
        for cut in range(0, len(piece), _RUN_LIMIT):
            for part in rjieba.cut(piece[cut : cut + _RUN_LIMIT], False):
                words.extend(_split_pronoun(part, at + cut))
                at += len(part)
            at -= len(piece[cut : cut + _RUN_LIMIT])
    return words


def _split_possessive(piece: str, at: int) -> list[Word]:
    for mark in ("'s", "’s", "'S", "’S"):
        if len(piece) > 2 and piece.endswith(mark):
            return [Word(piece[:-2], at, at + len(piece) - 2), Word(piece[-2:], at + len(piece) - 2, at + len(piece))]
    return [Word(piece, at, at + len(piece))]


_PRONOUN_HEAD = re.compile("^(?:[他她它](?:们|俩)?+|咱们?+|[这那]里|[这那]儿|[这那](?=[会时]))(?=.)")


def _split_pronoun(part: str, at: int) -> list[Word]:
    """A dictionary word that begins with a pronoun ("他家") is two words here."""
    head = _PRONOUN_HEAD.match(part) if len(part) > 1 else None
    if not head:
        return [Word(part, at, at + len(part))]
    cut = head.end()
    return [Word(part[:cut], at, at + cut), Word(part[cut:], at + cut, at + len(part))]
