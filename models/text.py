"""Cleaning of what was said (I2): the shown text is tidied, the original is kept, and offsets stay mappable.

``narrow`` keeps the length, so spans found in it hold in its input. ``clean`` drops characters and remembers where the
ones that stay came from. Neither ever empties a text that held something.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache

from msgspec import Struct

from models.language import detect
from models.lexicons import load_lines

REMEMBERED = 600
"""Texts of so many characters are remembered for a while: every stage reads an utterance in this form."""
KEPT_PUNCTUATION = 3
"""A run of one punctuation mark is cut to this many: "！！！！！！" still shouts."""

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d"


def _narrow_table() -> dict[int, str]:
    """Full-width, mathematical and half-width katakana-block forms to their ordinary single character."""
    table = {}
    for code in [*range(0xFF01, 0xFFEF), *range(0x1D400, 0x1D800)]:
        folded = unicodedata.normalize("NFKC", chr(code))
        if len(folded) == 1 and folded != chr(code) and not 0x30A0 <= ord(folded) <= 0x31FF:
            table[code] = folded
    table.update({ord(ch): " " for ch in _SPACES})
    table.update({ord(ch): "-" for ch in _DASHES})
    table[0xFFE5] = "¥"
    return table


_NARROW = _narrow_table()
_SENTENCE_MARKS = frozenset("，！？；：（）。、｡､")
_NARROW_IN_CHINESE = {code: to for code, to in _NARROW.items() if chr(code) not in _SENTENCE_MARKS}
_WIDE = re.compile(f"[{_SPACES}{_DASHES}\uff01-\uffee\U0001d400-\U0001d7ff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def narrow(text: str) -> str:
    """Full-width forms, odd spaces and dashes as their ordinary ones; every character keeps its offset."""
    if text.isascii() or not _WIDE.search(text):
        return text
    return _narrowed(text) if len(text) <= REMEMBERED else text.translate(_NARROW)


@lru_cache(maxsize=256)
def _narrowed(text: str) -> str:
    return text.translate(_NARROW)


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    table = {}
    for line in load_lines("traditional.txt"):
        old, new = line.split("\t")
        table[ord(old)] = new
    return table


@lru_cache(maxsize=1)
def _traditional() -> re.Pattern[str]:
    """Finds one of the table's characters, or one past the basic plane (a set that names those is slow)."""
    near = "".join(chr(code) for code in _simplified() if code < 0x10000)
    return re.compile(f"[{near}\U00010000-\U0010ffff]")


def simplify(text: str) -> str:
    """Traditional characters as simplified ones, one for one (OpenCC's character table), so offsets stay."""
    if text.isascii() or _traditional().search(text) is None:
        return text
    return text.translate(_simplified())


class Cleaned(Struct, frozen=True):
    """`text` is the cleaned text; `origin[i]` the offset in the original of its character i (rising)."""

    text: str
    origin: list[int]
    original_length: int

    def move(self, offset: int) -> int:
        """The place in `text` of an offset into the original: that of the next character that stayed."""
        return bisect_left(self.origin, offset)

    def move_span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the original as a span of `text`; empty where all of it was dropped."""
        return self.move(start), self.move(end)

    def back(self, offset: int) -> int:
        """The offset in the original of an offset into `text`; its end is the original's end."""
        return self.origin[offset] if offset < len(self.origin) else self.original_length


