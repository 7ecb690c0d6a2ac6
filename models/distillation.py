"""Distillation (E5): a unit's core facts in at most 50 tokens, cut out of its own words and never made up.

Extractive: fillers, politeness, greetings and hedges of form go first. If more must go, clauses without a number, date,
name, negation, condition or backer go, the least telling first. Tokens are counted as in ``token_count``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from models.claims import is_small_talk
from models.lexicons import load_lexicon
from models.records import Entity, TimeExpression
from models.text import narrow
from models.token_count import count_tokens

MAX_TOKENS = 50
_CLAUSE = re.compile(r"(?:[^，。！？；,!?;\n]|,(?=\d))+?(?:[，。！？；!?;\n]+|,(?!\d)|\.(?=\s|$)|$)", re.DOTALL)
_WORD = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:[-.:/,][^\\W_]+)*|[^\\w\\s]|_"
)
_TRIM = "，。！；,;.!、：: \n\t…~"


class _Part(Struct):
    """A clause of the text with what speaks for keeping it."""

    text: str
    must: bool
    worth: float


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(source, re.IGNORECASE) for name, source in load_lexicon("distillation.toml").items()}


def distil(
    content: str,
    resolved_content: str | None = None,
    *,
    entities: Sequence[Entity] = (),
    times: Sequence[TimeExpression] = (),
    lang: str | None = None,
) -> str:
    """The summary of a unit: at most 50 tokens, each word of it taken from `resolved_content` in order.

    `entities` and `times` name what must stay. A text of nothing but politeness comes back whole (cut to the limit).

    >>> distil("你好，麻烦帮我查一下订单 OD-88921 的物流，谢谢！")
    '查一下订单 OD-88921 的物流'
    """
    source = (resolved_content or content).strip()
    keep = [e.text for e in entities if e.text] + [t.original_form for t in times if t.original_form]
    parts = _parts(source, keep)
    if not parts:
        return _cut(source.strip(_TRIM) or source)
    while len(parts) > 1 and count_tokens(_join(parts)) > MAX_TOKENS:
        loose = [part for part in parts if not part.must]
        parts.remove(min(loose or parts[1:], key=lambda part: part.worth))
    return _cut(_join(parts))


def _parts(source: str, keep: Sequence[str]) -> list[_Part]:
    patterns = _patterns()
    parts: list[_Part] = []
    for match in _CLAUSE.finditer(source[:4000]):
        raw = match.group()
        if not any(ch.isalnum() for ch in raw) or is_small_talk(raw):
            continue
        text = _polish(raw, patterns)
        if patterns["empty"].fullmatch(narrow(text).strip(_TRIM)):
            continue
        if not any(ch.isalnum() for ch in text):
            continue
        flat = narrow(text)
        must = bool(patterns["must"].search(flat)) or any(word in text for word in keep)
        parts.append(_Part(text, must, _worth(flat, patterns, len(parts))))
    return parts


def _polish(raw: str, patterns: dict[str, re.Pattern[str]]) -> str:
    """A clause without its politeness and fillers, as long as words are left; its closing mark stays."""
    text = raw
    for name in ("lead", "filler", "tail"):
        shorter = patterns[name].sub("", text)
        while name == "lead" and shorter != text and any(ch.isalnum() for ch in shorter):
            text, shorter = shorter, patterns[name].sub("", shorter)
        if any(ch.isalnum() for ch in shorter):
            text = shorter
    return text.strip(" \t")


def _worth(flat: str, patterns: dict[str, re.Pattern[str]], place: int) -> float:
    """How telling a clause is: acts and content words, a little for coming early."""
    acts = len(patterns["telling"].findall(flat))
    return acts + min(count_tokens(flat), 12) / 12 - 0.01 * place


def _join(parts: Sequence[_Part]) -> str:
    out = ""
    for part in parts:
        text = part.text
        glue = " " if out and out[-1].isascii() and text[:1].isascii() and not out.endswith(" ") else ""
        out += glue + text
    return out.strip(_TRIM)


def _cut(text: str) -> str:
    """At most 50 tokens; a longer single clause is cut at a word, never inside a number or a name."""
    if count_tokens(text) <= MAX_TOKENS:
        return text
    fitting, used = 0, 0
    for match in _WORD.finditer(text):
        used += count_tokens(match.group())
        if used > MAX_TOKENS:
            break
        fitting = match.end()
    return text[:fitting].strip(_TRIM) if fitting else text[:MAX_TOKENS]
