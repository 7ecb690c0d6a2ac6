"""What must not be written: statements for names, formulas, rivals, pieces of names, and things for persons."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

import rjieba

from models.records import Entity
from models.wording import Word, is_cjk, split_words

_NO_NAME = ("t", "ul", "y", "d", "c")
"""Tags of time words, particles, adverbs and conjunctions: a phrase with one of these is a statement, not a name."""


def is_formula(phrase: str, stock: Container[str]) -> bool:
    """Whether a copied phrase is one Chinese character, or all its words belong to some formula: nothing to name or to add."""
    return (
        len(phrase) == 1 and is_cjk(phrase) or all(w.key in stock for w in split_words(phrase) if w.text[0].isalnum())
    )


def is_statement(phrase: str) -> bool:
    """Whether a Chinese phrase states something and so cannot stand in the place of a pronoun ("哈尔滨出差")."""
    tags = [tag for part, tag in rjieba.tag(phrase) if is_cjk(part) or tag == "eng"]
    if any(tag in _NO_NAME for tag in tags):
        return True
    noun = next((i for i, tag in enumerate(tags) if tag[:1] == "n" or tag == "eng"), len(tags))
    return "v" in tags[noun:] and "uj" not in tags


def is_rival(phrase: str, words: Sequence[Word]) -> bool:
    """Whether the utterance has a noun of its own of the phrase's kind ("生产环境", or bare "环境", and "测试环境")."""
    kinds = {w.text[-2:] for w in split_words(phrase) if is_cjk(w.text) and len(w.text) > 1}
    return any(is_cjk(w.text) and len(w.text) > 1 and w.text[-2:] in kinds for w in words)


PERSONAL = frozenset({"he", "him", "his", "she", "her", "hers", "他", "她", "他的", "她的"})
_PERSONS = frozenset({"person", "name", "role"})
_OWN_NOUN = re.compile(r"[^，。！？；,.!?;\s]{1,10}?的[\u4e00-\u9fff]")
_DETERMINERS = ("这个", "那个", "这款", "那款", "这些", "那些", "这", "那")


def cuts_a_name(start: int, end: int, entities: Sequence[Entity]) -> bool:
    """Whether a stretch of an earlier turn takes only a piece of something named there."""
    touched = [e for e in entities if e.start < end and start < e.end]
    return any(e.start < start or end < e.end for e in touched)


def is_no_person(said: str, start: int, end: int, entities: Sequence[Entity]) -> bool:
    """Whether a personal pronoun would come to mean a place, an organisation, a product or an id."""
    if said.strip().casefold() not in PERSONAL:
        return False
    return any(e.start < end and start < e.end and e.type not in _PERSONS for e in entities)


def has_its_noun(said: str, after: str) -> bool:
    """Whether a demonstrative determines a noun that follows it: 那个 in "那个深空灰的椅子" stands for nothing else."""
    return said in _DETERMINERS and _OWN_NOUN.match(after) is not None
