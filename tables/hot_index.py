"""A person's index as an event sees it: built when recall asks for it, and only then; until then the rows answer.

Building it reads all of a person's rows. The write path never needs that: its cost must not grow with a person's history.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.records import Unit
from tables.person import PersonState
from tables.person_index import IndexCache, PersonIndex, load_index
from tables.store import VECTOR, PersonRows
from tables.vectors import Floats, unpack_vector

WINDOW = 1024
"""The newest slots among which what a correction is about is looked for by meaning; older ones are found by slot and topic."""
DIGITS = 5
"""Cosines are compared to so many places: how many rows a matrix has may change the last bits of a product."""


class HotIndex:
    """The index of one person during one event. What is written is followed where the index is already there."""

    def __init__(self, cache: IndexCache, rows: PersonRows, state: PersonState, dimension: int) -> None:
        self._cache, self._rows, self._state, self._dimension = cache, rows, state, dimension
        self._index = cache.known(rows.person, state.revision)

    def whole(self) -> PersonIndex:
        """The index itself, built from the rows as they stand where it is not there yet."""
        if self._index is None:
            self._index = self._cache.get(
                self._rows.person, self._state.revision, lambda: load_index(self._rows, self._state, self._dimension)
            )
        return self._index

    def add(self, slot: int, unit: Unit, vector: npt.NDArray[np.floating] | None) -> None:
        """Makes a unit that was just written findable."""
        if self._index is not None:
            self._index.add(slot, unit, vector)

    def update(self, slot: int, unit: Unit) -> None:
        """Follows a unit's new state."""
        if self._index is not None:
            self._index.update(slot, unit)

    def remove(self, slot: int) -> None:
        """Takes a unit out."""
        if self._index is not None:
            self._index.remove(slot)

    def nearest(self, vector: Floats, count: int) -> list[tuple[int, float]]:
        """The `count` current slots of the last `WINDOW` nearest in meaning to a unit vector of the index space, best first."""
        first = max(0, self._state.next_slot - WINDOW)
        slots, vectors = self._newest(first)
        if not len(slots):
            return []
        near = np.round(vectors @ vector, DIGITS)
        best = np.lexsort((slots, -near))[:count]
        return [(int(slots[i]), float(near[i])) for i in best]

    def _newest(self, first: int) -> tuple[npt.NDArray[np.intp], Floats]:
        """The current slots from `first` on, and their vectors."""
        if self._index is not None:
            live = first + np.flatnonzero(self._index.columns["live"][first : self._index.size])
            return live, self._index.vectors.at(live)
        stored = {slot: self._rows.get(VECTOR, slot) for slot in range(first, self._state.next_slot)}
        kept = {slot: unpack_vector(raw) for slot, raw in stored.items() if raw is not None}
        if not kept:
            return np.zeros(0, np.intp), np.zeros((0, self._dimension), np.float32)
        return np.array(list(kept), np.intp), np.stack(list(kept.values()))
