"""Semantic entropy of clauses (E1): how unevenly a clause lies to its neighbours in a window of three.

Formula (source document 001, 2.3): the variance of the cosine distances between a clause and its neighbours, here taken
about the distance that smooth neighbours have, since two neighbours alone give no usable sample variance:

    spread_i = mean over |i - j| = 1 of (1 - cos(v_i, v_j) - smooth)^2          entropy = 1 / (1 + exp(-x))
    x = bias + gain * clip((spread_i - middle) / width, -2, 2) + shift(type) + shift(cues)

`smooth`, `middle`, `width` are calibrated for the encoder (``python -m models.train.entropy``); the shifts are written in
``lexicons/entropy.toml``: negations and turns are surprises, thanks and routine status are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.errors import ResourceError
from models.lexicons import FOLDER, read_toml
from models.text import narrow

LEXICON = FOLDER / "entropy.toml"
TERM_ENTROPY, TERM_MAX_CHARACTERS = 0.1, 20
AUTHORITY_ENTROPY = 0.5


class Scale(Struct, frozen=True):
    """Calibration of one kind of distance: the smooth distance, and middle and width of the spreads about it."""

    smooth: float
    middle: float
    width: float


class EntropyTable(Struct, frozen=True):
    """Numbers of ``lexicons/entropy.toml``; `encoder` names the one whose distances `vectors` is calibrated for."""

    bias: float
    gain: float
    vectors: Scale
    words: Scale
    types: dict[str, float]
    cues: dict[str, float]
    encoder: str = ""

    @classmethod
    def load(cls, path: Path = LEXICON) -> EntropyTable:
        """Raises ResourceError if the file is missing, malformed or lacks a number."""
        data: dict[str, Any] = read_toml(path)
        try:
            names = ("smooth", "middle", "width")
            scales = {kind: Scale(*(float(data[kind][name]) for name in names)) for kind in ("vectors", "words")}
            return cls(
                float(data["base"]["bias"]),
                float(data["base"]["gain"]),
                scales["vectors"],
                scales["words"],
                {name: float(value) for name, value in data["types"].items()},
                {name: float(value) for name, value in data["cues"].items()},
                str(data["vectors"].get("encoder", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResourceError(f"{path.name}: {error.__class__.__name__}: {error}") from error

    def entropy(self, spread: float | None, scale: Scale, kind: str, cues: Sequence[str]) -> float:
        """The entropy 0..1 of a clause with this spread (None: it stands alone), type and cues."""
        x = self.bias + self.types.get(kind, 0.0) + sum(self.cues.get(cue, 0.0) for cue in sorted(cues))
        if spread is not None:
            x += self.gain * min(max((spread - scale.middle) / scale.width, -2.0), 2.0)
        return round(1.0 / (1.0 + math.exp(min(-x, 700.0))), 4)


def vector_distances(vectors: NDArray[np.float32]) -> NDArray[np.float64] | None:
    """Cosine distances ``[n - 1]`` of consecutive clause vectors ``[n, H]``; None if any is not finite or is zero."""
    if len(vectors) < 2:
        return np.zeros(0)
    if not np.isfinite(vectors).all():
        return None
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    if not lengths.all():
        return None
    wide /= lengths[:, None]
    return 1.0 - np.einsum("ij,ij->i", wide[:-1], wide[1:])


def word_distances(clauses: Sequence[str]) -> NDArray[np.float64]:
    """The same from character pairs, where there are no usable vectors: 1 - cosine of the sets of pairs."""
    bags = [_pairs(clause) for clause in clauses]
    gaps = []
    for a, b in zip(bags, bags[1:], strict=False):
        shared = len(a & b) / np.sqrt(len(a) * len(b)) if a and b else 0.0
        gaps.append(1.0 - shared)
    return np.array(gaps)


def _pairs(text: str) -> set[str]:
    flat = "".join(ch for ch in narrow(text).lower() if ch.isalnum())
    return {flat[i : i + 2] for i in range(len(flat) - 1)} or set(flat)


def spreads(distances: NDArray[np.float64], scale: Scale) -> list[float | None]:
    """The spread of each of ``len(distances) + 1`` clauses about the smooth distance; None for a clause alone.

    >>> spreads(np.array([0.5, 0.1]), Scale(0.1, 0.0, 1.0))
    [0.16, 0.08, 0.0]
    """
    if not len(distances):
        return [None]
    squares = [max(float(distance) - scale.smooth, 0.0) ** 2 for distance in distances]
    middle = [(a + b) / 2 for a, b in zip(squares, squares[1:], strict=False)]
    return [round(value, 6) for value in (squares[0], *middle, squares[-1])]
