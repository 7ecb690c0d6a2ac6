"""What an encoder's cosines say when there is nothing to say: measured, so that any encoder can take the shipped one's place.

e5's cosines lie between 0.7 and 0.9 whatever is compared, another encoder's around 0: only the distance from the usual means
something (notes on encoders in docs/recall.md).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.cues.cue_score import CosineNorm, Cosines, Floats, RecallWeights
from models.encoder import Encoder
from models.lexicons import load_lexicon


def fitted(weights: RecallWeights, encoder: Encoder) -> RecallWeights:
    """The weights with the norms of this encoder in place of the shipped one's."""
    share = weights.relevance.remark_passage
    cosines = Cosines(
        zh=_norm(encoder, "zh", share, weights.cosine.zh.prior),
        other=_norm(encoder, "other", share, weights.cosine.other.prior),
    )
    return RecallWeights(cue=weights.cue, relevance=weights.relevance, abstain=weights.abstain, cosine=cosines)


def _norm(encoder: Encoder, language: str, share: float, prior: float) -> CosineNorm:
    queries, passages, kept = _vectors(encoder, language)
    mixed = queries + share * passages
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    asked, remarked = queries @ kept.T, mixed @ kept.T
    return CosineNorm(
        mean=round(float(asked.mean()), 4),
        deviation=round(max(float(asked.std()), 1e-3), 4),
        remark_mean=round(float(remarked.mean()), 4),
        remark_deviation=round(max(float(remarked.std()), 1e-3), 4),
        prior=prior,
    )


@lru_cache(maxsize=8)
def _vectors(encoder: Encoder, language: str) -> tuple[Floats, Floats, Floats]:
    """Query and passage vectors of the calibration turns, passage vectors of the calibration memories."""
    table = load_lexicon("calibration.toml")[language]
    asked, kept = encoder.encode(table["asked"]), encoder.encode(table["kept"])
    return (
        np.stack([found.query for found in asked]).astype(np.float64),
        np.stack([found.passage for found in asked]).astype(np.float64),
        np.stack([found.passage for found in kept]).astype(np.float64),
    )