_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+"
)
_JOINER = re.compile("(?<![\u200d\ufe0f\u20e3\u2600-\u27bf\U0001f000-\U0001faff])[\u200c\u200d]")
_BLANKS = re.compile(r"[ \t]{2,}|\n{3,}|[ \t]+(?=\n)")
_TOKEN = re.compile(r"[A-Za-z0-9_.\-/@:=#+]+")
_CODE_SIGN = re.compile(r"[0-9_/@=#+\-]")
_CONTENT = re.compile(r"\w")
_DIGITS = "零〇一二三四五六七八九十百千万亿两幺洞0-9"
_MARKS = re.compile(r"([!?.,;:~。，！？；：、…～\-—*#=_|])\1{3,}")
_LETTERS = re.compile(r"([A-Za-z])\1{3,}")
_HAN = re.compile(rf"((?![{_DIGITS}])[\u3400-\u9fff])\1{{2,}}")
_SYMBOLS = re.compile("([\u2600-\u27bf\U0001f000-\U0001faff]\ufe0f?)\\1{3,}")
_PHRASE = re.compile(rf"((?:(?![{_DIGITS}])[\u3400-\u9fff]){{2,6}}?)\1{{2,}}")
_WORDS = re.compile(r"(?<![\w-])([A-Za-z]{1,20}(?:'[a-z]{1,3})?)(?:,? \1){2,}(?![\w'-])", re.IGNORECASE)
_STUTTER = re.compile(
    r"(?<![\w-])(i|the|a|an|to|we|and|but|my|it|you|is|of|so)(?:,? \1)+(?![\w'-])|([我你他她这那])\2+(?=[我你他她这那想要就的个])",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?<![\w-])(?:[Uu]+[mh]+|[Uu]h+m+|[Ee]r+m+|[Ee]rr+|[Hh]m+|[Mm]{2,4})(?![\w'-])(?P<en>[,.…]*\s*)"
    r"|(?:嗯+(?!哼)|呃+(?!逆)|(?:(?<=[，。！？；、,.!?;…\s])|^)[啊额噢喔欸诶呣唔]+(?=[，。！？；、,.!?;…\s]|$))(?P<zh>[，、,.…。～~]*\s*)"
)
_OPEN = "，。！？；、,.!?;:：\n\t …"


class _Draft:
    """The characters under cleaning: substituted one for one in `text`, dropped by a zero in `keep`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.keep = bytearray(b"\x01") * len(text)

    def drop(self, start: int, end: int) -> None:
        """Marks the characters of a span as dropped."""
        self.keep[start:end] = bytes(end - start)

    def finish(self, origin: list[int]) -> tuple[str, list[int]]:
        """What stays, with its offsets in the original."""
        if 0 not in self.keep:
            return self.text, origin
        kept = [at for at, flag in enumerate(self.keep) if flag]
        return "".join([self.text[at] for at in kept]), [origin[at] for at in kept]


def clean(text: str, lang: str | None = None) -> Cleaned:
    """The text without control characters, fillers and drawn-out repeats, narrow where that reads the same.

    Chinese sentence marks stay full-width in Chinese text. Digits, identifiers and codes keep every character. Fillers
    go only in Chinese and English. `lang` is detected where it is None.
    """
    if lang is None:
        lang = detect(text).lang
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", text)
    table = _NARROW_IN_CHINESE if lang in ("zh", "ja") else _NARROW
    base = text if text.isascii() or not _WIDE.search(text) else text.translate(table)
    current, origin = base, list(range(len(base)))
    for step in (_drop_controls, _drop_repeats, _drop_fillers if lang in ("zh", "en") else None, _drop_blanks):
        if step is not None and current:
            draft = _Draft(current)
            step(draft)
            shorter, places = draft.finish(origin)
            if _CONTENT.search(shorter) or not _CONTENT.search(current):
                current, origin = shorter, places
    return Cleaned(current, origin, len(text))


def _drop_controls(draft: _Draft) -> None:
    if draft.text.isprintable() and draft.text.isascii():
        return
    for pattern in (_CONTROL, _JOINER):
        for match in pattern.finditer(draft.text):
            draft.drop(*match.span())


def _drop_repeats(draft: _Draft) -> None:
    text = draft.text
    codes = [match.span() for match in _TOKEN.finditer(text) if _CODE_SIGN.search(match[0])]
    for pattern, kept in ((_MARKS, KEPT_PUNCTUATION), (_SYMBOLS, KEPT_PUNCTUATION), (_LETTERS, 2), (_HAN, 2)):
        for match in pattern.finditer(text):
            inside = pattern is _LETTERS and _within(match.start(), match.end(), codes)
            if not inside and not (pattern is _LETTERS and _stands_alone(text, match.start(), match.end())):
                draft.drop(match.start() + kept * len(match[1]), match.end())
    for match in _PHRASE.finditer(text):
        if len(set(match[1])) > 1:
            draft.drop(match.start() + 2 * len(match[1]), match.end())
    for match in _WORDS.finditer(text):
        second = text.find(" ", match.start() + len(match[1])) + 1 + len(match[1])
        draft.drop(second, match.end())
    for match in _STUTTER.finditer(text):
        draft.drop(match.start() + len(match[1] or match[2]), match.end())


def _within(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_left(spans, (start + 1, 0)) - 1
    return at >= 0 and spans[at][0] <= start and end <= spans[at][1]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """A run of one capital letter on its own ("AAAA", "XXXX") is a code or a grade, not a drawn-out word."""
    alone = not (start and text[start - 1].isalpha()) and not (end < len(text) and text[end].isalpha())
    return alone and text[start].isupper()


def _drop_fillers(draft: _Draft) -> None:
    """Fillers go with the mark that set them off; a sentence's own mark stays."""
    text = draft.text
    for match in _FILLER.finditer(text):
        start, end = match.span()
        core = match.start("en") if match["en"] is not None else match.start("zh")
        opens = not start or text[max(start - 2, 0) : start].strip(" ")[-1:] in ("。", ".", "!", "?", "！", "？", "\n")
        if not opens and (core == len(text) or text[core] in "。.!?！？…"):
            end = core
            while start and text[start - 1] in ",，、 ":
                start -= 1
        elif start and text[start - 1] not in _OPEN:
            end = core
        draft.drop(start, end)


def _drop_blanks(draft: _Draft) -> None:
    text = draft.text
    for match in _BLANKS.finditer(text):
        kept = 2 if match[0][0] == "\n" else 0 if text[match.end() : match.end() + 1] == "\n" else 1
        draft.drop(match.start() + kept, match.end())
    head = len(text) - len(text.lstrip())
    draft.drop(0, head)
    draft.drop(max(len(text.rstrip()), head), len(text))
