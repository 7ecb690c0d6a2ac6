"""Clause split: where a new clause begins in Chinese, English, mixed, and unpunctuated recognised speech.

A linear model over hashed evidence (``clause_features``) gives each word start the probability of a boundary; a long
pause before the word raises it. Trained by ``python -m models.train.segments``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.clause_features import BITS, Tokens, features, tokenize
from models.errors import ResourceError
from models.records import Pause

WEIGHTS = Path(__file__).parent / "weights"
MAX_TEXT = 20_000
"""Characters that are split; what lies beyond belongs to the last clause."""
PAUSE_MS, PAUSE_WEIGHT, PAUSE_FULL_MS = 250, 3.0, 1200
"""A pause from 250 ms on is evidence; its weight in log odds grows to 3.0 at 1.2 s."""
APART = 0.5
"""In a text without marks, the probability from which a statement of its own begins."""
_OPENING = frozenset("“‘\"'「『（(《<[【〈—-–")
_SENTENCE_END = frozenset("。！？!?\n；;…")


class Clause(Struct, frozen=True):
    """``text[start:end]``, without outer blanks. `gap` holds the marks before it ("" inside an unmarked stretch) and
    `odds` the probability that a clause begins there; `apart`, in a text without marks, that a statement of its own does."""

    start: int
    end: int
    gap: str
    odds: float
    apart: float = 0.0

    @property
    def opens_sentence(self) -> bool:
        """Whether a sentence ended before it."""
        return any(ch in _SENTENCE_END for ch in self.gap) or self.gap.startswith(".")


class BoundaryModel(Struct, frozen=True):
    """One language's weights ``float32 [2**BITS]``, bias, and the probabilities from which a boundary is set; and the
    weights by which statements part in texts without marks."""

    weights: NDArray[np.float32]
    bias: float
    threshold: float
    bare_threshold: float
    apart_weights: NDArray[np.float32]
    apart_bias: float

    @classmethod
    def load(cls, path: Path) -> BoundaryModel:
        """Reads a ``segments_*.npz``. Raises ResourceError if it is missing, cut short or of another shape."""
        try:
            with np.load(path) as data:
                weights, apart = (data[name].astype(np.float32) for name in ("weights", "apart_weights"))
                bias, threshold, bare, apart_bias = (float(value) for value in data["numbers"])
        except (OSError, KeyError, ValueError, BadZipFile) as error:
            raise ResourceError(
                f"{path.name}: cannot be read ({error}); run python -m models.train.segments"
            ) from error
        for array in (weights, apart):
            if array.shape != (2**BITS,) or not np.isfinite(array).all():
                raise ResourceError(
                    f"{path.name}: weights of shape {array.shape}, expected ({2**BITS},) finite numbers"
                )
        return cls(weights, bias, threshold, bare, apart, apart_bias)

    def probabilities(self, tokens: Tokens, *, apart: bool = False) -> NDArray[np.float32]:
        """The probability of a clause (`apart`: a statement of its own) before each word, ``float32 [words]``."""
        weights, bias = (self.apart_weights, self.apart_bias) if apart else (self.weights, self.bias)
        chances = 1.0 / (1.0 + np.exp(-(weights[features(tokens)].sum(axis=1) + bias)))
        chances[0] = 0.0
        return chances.astype(np.float32)


@lru_cache(maxsize=2)
def shipped(chinese: bool) -> BoundaryModel:
    """The shipped model of a language."""
    return BoundaryModel.load(WEIGHTS / f"segments_{'zh' if chinese else 'en'}.npz")


def split_clauses(text: str, pauses: Sequence[Pause] = (), model: BoundaryModel | None = None) -> list[Clause]:
    """The clauses of a text in order, disjoint; together they cover all but blanks. A text without words is one.

    >>> [c.start for c in split_clauses("好的收到！麻烦补充下错误码说明，谢谢！")]
    [0, 5, 16]
    """
    tokens = tokenize(text[:MAX_TEXT])
    if len(tokens.words) < 2:
        return _whole(text)
    model = model or shipped(tokens.chinese)
    bare = len(tokens.words) > 6 and not any(tokens.gaps[1:])
    chances = model.probabilities(tokens)
    if pauses:
        chances = _with_pauses(chances, tokens, pauses)
    apart = np.zeros_like(chances)
    if bare:
        apart = model.probabilities(tokens, apart=True)
        apart = _with_pauses(apart, tokens, pauses) if pauses else apart
    limit = model.bare_threshold if bare else model.threshold
    likely = (chances > limit) | (apart > APART)
    cuts = [i for i in range(1, len(tokens.words)) if _cuts(text, tokens, i, bool(likely[i]))]
    places = [_open(text, tokens.starts[i], tokens.ends[i - 1]) for i in cuts]
    clauses = []
    for start, end, i in zip([0, *places], [*places, len(text)], [0, *cuts], strict=True):
        gap = tokens.gaps[i] if i else ""
        clause = _trimmed(text, start, end, gap, round(float(chances[i]), 4) if i else 1.0)
        clauses.append(Clause(clause.start, clause.end, gap, clause.odds, round(float(apart[i]), 4)))
    return clauses


def _cuts(text: str, tokens: Tokens, i: int, likely: bool) -> bool:
    """A likely boundary, but never between a number and what it counts; a line break always is one."""
    if not likely:
        return "\n" in tokens.gaps[i]
    return bool(tokens.gaps[i]) or not (text[tokens.ends[i - 1] - 1].isdigit() and tokens.chinese)


def _whole(text: str) -> list[Clause]:
    return [_trimmed(text, 0, len(text), "", 1.0)] if text.strip() else []


def _trimmed(text: str, start: int, end: int, gap: str, odds: float) -> Clause:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Clause(start, end, gap, odds)


def _open(text: str, start: int, floor: int) -> int:
    """The word's start, moved before an opening quote or bracket that stands right before it."""
    while start > floor and text[start - 1] in _OPENING:
        start -= 1
    return start


def _with_pauses(chances: NDArray[np.float32], tokens: Tokens, pauses: Sequence[Pause]) -> NDArray[np.float32]:
    """Log odds raised at the first word that starts at or after each pause."""
    starts = np.array(tokens.starts)
    raised = np.log(np.clip(chances, 1e-6, 1 - 1e-6) / (1 - np.clip(chances, 1e-6, 1 - 1e-6)))
    for pause in pauses:
        at = int(np.searchsorted(starts, pause.at))
        if pause.ms >= PAUSE_MS and 0 < at < len(starts):
            raised[at] += PAUSE_WEIGHT * min(1.0, pause.ms / PAUSE_FULL_MS)
    return (1.0 / (1.0 + np.exp(-raised))).astype(np.float32)
