"""What the word road knows before it has seen a person: how common terms are in ordinary conversation."""

from __future__ import annotations

from functools import lru_cache

from models.lexicons import load_lines


@lru_cache(maxsize=1)
def commonness() -> dict[str, float]:
    """The share of ordinary texts that hold a term, 0..1; terms that are not listed are rare."""
    pairs = (line.split("\t") for line in load_lines("common_terms.txt"))
    return {term: float(count) / 10_000.0 for term, count in pairs}
