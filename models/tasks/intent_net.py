"""A small classifier of what a turn wants, for turns in which no rule finds an action word (T2).

Multinomial logistic regression over hashed word and character n-grams, 8-bit weights, about 0.1 ms a turn. It names an action only;
targets and entities are never its business, so it cannot invent one. Trained by ``models/train/intent_net.py``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from models.errors import ResourceError
from models.text import narrow

SIZE = 1 << 15
"""Hash buckets."""
MAX_TEXT = 300
WEIGHTS = Path(__file__).parents[1] / "weights" / "intent_net.npz"

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[\u4e00-\u9fff]|[^\w\s]")


def features(text: str) -> list[int]:
    """Buckets of a turn's n-grams, sorted and distinct: words, word pairs and triples; digits as one sign.

    A Chinese character counts as a word, so its pairs and triples are the words of the language.
    """
    tokens = ["0" if t.isdigit() else t for t in _TOKEN.findall(narrow(text[:MAX_TEXT]).replace("’", "'").lower())]
    padded = ["^", *tokens, "$"]
    grams = set(tokens)
    for size in (2, 3):
        grams.update(" ".join(padded[i : i + size]) for i in range(len(padded) - size + 1))
    return sorted({crc32(gram.encode()) % SIZE for gram in grams})


class IntentNet:
    """The trained weights. `labels` are action names of ``lexicons/actions.toml``, and inform, chat."""

    def __init__(
        self, labels: list[str], weights: NDArray[np.int8], scale: NDArray[np.float32], bias: NDArray[np.float32]
    ):
        if weights.shape != (SIZE, len(labels)) or bias.shape != (len(labels),) or scale.shape != (len(labels),):
            raise ResourceError("intent_net.npz: the weights do not fit the labels; train it again")
        self.labels = labels
        self._weights, self._scale, self._bias = weights, scale, bias

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> IntentNet:
        """The shipped weights. Raises ResourceError where the file is missing or damaged."""
        try:
            with np.load(path, allow_pickle=False) as data:
                return cls([str(x) for x in data["labels"]], data["weights"], data["scale"], data["bias"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ResourceError(
                f"{path.name}: cannot be read ({type(error).__name__}); install the package again"
            ) from error

    def probabilities(self, text: str) -> NDArray[np.float32]:
        """One probability a label, float32[labels]."""
        rows = features(text)
        scores = self._bias + self._weights[rows].sum(axis=0, dtype=np.int32) * self._scale / max(1.0, len(rows) ** 0.5)
        exponent = np.exp(scores - scores.max())
        return (exponent / exponent.sum()).astype(np.float32)

    def best(self, text: str) -> tuple[str, float]:
        """The likeliest action and its probability."""
        probabilities = self.probabilities(text)
        at = int(probabilities.argmax())
        return self.labels[at], float(probabilities[at])


@lru_cache(maxsize=1)
def shipped_net() -> IntentNet:
    """The classifier that comes with the package, loaded once."""
    return IntentNet.load()
