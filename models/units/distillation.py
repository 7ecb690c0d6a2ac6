"""Distillation (E5): a unit's core facts in at most 50 tokens, cut out of its own words and never made up.

Extractive: fillers, politeness, greetings and hedges of form go first. If more must go, clauses without a number, date,
name, negation, condition or backer go, the least telling first. Tokens are counted as in ``token_count``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from models.lexicons import FOLDER, read_patterns
from models.records import Entity, TimeExpression
from models.text import narrow
from models.units.claims import is_small_talk
from models.units.token_count import count_tokens

LEXICON = FOLDER / "distillation.toml"
Patterns = Mapping[str, re.Pattern[str]]
MAX_TOKENS = 50
_CLAUSE = re.compile(r"(?:[^，。！？；,!?;\n]|,(?=\d))+?(?:[，。！？；!?;\n]+|,(?!\d)|\.(?=\s|$)|$)", re.DOTALL)
_WORD = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:[-.:/,][^\\W_]+)*|[^\\w\\s]|_"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NO = re.compile("no|nope|never|not|不|不行|不是|不要|不可以|不能|没有|别|不用", re.IGNORECASE)
"""A clause that says no and nothing else is an answer, not small talk."""
_LEADS = re.compile(
    r"(?:但|而|那|所以|and |but |so )?(?:如果|要是|假如|倘若|只要|只有|除非|一旦|即使|虽然|尽管|因为|由于|要不是|不是|不,|不，|no,|if|unless|when|once|although|because|provided)",
    re.IGNORECASE,
)
_TRAILS = re.compile(r"(?:除非|否则|不然|而是|but only if|only if|if|unless|otherwise|provided|or else)", re.IGNORECASE)
_COMMAS = (",", "，")
LENGTH_COST = 0.6
"""How far length speaks against a clause where not all facts fit."""
_TRIM = "，。！；,;.!、：: \n\t…~"


class _Part(Struct):
    """A clause of the text with what speaks for keeping it."""

    text: str
    must: bool
    worth: float
    facts: int


def read_words(path: Path = LEXICON) -> Patterns:
    """The expressions of ``distillation.toml``. Raises ResourceError with file and line if one is missing or malformed."""
    return read_patterns(path, ("lead", "filler", "tail", "must", "telling", "empty"))


@lru_cache(maxsize=1)
def shipped_words() -> Patterns:
    """The shipped expressions, read once."""
    return read_words()


def distil(
    content: str,
    resolved_content: str | None = None,
    *,
    entities: Sequence[Entity] = (),
    times: Sequence[TimeExpression] = (),
    lang: str | None = None,
    patterns: Patterns | None = None,
) -> str:
    """The summary of a unit: at most 50 tokens, each word of it taken from `resolved_content` in order.

    `entities` and `times` name what must stay; `patterns` are the word lists in force. A text of nothing but politeness comes back whole (cut to the limit).

    >>> distil("你好，麻烦帮我查一下订单 OD-88921 的物流，谢谢！")
    '查一下订单 OD-88921 的物流'
    """
    source = (resolved_content or content).strip()
    keep = [e.text for e in entities if e.text] + [t.original_form for t in times if t.original_form]
    parts = _parts(source, keep, patterns or shipped_words())
    if not parts:
        return _cut(source.strip(_TRIM) or source)
    if count_tokens(_join(parts)) > MAX_TOKENS:  # said twice is kept once
        parts = list({part.text: part for part in reversed(parts)}.values())[::-1]
    while count_tokens(_join(parts)) > MAX_TOKENS and any(not part.must for part in parts) and len(parts) > 1:
        parts.remove(min((part for part in parts if not part.must), key=lambda part: part.worth))
    if count_tokens(_join(parts)) > MAX_TOKENS and len(parts) > 1:
        parts = _best(parts)
    return _cut(_join(parts))


def _best(parts: Sequence[_Part]) -> list[_Part]:
    """Of more facts than fit, those that tell most for their length, in order; a whole conversation comes down to its core."""
    seen = Counter(pair for part in parts for pair in _pairs(part.text))

    def value(part: _Part) -> float:
        pairs = _pairs(part.text)
        shared = sum(min(seen[pair], 4) - 1 for pair in pairs) / max(len(pairs), 1)
        asked = part.text.rstrip().endswith(("?", "？"))
        return (part.worth + part.facts + 2 * shared - 2 * asked) / (4 + count_tokens(part.text)) ** LENGTH_COST

    chosen: list[_Part] = []
    room = MAX_TOKENS
    for part in sorted(parts, key=lambda part: -value(part)):
        size = count_tokens(part.text.strip(_TRIM)) + bool(chosen)
        if size <= room:
            chosen.append(part)
            room -= size
    return [part for part in parts if part in chosen] or [max(parts, key=value)]


def _pairs(text: str) -> set[str]:
    """Neighbouring Chinese characters and longer Latin words, by which clauses speak of the same thing."""
    flat = narrow(text).lower()
    return {flat[i : i + 2] for i in range(len(flat) - 1) if _HAN.match(flat[i]) and _HAN.match(flat[i + 1])} | set(
        re.findall(r"[a-z]{4,}", flat)
    )


def _parts(source: str, keep: Sequence[str], patterns: Patterns) -> list[_Part]:
    parts: list[_Part] = []
    for match in _CLAUSE.finditer(source[:4000]):
        raw = match.group()
        if not any(ch.isalnum() for ch in raw):
            continue
        if is_small_talk(raw) and not _NO.fullmatch(narrow(raw).strip(_TRIM)):
            continue
        text = _polish(raw, patterns)
        if patterns["empty"].fullmatch(narrow(text).strip(_TRIM)):
            continue
        if not any(ch.isalnum() for ch in text):
            continue
        flat = narrow(text)
        needed = set(patterns["must"].findall(flat))
        named = sum([word in text for word in set(keep)])
        must = bool(needed) or named > 0
        facts = len(needed) + named
        parts.append(_Part(text, must, _worth(flat, patterns, len(parts)), facts))
    return _bound(parts)


def _bound(parts: Sequence[_Part]) -> list[_Part]:
    """A condition and what it brings about are kept or dropped together; so are a "no," and what it denies."""
    found: list[_Part] = []
    for part in parts:
        last = found[-1] if found else None
        if (
            last is not None
            and last.text.rstrip().endswith(_COMMAS)
            and (_LEADS.match(last.text) or _TRAILS.match(part.text))
        ):
            found[-1] = _Part(
                _join([last, part], trim=False),
                last.must or part.must,
                last.worth + part.worth,
                last.facts + part.facts,
            )
        else:
            found.append(part)
    return found


def _polish(raw: str, patterns: Patterns) -> str:
    """A clause without its politeness and fillers, as long as words are left; its closing mark stays."""
    text = raw
    for name in ("lead", "filler", "tail"):
        shorter = patterns[name].sub("", text)
        while name == "lead" and shorter != text and any(ch.isalnum() for ch in shorter):
            text, shorter = shorter, patterns[name].sub("", shorter)
        if any(ch.isalnum() for ch in shorter):
            text = shorter
    return re.sub(r"\s*\n\s*", " ", text).strip(" \t")


def _worth(flat: str, patterns: Patterns, place: int) -> float:
    """How telling a clause is: acts and content words, a little for coming early."""
    acts = len(patterns["telling"].findall(flat))
    return acts + min(count_tokens(flat), 12) / 12 - 0.01 * place


def _join(parts: Sequence[_Part], *, trim: bool = True) -> str:
    out = ""
    for part in parts:
        text = part.text
        glue = " " if out and out[-1].isascii() and text[:1].isascii() and not out.endswith(" ") else ""
        out += glue + text
    return out.strip(_TRIM) if trim else out


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
