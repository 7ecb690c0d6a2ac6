"""The alternative to the linear cue score (R3): one small hidden layer over the same six terms.

score = sigmoid(w2 . tanh(W1 x + b1) + b2), x = the terms with the turn's weights' shares beside them. Trained by
models.train.tune_cues; chosen by naming its file in the setting ``recall.cue_model``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.cues.cue_score import TERMS, Floats
from models.errors import ResourceError

INPUTS = 2 * len(TERMS)


class CueMlp:
    """A trained network: `hidden` float[INPUTS, H], `hidden_bias` [H], `out` [H], `out_bias` []."""

    def __init__(self, hidden: Floats, hidden_bias: Floats, out: Floats, out_bias: Floats) -> None:
        if hidden.shape[0] != INPUTS or hidden_bias.shape != out.shape or hidden.shape[1:] != out.shape:
            raise ResourceError(
                f"cue network: shapes {hidden.shape}, {out.shape} do not fit {INPUTS} inputs: train it again"
            )
        self.parameters = (hidden, hidden_bias, out, out_bias)

    @classmethod
    def load(cls, path: Path) -> CueMlp:
        """The network of an ``.npz`` file. Raises ResourceError where it is missing or does not fit."""
        try:
            with np.load(path) as stored:
                return cls(*(stored[name].astype(np.float64) for name in ("hidden", "hidden_bias", "out", "out_bias")))
        except (OSError, ValueError, KeyError) as error:
            raise ResourceError(
                f"{path}: no usable cue network ({error}): train it with `cuestream tune --mlp`"
            ) from error

    def save(self, path: Path) -> None:
        """Writes the network as float32."""
        hidden, hidden_bias, out, out_bias = (np.asarray(value, np.float32) for value in self.parameters)
        np.savez(path, hidden=hidden, hidden_bias=hidden_bias, out=out, out_bias=out_bias)

    def strength(self, terms: Floats, weights: Floats) -> Floats:
        """The score 0..1 of each unit, float[n]: terms [n, 6], the turn's weights [6]."""
        hidden, hidden_bias, out, out_bias = self.parameters
        return 1.0 / (1.0 + np.exp(-(np.tanh(inputs(terms, weights) @ hidden + hidden_bias) @ out + out_bias)))


def inputs(terms: Floats, weights: Floats) -> Floats:
    """What the network sees, float[n, INPUTS]: the terms, and each times its share of the turn's weights."""
    shares = weights / weights.sum()
    return np.concatenate([terms, terms * shares], axis=1)
