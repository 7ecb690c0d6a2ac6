"""The trained heads of filter 2: one hidden layer over what the encoder saw. NumPy only.

Inputs of the hidden layer: mean and maximum of the text's mixed token states, the surface's dense features, and a small
layer over the mean states of the last turn of the other side and of the speaker's own (zeros where there is none). Blocks of
logits stand on the hidden layer; two more read it for lines of our own kind: `service`, the six intents as our labelling guide
has them, and `gate`, how much a text is of that kind (service and meetings, not TV talk or posts).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.affect_features import Surface
from models.encoder import Encoded
from models.errors import RecordError, ResourceError

SHIPPED = Path(__file__).parent / "weights" / "affect.npz"
GROUPS = ("calm", "joy", "surprise", "sadness", "fear", "anger", "disgust")
"""Emotion groups the net tells apart; `FINER` splits three of them in two."""
FINER = {"joy": "gratitude", "sadness": "disappointment", "anger": "frustration"}
OUTPUTS = {"intent": 6, "emotion": 7, "intensity": 7, "finer": 3, "load": 4}
"""Output blocks in order: six intents, seven groups (which one), seven (how much), three splits, four load axes."""
_ENDS = np.cumsum([0, *OUTPUTS.values(), 6, 1]).tolist()
_BOUNDS = dict(zip((*OUTPUTS, "service", "gate"), zip(_ENDS[:-1], _ENDS[1:], strict=True), strict=True))
_SHAPES = {
    "shift": (None,), "scale": (None,), "turns": (None, None), "turns_bias": (None,), "hidden": (None, None),
    "hidden_bias": (None,), "out": (None, sum(OUTPUTS.values())), "out_bias": (sum(OUTPUTS.values()),),
    "service": (None, 6), "service_bias": (6,), "gate": (None,), "gate_bias": (1,), "temperature": (3,),
    "emotion_lift": (7,), "intent_lift": (6,),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class AffectNet:
    """The weights by name (see `_SHAPES`), float32; all heads of the hidden layer joined, [width, 34]
    and [34]; the name of the encoder they were fitted on."""

    weights: dict[str, np.ndarray]
    heads: tuple[np.ndarray, np.ndarray]
    encoder: str = ""

    @classmethod
    def load(cls, path: str | Path = SHIPPED, *, surface_size: int) -> AffectNet:
        """The weights of an npz file; ResourceError where it is missing, cut or of another shape."""
        try:
            with np.load(path) as stored:
                weights = {name: stored[name].astype(np.float32) for name in _SHAPES}
                encoder = str(stored["encoder"])
        except Exception as error:  # zipfile, numpy and the file system each raise kinds of their own
            raise ResourceError(f"{path}: no usable affect weights ({error}); restore the file") from error
        for name, shape in _SHAPES.items():
            found = weights[name].shape
            if len(found) != len(shape) or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
                raise ResourceError(
                    f"{path}: {name} has shape {found}, expected {shape}; retrain with `cuestream train`"
                )
        size, width = len(weights["shift"]), len(weights["hidden_bias"])
        inputs = 2 * size + surface_size + len(weights["turns_bias"])
        if weights["hidden"].shape != (inputs, width):
            raise ResourceError(
                f"{path}: made for other word lists ({weights['hidden'].shape[0]} inputs, now {inputs}); retrain the heads"
            )
        wanted = {
            "scale": (size,), "turns": (2 * size, len(weights["turns_bias"])), "out": (width, sum(OUTPUTS.values())),
            "service": (width, 6), "gate": (width,),
        }  # fmt: skip
        for name, shape in wanted.items():
            if weights[name].shape != shape:
                raise ResourceError(f"{path}: {name} has shape {weights[name].shape}, expected {shape}; retrain")
        if not all(np.isfinite(array).all() for array in weights.values()):
            raise ResourceError(f"{path}: holds numbers that are not finite; restore the file")
        joined = np.concatenate([weights["out"], weights["service"], weights["gate"][:, None]], 1)
        bias = np.concatenate([weights["out_bias"], weights["service_bias"], weights["gate_bias"]])
        return cls(weights, (joined, bias), encoder)

    @property
    def state_size(self) -> int:
        """Numbers of a token state of the encoder that it was trained on."""
        return len(self.weights["shift"])

    def layers(
        self, state: np.ndarray, surface: Surface, other: np.ndarray | None = None, own: np.ndarray | None = None
    ) -> np.ndarray:
        """Activations of the hidden layer [W] from the `text_state` [2, H] of a text.

        `other` and `own` are the means (first rows) of the `text_state`s of the other side's last turn and of the speaker's own.
        Raises RecordError(bad_vector) where a vector holds NaN or infinity, or has another size.
        """
        weights = self.weights
        size, width = self.state_size, len(surface.dense)
        if state.shape != (2, size):
            raise RecordError("bad_vector", f"a vector of {state.shape[-1]} numbers, the heads take {size}")
        turns = np.zeros((2, size), np.float32)
        for place, turn in enumerate((other, own)):
            if turn is not None:
                turns[place] = (turn - weights["shift"]) * weights["scale"]
        inputs = np.empty(2 * size + width + len(weights["turns_bias"]), np.float32)
        inputs[: 2 * size] = ((state - weights["shift"]) * weights["scale"]).ravel()
        inputs[2 * size : 2 * size + width] = surface.dense
        heard = turns.ravel() @ weights["turns"] + weights["turns_bias"]
        inputs[2 * size + width :] = np.maximum(heard, 0)
        found = np.maximum(inputs @ weights["hidden"] + weights["hidden_bias"], 0)
        if not np.isfinite(found).all():
            raise RecordError("bad_vector", "the encoder's vector holds NaN or infinity")
        return found

    def answer(self, hidden: np.ndarray) -> dict[str, np.ndarray]:
        """Logits by output block, and of the service head and its gate, from the hidden layer [W]."""
        logits = hidden @ self.heads[0] + self.heads[1]
        return {name: logits[begin:end] for name, (begin, end) in _BOUNDS.items()}


def text_state(encoded: Encoded) -> np.ndarray:
    """Mean and maximum of the mixed token states, [2, H]; a text without tokens has its pooled state twice."""
    mixed = encoded.mixed
    if not len(mixed):
        return np.stack((encoded.pooled, encoded.pooled))
    found = np.empty((2, mixed.shape[1]), np.float32)
    found[0] = np.add.reduce(mixed, 0) / np.float32(len(mixed))
    found[1] = np.maximum.reduce(mixed, 0)
    return found
