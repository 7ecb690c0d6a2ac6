"""What must not be inserted: whole statements for names, formulas, and rivals of what the utterance itself names."""

from __future__ import annotations

from collections.abc import Container, Sequence

import rjieba

from models.wording import Word, is_cjk, split_words

_NO_NAME = ("t", "ul", "y", "d", "c")
"""Tags of time words, particles, adverbs and conjunctions: a phrase with one of these is a statement, not a name."""


def is_name(phrase: str, stock: Container[str]) -> bool:
    """Whether a copied phrase may be an antecedent: some word of it is no formula, and in Chinese it states nothing."""
    words = [w for w in split_words(phrase) if w.text[0].isalnum()]
    if all(w.key in stock for w in words):
        return False
    tags = [tag for part, tag in rjieba.tag(phrase) if is_cjk(part) or tag == "eng"]
    if any(tag in _NO_NAME for tag in tags):
        return False
    noun = next((i for i, tag in enumerate(tags) if tag[:1] == "n" or tag == "eng"), len(tags))
    return "v" not in tags[noun:] or "uj" in tags


def is_rival(phrase: str, words: Sequence[Word]) -> bool:
    """Whether the utterance has a noun of its own of the phrase's kind ("生产环境", or bare "环境", and "测试环境")."""
    kinds = {w.text[-2:] for w in split_words(phrase) if is_cjk(w.text) and len(w.text) > 1}
    return any(is_cjk(w.text) and len(w.text) > 1 and w.text[-2:] in kinds for w in words)
