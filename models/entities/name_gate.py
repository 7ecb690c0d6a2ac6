"""Whether a Chinese text may hold a name, place or organisation at all: a cheap look before the tagger is asked.

A logistic model over hashed character windows says for each character how likely the LAC tagger puts it into a name. Most of
what is said to a service desk holds none, and LAC takes ten times as long. Trained by ``models/train/name_gate.py``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from models.errors import ResourceError

WEIGHTS = Path(__file__).parents[1] / "weights" / "name_gate.npz"


# Each feature looks at characters by their offset from the one in question; 9 stands for none.
_OFFSETS = np.array(
    [
        (0, 9, 9),
        (-1, 9, 9),
        (1, 9, 9),
        (-1, 0, 9),
        (0, 1, 9),
        (-2, -1, 9),
        (1, 2, 9),
        (-1, 0, 1),
        (-2, -1, 0),
        (0, 1, 2),
    ]
)
_EDGE = np.uint64(2)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_COEFFICIENTS = np.array(
    [
        [
            sum((factor for at, factor in zip(row, _FACTORS.tolist(), strict=True) if at == shift), 0) % 2**64
            for shift in range(-2, 3)
        ]
        for row in _OFFSETS.tolist()
    ],
    dtype=np.uint64,
)
"""What each feature [features] multiplies the character at each offset -2..2 with, modulo 2 ** 64."""
_SLOTS = np.arange(1, len(_OFFSETS) + 1, dtype=np.uint64)[:, None] * np.uint64(0xD6E8FEB86659FD93)


def windows(text: str, mask: int) -> np.ndarray:
    """Feature numbers of each character, [features, characters], from the characters around it; 64-bit mixing, no table."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    padded = np.full(len(codes) + 4, _EDGE)
    padded[2:-2] = codes
    around = np.empty((5, len(codes)), np.uint64)
    for shift in range(5):
        around[shift] = padded[shift : shift + len(codes)]
    mixed = _COEFFICIENTS @ around + _SLOTS
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return (mixed & np.uint64(mask)).astype(np.int64)


class NameGate:
    """The trained gate: `weights` are int8 in units of `scale`; a character counts above `threshold` (log-odds)."""

    def __init__(self, weights: np.ndarray, scale: float, threshold: float) -> None:
        self._weights = weights
        self._mask = len(weights) - 1
        self._limit = threshold / scale

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> NameGate:
        """The gate in a weights file. Raises ResourceError if it is missing or cut short."""
        try:
            with np.load(path) as data:
                return cls(data["weights"], float(data["scale"]), float(data["threshold"]))
        except Exception as error:
            raise ResourceError(f"{path.name}: cannot be loaded ({error}); train it again or reinstall") from error

    def score(self, text: str) -> float:
        """The largest summed weight of any character, in units of the weights."""
        return float(self._weights[windows(text, self._mask)].sum(axis=0, dtype=np.int32).max()) if text else -1e9

    def opens(self, text: str) -> bool:
        """Whether some character of the text may belong to a name."""
        return self.score(text) >= self._limit


@lru_cache(maxsize=1)
def name_gate() -> NameGate:
    """The shipped gate, loaded on first use."""
    return NameGate.load()
