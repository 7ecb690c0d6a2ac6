"""One person's words: an in-memory BM25 that grows and shrinks with their units (Robertson & Zaragoza 2009, eq. 3.15).

idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5)), score = sum of idf * tf (k1 + 1) / (tf + k1 (1 - b + b len / avg)). So that
a memory of three units already knows which words are common, N and n_t count `PRIOR` imagined units in which words
occur as often as they do in ordinary conversation.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tables.vectors import Floats

K1 = 1.2
B = 0.5
PRIOR = 20.0


class Words:
    """Postings by term over slots. A removed slot leaves the counts; its numbers stay in the postings as dead."""

    def __init__(self, commonness: Mapping[str, float] | None = None) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._frequency: dict[str, int] = {}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._lengths: Floats = np.zeros(0, dtype=np.float32)
        self._total = 0
        self._commonness = commonness or {}
        self.nbytes = 0

    def add(self, slot: int, terms: Sequence[str]) -> None:
        """Indexes a slot's terms: O(number of terms), whatever is there already."""
        if slot in self._terms:
            self.remove(slot)
        if slot >= len(self._lengths):
            grown = np.zeros(max(512, 2 * len(self._lengths), slot + 1), dtype=np.float32)
            grown[: len(self._lengths)] = self._lengths
            self._lengths = grown
        counts = Counter(terms)
        for term, count in counts.items():
            posting = self._postings.get(term)
            if posting is None:
                posting = self._postings[term] = (array("i"), array("i"))
                self.nbytes += 300
            posting[0].append(slot)
            posting[1].append(count)
            self._frequency[term] = self._frequency.get(term, 0) + 1
        self._terms[slot] = tuple(counts)
        self._lengths[slot] = len(terms)
        self._total += len(terms)
        self.nbytes += 24 * len(counts) + 100

    def remove(self, slot: int) -> None:
        """Takes a slot out; a term that nobody else has is forgotten altogether."""
        for term in self._terms.pop(slot, ()):
            self._frequency[term] -= 1
            if not self._frequency[term]:
                del self._frequency[term], self._postings[term]
        if slot < len(self._lengths):
            self._total -= int(self._lengths[slot])
            self._lengths[slot] = 0.0

    def idf(self, term: str, without: Sequence[int] = ()) -> float:
        """How telling a term is in this memory, as if the slots `without` were not in it."""
        size = len(self._terms) + PRIOR - len(without)
        found = self._frequency.get(term, 0) + PRIOR * self._commonness.get(term, 0.0) - self._held(term, without)
        return math.log(1.0 + (size - found + 0.5) / (found + 0.5))

    def scores(self, query: Mapping[str, float], size: int, without: Sequence[int] = ()) -> Floats:
        """BM25 of slots 0..size-1 for weighted query terms, float32[size]."""
        out = np.zeros(size, dtype=np.float64)
        without = [slot for slot in without if slot in self._terms]
        count = len(self._terms) - len(without)
        if count <= 0:
            return out.astype(np.float32)
        average = max((self._total - float(self._lengths[list(without)].sum())) / count, 1.0)
        for term, weight in query.items():
            posting = self._postings.get(term)
            if posting is None:
                continue
            slots: npt.NDArray[np.int32] = np.frombuffer(posting[0], dtype=np.int32)
            counts = np.frombuffer(posting[1], dtype=np.int32)
            if len(slots) and slots.max() >= size:
                kept = slots < size
                slots, counts = slots[kept], counts[kept]
            norm = K1 * (1.0 - B + B * self._lengths[slots] / average)
            out[slots] += weight * self.idf(term, without) * counts * (K1 + 1.0) / (counts + norm)
        return out.astype(np.float32)

    def ceiling(self, query: Mapping[str, float], without: Sequence[int] = ()) -> float:
        """The idf mass of the query: what a unit could score at most, about."""
        without = [slot for slot in without if slot in self._terms]
        return sum(weight * self.idf(term, without) for term, weight in query.items()) * (K1 + 1.0)

    def knows(self, term: str, without: Sequence[int] = ()) -> bool:
        """Whether the term occurs in this memory outside the slots `without`, or is common in ordinary conversation."""
        return term in self._commonness or self._frequency.get(term, 0) > self._held(term, without)

    def _held(self, term: str, slots: Sequence[int]) -> int:
        return sum(term in self._terms.get(slot, ()) for slot in slots)

    def __len__(self) -> int:
        return len(self._terms)
