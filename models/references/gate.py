"""Whether an utterance may leave something out: a quick look at its words and at the turn before, ahead of the network.

A logistic model over hashed words, pairs of words, length and what the newest turn asked. Its threshold keeps about 99 % of the
utterances that the network was taught to change.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator

import numpy as np

from models.references.edit_net import Layout

BUCKETS = 1 << 15
_QUESTION, _NEWEST = 9, (2, 3)
_CHINESE, _MARK = 5, 6


class ReferenceGate:
    """Loaded weights: one for each bucket, and the threshold."""

    def __init__(self, weights: np.ndarray, bias: float, threshold: float) -> None:
        self._weights, self._bias, self._threshold = weights, bias, threshold

    def probability(self, layout: Layout) -> float:
        """How probable it is that something is left out."""
        total = self._bias + float(self._weights[buckets(layout)].sum())
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))

    def opens(self, layout: Layout) -> bool:
        """Whether the network should look at the utterance."""
        return self.probability(layout) >= self._threshold


def buckets(layout: Layout) -> list[int]:
    """Hashed features, each once."""
    return sorted({zlib.crc32(name.encode()) % BUCKETS for name in _features(layout)})


def _features(layout: Layout) -> Iterator[str]:
    count = len(layout.words)
    own = layout.keys[1 : count + 1]
    chinese = any(s == _CHINESE for s in layout.shapes[1 : count + 1])
    real = sum(s != _MARK for s in layout.shapes[1 : count + 1])
    newest = [i for i, s in enumerate(layout.segments) if s in _NEWEST]
    asked = any(layout.classes[i] == _QUESTION or layout.keys[i] in ("?", "？") for i in newest)
    named = sum(
        layout.matches[i]
        and not layout.classes[i]
        and layout.shapes[i] != _MARK
        and (not chinese or len(layout.keys[i]) > 1)
        for i in range(1, count + 1)
    )
    for key in own:
        yield f"w {key}"
    edged = ["<", *own, ">"]
    for first, second in zip(edged, edged[1:], strict=False):
        yield f"p {first} {second}"
    length = f"{chinese} {min(real, 24)}"
    yield f"n {length}"
    yield f"a {length} {asked}"
    yield f"m {chinese} {min(named, 4)}"
    yield f"k {length} {min(named, 2)}"
    yield f"s {layout.segments[newest[0]] if newest else 0} {asked} {chinese}"
    for i in newest[-2:] + newest[:2]:
        yield f"l {layout.keys[i]}"
    if own:
        yield f"f {own[0]} {asked}"
        yield f"e {own[-1]} {asked}"
