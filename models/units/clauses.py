"""Clause split: where a new clause begins in Chinese, English, mixed, and unpunctuated recognised speech.

A net over the encoder's token states (``boundary_net``) and a linear model over hashed words (``clause_features``) give each word
start the probability of a boundary; a long pause before the word raises it. Without a reading of an encoder that the net knows,
the linear model does it alone. Both are trained by ``python -m models.train.segments``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.encoder import Encoded
from models.errors import ResourceError
from models.records import Pause
from models.text import narrow
from models.units.boundary_net import STYLES, BoundaryNet, places_of
from models.units.clause_features import BITS, Tokens, is_chinese, templates, tokenize

WEIGHTS = Path(__file__).parents[1] / "weights"
MAX_TEXT = 20_000
"""Characters that are split; what lies beyond belongs to the last clause."""
PAUSE_MS, PAUSE_WEIGHT, PAUSE_FULL_MS = 250, 3.0, 1200
"""A pause from 250 ms on is evidence; its weight in log odds grows to 3.0 at 1.2 s."""
APART = 0.5
"""In a text without marks, the probability from which a statement of its own begins."""
HIGHEST = 9.0
"""Log odds that the word models count for at most."""
SLACK = 0.01
"""More than rounding could make of a sum of log odds."""
NO_WORD = -4.0
"""Log odds of a boundary where the word models see no word begin."""
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
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
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
        chances = _probability(self.scores(tokens, apart=apart))
        chances[0] = 0.0
        return chances

    def scores(self, tokens: Tokens, *, apart: bool = False) -> NDArray[np.float32]:
        """The log odds of the same."""
        return self._sums(templates(tokens), apart=apart)

    def odds(self, tokens: Tokens, rows: Sequence[int], *, apart: bool) -> NDArray[np.float32]:
        """The log odds of a clause and (`apart`; else `NO_WORD`) of a statement before the words numbered `rows`, float32 [rows, 2]."""
        places = templates(tokens, rows=rows)
        found = np.full((len(rows), 2), NO_WORD, np.float32)
        found[:, 0] = self._sums(places, apart=False)
        if apart:
            found[:, 1] = self._sums(places, apart=True)
        return found

    def _sums(self, places: NDArray[np.int64], *, apart: bool) -> NDArray[np.float32]:
        weights, bias = (self.apart_weights, self.apart_bias) if apart else (self.weights, self.bias)
        return (np.add.reduce(weights.take(places), 0) + bias).astype(np.float32)


WordModels = tuple[BoundaryModel, BoundaryModel]
"""Of Chinese and of English."""


@lru_cache(maxsize=1)
def shipped_net() -> BoundaryNet:
    """The shipped net."""
    return BoundaryNet.load(WEIGHTS / "segments_net.npz")


@lru_cache(maxsize=2)
def shipped(chinese: bool) -> BoundaryModel:
    """The shipped model of a language."""
    return BoundaryModel.load(WEIGHTS / f"segments_{'zh' if chinese else 'en'}.npz")


def split_clauses(
    text: str,
    pauses: Sequence[Pause] = (),
    encoded: Encoded | None = None,
    net: BoundaryNet | None = None,
    words: WordModels | None = None,
) -> list[Clause]:
    """The clauses of a text in order, disjoint; together they cover all but blanks. A text without words is one.

    With the encoder's reading of the same text and a net that was trained on this encoder, boundaries are read from the token
    states; otherwise, or where these are not finite, from the words (`words`: the Chinese and the English model, by default the shipped ones).

    >>> [c.start for c in split_clauses("好的收到！麻烦补充下错误码说明，谢谢！")]
    [0, 5, 16]
    """
    if encoded is not None and net is not None and net.takes(encoded):
        reading = _from_states(text, encoded, net, pauses, words)
    else:
        reading = _from_words(text[:MAX_TEXT], pauses, words)
    if reading is None:
        return _whole(text)
    cuts = [i for i in range(1, len(reading.starts)) if _cuts(text, reading, i)]
    places = [_open(text, reading.starts[i], reading.ends[i]) for i in cuts]
    clauses = []
    for start, end, i in zip([0, *places], [*places, len(text)], [0, *cuts], strict=True):
        gap = reading.gaps[i] if i else ""
        clause = _trimmed(text, start, end, gap, round(float(reading.chances[i]), 4) if i else 1.0)
        clauses.append(Clause(clause.start, clause.end, gap, clause.odds, round(float(reading.apart[i]), 4)))
    return clauses


class _Reading(Struct):
    """By word: its start, the end of the word before, the marks between, the two probabilities; and the limit for the first."""

    starts: Sequence[int]
    ends: Sequence[int]
    gaps: Sequence[str]
    chances: NDArray[np.float32]
    apart: NDArray[np.float32]
    limit: float
    chinese: bool


def _from_states(
    text: str, encoded: Encoded, net: BoundaryNet, pauses: Sequence[Pause], words: WordModels | None
) -> _Reading | None:
    places = places_of(text, encoded.offsets)
    if len(places.starts) < 2:
        return None
    chinese, bare = is_chinese(narrow(text)), _is_bare(places.gaps)
    limit = net.limit(chinese=chinese, bare=bare)
    odds = net.odds(encoded, places)[:, [STYLES.index("unit_zh" if chinese else "unit_en"), STYLES.index("apart")]]
    if net.share < 1:
        share = net.share
        rows = range(len(odds)) if pauses else _open_rows(odds, share, places.gaps, limit, bare=bare)
        blended = np.full_like(odds, -np.inf)
        if rows:
            by_word = word_odds(text, [places.starts[i] for i in rows], words, bare=bare)
            blended[rows] = share * odds[rows] + (1 - share) * by_word
        odds = blended
    both = _probability(odds)
    both[0] = 0.0
    chances, apart = both[:, 0], both[:, 1] if bare else np.zeros_like(both[:, 1])
    if pauses:
        chances = _with_pauses(chances, places.starts, pauses)
        apart = _with_pauses(apart, places.starts, pauses) if bare else apart
    return _Reading(places.starts, places.ends, places.gaps, chances, apart, limit, chinese)


def _open_rows(
    odds: NDArray[np.float32], share: float, gaps: Sequence[str], limit: float, *, bare: bool
) -> Sequence[int]:
    """Places that the word models could make a boundary, or that are one anyway: only there are they asked."""
    most = (1 - share) * HIGHEST + SLACK
    least_clause, least_apart = (math.log(chance / (1 - chance)) - most for chance in (limit, APART))
    rows = []
    for i, (clause, apart) in enumerate((share * odds).tolist()):
        if i and (clause > least_clause or (bare and apart > least_apart) or "\n" in gaps[i]):
            rows.append(i)
    return rows


def word_odds(
    text: str, starts: Sequence[int], words: WordModels | None = None, *, bare: bool = False
) -> NDArray[np.float32]:
    """Log odds of the word models at places of a text, float32 [places, 2]: of a clause, and (if `bare`) of a statement of its
    own. Where no word begins, a boundary is unlikely."""
    tokens = tokenize(text[:MAX_TEXT])
    found = np.full((len(starts), 2), NO_WORD, np.float32)
    wanted = set(starts)
    rows = [i for i, start in enumerate(tokens.starts) if start in wanted]
    if rows:
        model = words[not tokens.chinese] if words else shipped(tokens.chinese)
        order = {tokens.starts[i]: at for at, i in enumerate(rows)}
        places = [at for at, start in enumerate(starts) if start in order]
        odds = model.odds(tokens, rows, apart=bare)
        found[places] = np.clip(odds, -HIGHEST, HIGHEST)[[order[starts[at]] for at in places]]
    return found


def _probability(odds: NDArray[np.float32]) -> NDArray[np.float32]:
    return (1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))).astype(np.float32)


def _from_words(text: str, pauses: Sequence[Pause], words: WordModels | None) -> _Reading | None:
    tokens = tokenize(text)
    if len(tokens.words) < 2:
        return None
    model = words[not tokens.chinese] if words else shipped(tokens.chinese)
    bare = _is_bare(tokens.gaps)
    chances = model.probabilities(tokens)
    apart = model.probabilities(tokens, apart=True) if bare else np.zeros_like(chances)
    if pauses:
        chances = _with_pauses(chances, tokens.starts, pauses)
        apart = _with_pauses(apart, tokens.starts, pauses) if bare else apart
    limit = model.bare_threshold if bare else model.threshold
    return _Reading(tokens.starts, [0, *tokens.ends[:-1]], tokens.gaps, chances, apart, limit, tokens.chinese)


def _is_bare(gaps: Sequence[str]) -> bool:
    """Whether a text of more than six words has no marks, as recognised speech has none."""
    return len(gaps) > 6 and not any(gaps[1:])


def _cuts(text: str, reading: _Reading, i: int) -> bool:
    """A likely boundary, but never between a number and what it counts; a line break always is one."""
    if not (reading.chances[i] > reading.limit or reading.apart[i] > APART):
        return "\n" in reading.gaps[i]
    return bool(reading.gaps[i]) or not (text[reading.ends[i] - 1].isdigit() and reading.chinese)


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


def _with_pauses(chances: NDArray[np.float32], places: Sequence[int], pauses: Sequence[Pause]) -> NDArray[np.float32]:
    """Log odds raised at the first word that starts at or after each pause."""
    starts = np.array(places)
    raised = np.log(np.clip(chances, 1e-6, 1 - 1e-6) / (1 - np.clip(chances, 1e-6, 1 - 1e-6)))
    for pause in pauses:
        at = int(np.searchsorted(starts, pause.at))
        if pause.ms >= PAUSE_MS and 0 < at < len(starts):
            raised[at] += PAUSE_WEIGHT * min(1.0, pause.ms / PAUSE_FULL_MS)
    return (1.0 / (1.0 + np.exp(-raised))).astype(np.float32)
