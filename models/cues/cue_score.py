"""The causal strength of a cue (R3): five terms of the source and relevance, a weighted mean that can be read.

score = sum(w_i * t_i) / sum(w_i), all t_i in 0..1, vectorised over units. The weights lie in lexicons/cue_weights.toml.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from models.errors import ResourceError
from models.lexicons import load_lexicon, read_toml
from models.records import EMOTIONS, Emotion

Floats = npt.NDArray[np.floating]

TERMS = ("relevance", "emotion_match", "time_proximity", "severity", "resolution_gap", "commitment")

SEVERITY = {"high": 1.0, "medium": 0.6, "low": 0.3}

WEEK = 168.0
FLOOR = 0.1


class CueWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of the terms of a cue's score. `relevance_pressing` stands for `relevance` in a pressing turn."""

    emotion_match: float
    time_proximity: float
    severity: float
    resolution_gap: float
    commitment: float
    relevance: float
    relevance_pressing: float


class RelevanceWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of the roads whose evidence makes relevance = 1 / (1 + exp((middle - evidence) / spread))."""

    meaning: float
    words: float
    word_scale: float
    names: float
    entities: float
    activation: float
    dates: float
    cycles: float
    promises: float
    complaints: float
    kinds: float
    answers: float
    utterance: float
    discourse: float
    remark_words: float
    remark_passage: float
    remark_discourse: float
    context_meaning: float
    context_words: float
    middle: float
    spread: float


class AbstainLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence below which nothing (`silent`), or one unit (`weak`), is brought to mind.

    The best of many units that mean nothing looks better than the best of few: `silent` grows by `crowd` times sqrt(2 ln n),
    about the expected maximum of n standard normal numbers.
    """

    silent: float
    crowd: float
    weak: float

    def silence(self, size: int) -> float:
        """The least evidence that breaks the silence in a memory of `size` units."""
        return self.silent + self.crowd * math.sqrt(2.0 * math.log(max(size, 1)))


class CosineNorm(Struct, frozen=True, forbid_unknown_fields=True):
    """What the encoder's cosines between unrelated texts look like, worth `prior` units of a memory.

    `remark_mean` and `remark_deviation` are those of a remark, which is searched partly as a unit (query.remark_vector).
    """

    mean: float
    deviation: float
    remark_mean: float
    remark_deviation: float
    prior: float


class Cosines(Struct, frozen=True, forbid_unknown_fields=True):
    """The norms of Chinese and of other texts: an encoder's space is not equally dense everywhere."""

    zh: CosineNorm
    other: CosineNorm

    def of(self, lang: str | None) -> CosineNorm:
        """The norm for a turn in this language."""
        return self.zh if lang == "zh" else self.other


class RecallWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Every tuned number of recall."""

    cue: CueWeights
    relevance: RelevanceWeights
    abstain: AbstainLimits
    cosine: Cosines


def load_weights(path: Path | None = None) -> RecallWeights:
    """The weights of a file, by default the shipped one. Raises ResourceError that names the file and the fault."""
    return _shipped() if path is None else _convert(read_toml(path), path.name)


@lru_cache(maxsize=1)
def _shipped() -> RecallWeights:
    return _convert(load_lexicon("cue_weights.toml"), "cue_weights.toml")


def _convert(table: object, name: str) -> RecallWeights:
    try:
        return msgspec.convert(table, RecallWeights, strict=False)
    except msgspec.ValidationError as error:
        raise ResourceError(f"{name}: {error}") from error


def emotion_vector(emotion: Emotion) -> Floats:
    """The probabilities of the ten emotions in the order of EMOTIONS, float32[10], summing to 1."""
    probs = emotion.probs or {emotion.label: 1.0}
    found = [probs.get(label, 0.0) for label in EMOTIONS]
    total = sum(found)
    if total <= 0.0:
        found[EMOTIONS.index(emotion.label)] = total = 1.0
    return np.array(found, dtype=np.float32) / np.float32(total)


@lru_cache(maxsize=1)
def emotion_nearness() -> Floats:
    """How near two emotions lie in the encoder's space, 0..1, float32[10, 10] (lexicons/emotion_space.toml)."""
    table = load_lexicon("emotion_space.toml")["nearness"]
    try:
        return np.array([[table[a][b] for b in EMOTIONS] for a in EMOTIONS], dtype=np.float32)
    except KeyError as error:
        raise ResourceError(f"emotion_space.toml: no nearness for {error}") from error


def emotion_match(turn: Floats, units: Floats) -> Floats:
    """Expected nearness of the turn's emotion and each unit's, float32[n]: turn is [10], units [n, 10]."""
    return units @ (emotion_nearness() @ turn)


def emotional(turn: Floats) -> float:
    """How much emotion a turn shows, 0..1: what is not calm."""
    return float(1.0 - turn[EMOTIONS.index("calm")])


def time_proximity(hours: Floats) -> Floats:
    """1 / (1 + ln(1 + hours)) of the hours since, float[n].

    >>> time_proximity(np.array([0.0, 24.0])).round(3).tolist()
    [1.0, 0.237]
    """
    return 1.0 / (1.0 + np.log1p(np.maximum(hours, 0.0)))


def resolution_gap(pending: npt.NDArray[np.bool_], resolved_hours: Floats) -> Floats:
    """1 while pending; from its resolution on it falls to 0.1 within a week; 0 where nothing ever was open (never resolved).

    >>> resolution_gap(np.array([True, False, False]), np.array([np.inf, 84.0, np.inf])).tolist()
    [1.0, 0.5, 0.0]
    """
    decayed = np.maximum(FLOOR, 1.0 - np.minimum(0.9, np.maximum(resolved_hours, 0.0) / WEEK))
    return np.where(pending, 1.0, np.where(np.isfinite(resolved_hours), decayed, 0.0))


def relevance(evidence: Floats, weights: RelevanceWeights) -> Floats:
    """Evidence of all roads as relevance 0..1, float[n]."""
    return 1.0 / (1.0 + np.exp(np.clip((weights.middle - evidence) / weights.spread, -40.0, 40.0)))


def turn_weights(weights: CueWeights, pressing: float, emotion: float) -> Floats:
    """The weights of TERMS for one turn, float[6].

    `pressing` (0..1) moves the weight of relevance from a plain turn's to that of a trouble that came back; `emotion`
    (0..1) is how far the turn shows emotion at all, without which there is none to match.
    """
    relevant = weights.relevance * (weights.relevance_pressing / weights.relevance) ** pressing
    return np.array(
        [
            relevant,
            weights.emotion_match * emotion,
            weights.time_proximity,
            weights.severity,
            weights.resolution_gap,
            weights.commitment,
        ]
    )


def strength(terms: Floats, weights: Floats) -> Floats:
    """The score 0..1 of each unit: terms is [n, 6] in the order of TERMS, weights [6]; float[n]."""
    return terms @ weights / weights.sum()


def debug_marker(unit_id: str, score: float) -> str:
    """The marker that only an administrator sees.

    >>> debug_marker("CUE-7891", 0.8712)
    '[DEBUG:cue=CUE-7891,css=0.87]'
    """
    return f"[DEBUG:cue={unit_id},css={score:.2f}]"
