"""What an encoder's cosines say when there is nothing to say: measured, so that any encoder can take the shipped one's place.

e5's cosines lie between 0.7 and 0.9 whatever is compared, another encoder's around 0: only the distance from the usual means
something (notes on encoders in docs/recall.md).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.cue_score import CosineNorm, Cosines, RecallWeights
from models.encoder import Encoder
from models.lexicons import load_lexicon


def fitted(weights: RecallWeights, encoder: Encoder) -> RecallWeights:
    """The weights with the norms of this encoder in place of the shipped one's."""
    zh, other = _measured(encoder)
    cosines = Cosines(zh=_with_prior(zh, weights.cosine.zh), other=_with_prior(other, weights.cosine.other))
    return RecallWeights(cue=weights.cue, relevance=weights.relevance, abstain=weights.abstain, cosine=cosines)


@lru_cache(maxsize=4)
def _measured(encoder: Encoder) -> tuple[tuple[float, float], tuple[float, float]]:
    """(mean, deviation) of the cosines between unrelated Chinese texts, and between unrelated English ones."""
    return _spread(encoder, "zh"), _spread(encoder, "other")


def _spread(encoder: Encoder, language: str) -> tuple[float, float]:
    table = load_lexicon("calibration.toml")[language]
    asked = np.stack([found.query for found in encoder.encode(table["asked"])])
    kept = np.stack([found.passage for found in encoder.encode(table["kept"])])
    cosines = (asked @ kept.T).astype(np.float64)
    return round(float(cosines.mean()), 4), round(float(cosines.std()), 4)


def _with_prior(measured: tuple[float, float], shipped: CosineNorm) -> CosineNorm:
    return CosineNorm(mean=measured[0], deviation=max(measured[1], 1e-3), prior=shipped.prior)
