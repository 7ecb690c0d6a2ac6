"""Which language an utterance is in, and how much of each it mixes (contract: `lang`, `language_mix`).

One Chinese character weighs as one, one Latin word as two (a word translates to about two characters). Identifiers,
addresses and numbers carry no language. Traditional Chinese is ``zh``.
"""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct, field

from models.lexicons import load_word_sets

WORD_WEIGHT = 2.0
"""Weight of a Latin word against one Chinese character."""

CLEAR_SHARE = 0.7
"""Above this share the heavier script decides alone; below it the grammatical words are counted."""

SAMPLE = 4000
"""Characters that are read at most; the language of an utterance shows long before."""

_SCRIPTS = (
    ("han", "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f〇々"),
    ("kana", "\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d"),
    ("ko", "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f"),
    ("ru", "\u0400-\u04ff"),
    ("ar", "\u0600-\u06ff"),
    ("th", "\u0e00-\u0e7f"),
    ("hi", "\u0900-\u097f"),
    ("he", "\u0590-\u05ff"),
    ("el", "\u0370-\u03ff"),
)
_CHARACTER = {name: re.compile(f"[{ranges}]") for name, ranges in _SCRIPTS}
_FARTHER = re.compile(f"[{''.join(ranges for name, ranges in _SCRIPTS if name not in ('han', 'kana'))}]")
"""A character of the scripts besides Chinese and Japanese."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_WIDE_LETTERS = {code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_MASKED = re.compile(r"\[[a-z_]{2,20}:(?:xs|s|m|l|xl)\]")
_CHUNK = re.compile(r"[^\s\u2e80-\uffef]+")
_CODE_SIGN = re.compile(r"[0-9_/@=#+]")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z\u00c0-\u024f]+)?")
_ZH_GRAMMAR = re.compile(
    "[的了吗嗎呢吧是在我你您他她不没沒有就都和这這那哪会會能要请請把被给給对對跟还還也们們什么麼怎去来來]"
)


_TAG = re.compile(r"([A-Za-z]{2,8})(?:[-_][A-Za-z0-9]{1,8})*")
_SHORT = {
    "zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "wuu": "zh", "chinese": "zh", "mandarin": "zh",
    "eng": "en", "english": "en",
}  # fmt: skip
"""Longer names that clients and recognisers give these two languages."""


def primary(tag: str | None) -> str | None:
    """The language of a tag as clients send it: zh for zh-CN, zh_Hant_TW and cmn, en for en-US; None where it names none."""
    found = _TAG.fullmatch(tag.strip()) if tag else None
    if found is None:
        return None
    name = found[1].lower()
    return _SHORT.get(name) or (name if len(name) <= 3 and name not in ("und", "mul", "mis", "zxx") else None)


class Language(Struct, frozen=True):
    """`lang` is an ISO 639-1 code, or None where no letters are; `mix` holds shares that sum to 1, largest first."""

    lang: str | None
    mix: dict[str, float] = field(default_factory=dict)


def detect(text: str) -> Language:
    """The utterance's language and its mix: ``detect("这个 deadline 有点紧")`` is zh with a share of en."""
    sample = _MASKED.sub(" ", text[:SAMPLE])
    weights: dict[str, float] = {}
    chinese = 0
    if _NOT_ASCII.search(sample):
        sample = sample.translate(_WIDE_LETTERS)
        counts = {name: len(_CHARACTER[name].findall(sample)) for name in ("han", "kana")}
        if _FARTHER.search(sample):
            counts |= {name: len(pattern.findall(sample)) for name, pattern in _CHARACTER.items()}
        chinese, kana = counts.pop("han"), counts.pop("kana")
        if (kana > 1 or kana > chinese) and kana >= 0.15 * (chinese + kana):
            weights["ja"], chinese = float(chinese + kana), 0
        weights.update({name: float(count) for name, count in counts.items() if count})
        if chinese:
            weights["zh"] = float(chinese)
    words = _latin_words(sample)
    if words:
        latin = _latin_language(words) if len(words) > 2 * chinese else "en"
        weights[latin] = weights.get(latin, 0.0) + WORD_WEIGHT * len(words)
    if not weights:
        return Language(None, {})
    total = sum(weights.values())
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    mix = {name: round(weight / total, 3) for name, weight in ranked}
    return Language(_main_language(sample, words, mix), mix)


def _latin_words(text: str) -> list[str]:
    """Lower-cased Latin words of the text, identifiers and addresses left out."""
    plain = " ".join([chunk for chunk in _CHUNK.findall(text) if not _CODE_SIGN.search(chunk)])
    return [word.lower() for word in _WORD.findall(plain)]


def _main_language(text: str, words: list[str], mix: dict[str, float]) -> str:
    """The heaviest language; where Chinese meets a Latin language, grammatical words speak before the weights."""
    heaviest = next(iter(mix))
    if "zh" not in mix or not words or (heaviest == "zh" and mix["zh"] >= CLEAR_SHARE):
        return heaviest
    sets = load_word_sets("language.toml")
    latin = next((name for name in mix if name in sets), "en")
    zh_grammar = len(_ZH_GRAMMAR.findall(text))
    latin_grammar = sum(word in sets[latin] for word in words)
    if zh_grammar != latin_grammar and min(zh_grammar, latin_grammar) <= 1:
        return "zh" if zh_grammar > latin_grammar else latin
    return heaviest if mix[heaviest] >= CLEAR_SHARE or mix["zh"] < 0.3 else "zh"


def _latin_language(words: list[str]) -> str:
    """English unless another Latin language's grammatical words are clearly more frequent."""
    sets = load_word_sets("language.toml")
    hits: Counter[str] = Counter()
    for word in words:
        for name, members in sets.items():
            if word in members:
                hits[name] += 1
    best = max(sorted(hits), key=lambda name: hits[name], default="en")
    return best if best != "en" and hits[best] >= hits["en"] + 2 else "en"
