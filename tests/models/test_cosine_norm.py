"""The norms of an encoder are measured on the calibration sentences, and an encoder of another kind gets its own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from models.cues.cosine_norm import fitted
from models.cues.cue_score import load_weights
from models.lexicons import load_lexicon


class OddEncoder:
    """Vectors with one large common direction, as e5's are, or without it."""

    def __init__(self, common: float) -> None:
        self.common = common

    def encode(self, texts: list[str]) -> list[SimpleNamespace]:
        found = []
        for text in texts:
            vector = np.random.default_rng(len(text) * 1009 + ord(text[0])).normal(size=64) / 8
            vector[0] += self.common
            vector = vector / np.linalg.norm(vector)
            found.append(SimpleNamespace(query=vector, passage=vector))
        return found


def test_the_norms_follow_the_encoder() -> None:
    squeezed = fitted(load_weights(), OddEncoder(2.0)).cosine  # type: ignore[arg-type]
    spread = fitted(load_weights(), OddEncoder(0.0)).cosine  # type: ignore[arg-type]
    assert squeezed.zh.mean > 0.7 > 0.2 > abs(spread.zh.mean)
    assert spread.other.deviation > squeezed.other.deviation
    assert squeezed.of("zh") is squeezed.zh and squeezed.of("en") is squeezed.of(None) is squeezed.other


def test_everything_else_stays() -> None:
    weights = load_weights()
    found = fitted(weights, OddEncoder(1.0))  # type: ignore[arg-type]
    assert (found.cue, found.relevance, found.abstain) == (weights.cue, weights.relevance, weights.abstain)
    assert found.cosine.zh.prior == weights.cosine.zh.prior


def test_the_calibration_sentences_are_of_both_languages_and_all_different() -> None:
    table = load_lexicon("calibration.toml")
    for language in ("zh", "other"):
        texts = table[language]["asked"] + table[language]["kept"]
        assert len(set(texts)) == len(texts) >= 24
        assert all(text.isascii() == (language == "other") for text in texts)
