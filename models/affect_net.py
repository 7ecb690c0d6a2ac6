"""The trained heads of filter 2: a convolution over token states, then one hidden layer. NumPy only.

Inputs of the hidden layer: mean and maximum of the token states, the convolution's maximum and mean over the tokens (three
tokens wide), the surface's dense features, and the summed embeddings of the text's and the earlier turns' n-grams.

Two linear heads stand beside it, on state and dense features alone: `service`, the six intents as our own few service and
meeting lines label them (too few for the net, which would learn them by heart), and `gate`, how much a text is of that kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.affect_features import TEXT_BUCKETS, TURN_BUCKETS, Surface
from models.encoder import Encoded
from models.errors import RecordError, ResourceError

DENSE_GAIN = 3.0
"""The linear heads see the dense features this much larger, so that their penalty weighs on them less."""
TOKENS = 256
"""Tokens past this are seen by the mean and maximum only."""
SHIPPED = Path(__file__).parent / "weights" / "affect.npz"
GROUPS = ("calm", "joy", "surprise", "sadness", "fear", "anger", "disgust")
"""Emotion groups the net tells apart; `FINER` splits three of them in two."""
FINER = {"joy": "gratitude", "sadness": "disappointment", "anger": "frustration"}
OUTPUTS = {"intent": 6, "emotion": 7, "intensity": 7, "finer": 3, "load": 4}
"""Output blocks in order: six intents, seven groups (which one), seven (how much), three splits, four load axes."""
_SHAPES = {
    "state_scale": (None,), "state_shift": (None,), "token_scale": (None,), "token_shift": (None,),
    "taps": (None, None), "taps_bias": (None,), "text_grams": (TEXT_BUCKETS, None), "turn_grams": (TURN_BUCKETS, None),
    "hidden": (None, None), "hidden_bias": (None,), "out": (None, sum(OUTPUTS.values())),
    "out_bias": (sum(OUTPUTS.values()),), "service": (None, 6), "service_bias": (6,), "gate": (None,), "gate_bias": (1,),
    "temperature": (3,), "emotion_lift": (7,), "intent_lift": (6,),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class AffectNet:
    """The weights by name (see `_SHAPES`), float32; `encoder` names the encoder they were trained on ("": the shipped one)."""

    weights: dict[str, np.ndarray]
    encoder: str = ""

    @classmethod
    def load(cls, path: str | Path = SHIPPED, *, surface_size: int) -> AffectNet:
        """The weights of an npz file; ResourceError where it is missing, cut or of another shape."""
        try:
            with np.load(path) as stored:
                weights = {name: stored[name].astype(np.float32) for name in _SHAPES}
                encoder = str(stored["encoder"]) if "encoder" in stored else ""
        except Exception as error:  # zipfile, numpy and the file system each raise kinds of their own
            raise ResourceError(f"{path}: no usable affect weights ({error}); restore the file") from error
        for name, shape in _SHAPES.items():
            found = weights[name].shape
            if len(found) != len(shape) or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
                raise ResourceError(
                    f"{path}: {name} has shape {found}, expected {shape}; retrain with `cuestream train`"
                )
        if weights["taps"].shape[1] != 3 * len(weights["taps_bias"]):
            raise ResourceError(f"{path}: taps has shape {weights['taps'].shape}; retrain with `cuestream train`")
        size = len(weights["token_scale"])  # of a token state; text states are two of them
        pairs = (("token_shift", size), ("taps", size), ("state_scale", 2 * size), ("state_shift", 2 * size))
        if any(len(weights[name]) != wanted for name, wanted in pairs):
            raise ResourceError(
                f"{path}: its arrays belong to encoders of several sizes; retrain with `cuestream train`"
            )
        width = (
            2 * size
            + 2 * len(weights["taps_bias"])
            + surface_size
            + weights["text_grams"].shape[1]
            + weights["turn_grams"].shape[1]
        )
        if len(weights["service"]) != 2 * size + surface_size or len(weights["gate"]) != 2 * size + surface_size:
            raise ResourceError(f"{path}: the service head was made for other word lists; retrain the heads")
        if weights["hidden"].shape != (width, weights["out"].shape[0]):
            raise ResourceError(
                f"{path}: made for other word lists ({weights['hidden'].shape[0]} inputs, now {width}); retrain the heads"
            )
        if not all(np.isfinite(array).all() for array in weights.values()):
            raise ResourceError(f"{path}: holds numbers that are not finite; restore the file")
        return cls(weights, encoder)

    @property
    def state_size(self) -> int:
        """Numbers of a token state of the encoder that it was trained on."""
        return len(self.weights["token_scale"])

    def run(self, encoded: Encoded, surface: Surface) -> dict[str, np.ndarray]:
        """Logits by output block, and of the service head and its gate. Raises RecordError(bad_vector) where the encoding holds NaN or infinity."""
        return self.answer(*self.layers(encoded, surface))

    def layers(self, encoded: Encoded, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
        """The hidden layer's activations [W] and what the two linear heads see [2H + D]."""
        weights = self.weights
        state = state_vector(encoded)
        if not np.isfinite(state).all():
            raise RecordError("bad_vector", "the encoder's vector holds NaN or infinity")
        scaled = (state - weights["state_shift"]) * weights["state_scale"]
        direct = np.concatenate((scaled, np.float32(DENSE_GAIN) * surface.dense))
        inputs = np.concatenate(
            (
                scaled,
                self._convolved(encoded.states[:TOKENS]),
                surface.dense,
                _summed(weights["text_grams"], surface.text_grams),
                _summed(weights["turn_grams"], surface.turn_grams),
            )
        )
        return np.maximum(inputs @ weights["hidden"] + weights["hidden_bias"], 0), direct

    def answer(self, hidden: np.ndarray, direct: np.ndarray) -> dict[str, np.ndarray]:
        """Logits by output block from the layers' outputs."""
        weights = self.weights
        logits = hidden @ weights["out"] + weights["out_bias"]
        bounds = np.cumsum([0, *OUTPUTS.values()])
        found = {name: logits[bounds[i] : bounds[i + 1]] for i, name in enumerate(OUTPUTS)}
        found["service"] = direct @ weights["service"] + weights["service_bias"]
        found["gate"] = direct @ weights["gate"] + weights["gate_bias"]
        return found

    def _convolved(self, states: np.ndarray) -> np.ndarray:
        """Maximum and mean over the tokens of a rectified convolution three tokens wide, [2C]."""
        weights = self.weights
        size = len(weights["taps_bias"])
        if not len(states):
            return np.zeros(2 * size, np.float32)
        taps = ((states - weights["token_shift"]) * weights["token_scale"]) @ weights["taps"]
        found = taps[:, size : 2 * size] + weights["taps_bias"]
        found[1:] += taps[:-1, :size]
        found[:-1] += taps[1:, 2 * size :]
        found = np.maximum(found, 0)
        return np.concatenate((found.max(0), found.mean(0)))


def state_vector(encoded: Encoded) -> np.ndarray:
    """Mean and maximum of the token states, [2H]."""
    highest = encoded.states.max(0) if len(encoded.states) else encoded.pooled
    return np.concatenate((encoded.pooled, highest))


def _summed(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return table[rows].sum(0) / np.float32(max(len(rows), 1) ** 0.5)
