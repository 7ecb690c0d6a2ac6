"""What kind of statement a clause or unit is: a linear model over cue words, word pieces, and the encoder's span vector.

Cues stand in ``lexicons/unit_cues.toml``; the weights come from ``python -m models.train.unit_types``, trained on
``tests/data/units.jsonl`` (guide: docs/unit-labels.md). Two heads are kept: with the vector, and by words alone for where
there is none, it is not finite, or it comes from an encoder of another size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import get_args
from zipfile import BadZipFile
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.encoder import Encoded
from models.errors import ResourceError
from models.lexicons import FOLDER, read_toml
from models.prefilter import Prefilter
from models.records import UnitType
from models.text import narrow, simplify

WEIGHTS = Path(__file__).parents[1] / "weights" / "unit_types.npz"
LEXICON = FOLDER / "unit_cues.toml"
TYPES: tuple[UnitType, ...] = get_args(UnitType)
CLASSES: tuple[str, ...] = (*TYPES, "small_talk")
"""What the model tells apart; small talk that says nothing ("Glad you had a good time") is a fact to the record."""
BITS = 14
COMPANY = 0.5
"""Share of the utterance's mean state that is taken out of a span's: token states know their neighbours."""
MAX_TEXT = 600
"""Characters read at most; units are far shorter."""

_ARRAYS = ("weights", "bias", "vector_weights", "vector_bias", "turn", "center")
_CJK_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN = re.compile(r"[a-z?]", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|#+")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")


class Typed(Struct, frozen=True):
    """The likeliest type, its probability, which cues were seen, and the probability that it is mere small talk."""

    type: UnitType
    chance: float
    cues: frozenset[str]
    idle: float = 0.0


class Cues:
    """The compiled cue expressions: Chinese ones and English ones, each read only where the text has that script."""

    def __init__(self, chinese: Mapping[str, str], english: Mapping[str, str]) -> None:
        """Raises ResourceError if an entry is no regular expression."""
        self._chinese = _compiled(chinese)
        self._english = _compiled(english)
        self._may_chinese = Prefilter([pattern for _, pattern in self._chinese])
        self._may_english = Prefilter([pattern for _, pattern in self._english])
        self.seen = lru_cache(maxsize=256)(self._seen)  # a statement is a unit too, most often

    @classmethod
    def load(cls, path: Path = LEXICON) -> Cues:
        """Reads the lexicon's tables ``zh`` and ``en``."""
        data = read_toml(path)
        if not isinstance(data.get("zh"), dict) or not isinstance(data.get("en"), dict):
            raise ResourceError(f"{path.name}: needs the tables [zh] and [en]")
        return cls(data["zh"], data["en"])

    def _seen(self, flat: str) -> frozenset[str]:
        """Names of the cues in a text already given by `flatten`."""
        found = set()
        if not flat.isascii():
            for number in self._may_chinese.possible(flat):
                name, pattern = self._chinese[number]
                if pattern.search(flat):
                    found.add(name)
        if _LATIN.search(flat):
            for number in self._may_english.possible(flat):
                name, pattern = self._english[number]
                if name not in found and pattern.search(flat):
                    found.add(name)
        return frozenset(found)


def _compiled(expressions: Mapping[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    found = []
    for name, source in expressions.items():
        try:
            found.append((name, re.compile(source, re.IGNORECASE)))
        except (re.error, TypeError) as error:
            raise ResourceError(f"{LEXICON.name}: cue {name}: {error}") from error
    return found


@lru_cache(maxsize=256)
def flatten(text: str) -> str:
    """The form in which cues and pieces are read: narrow, simplified, straight apostrophes, at most 600 characters."""
    return simplify(narrow(text[:MAX_TEXT])).replace("’", "'").strip()


def pieces(flat: str, cues: frozenset[str]) -> list[int]:
    """Feature numbers of a flattened text, without repeats, sorted."""
    lower = _DIGITS.sub("#", flat.lower())
    found = set(_cue_places(cues))
    runs = () if lower.isascii() else _CJK_RUN.findall(lower)
    for run in runs:
        found.update([_PAIRS[run[i : i + 2]] for i in range(len(run) - 1)])
        found.update([_CHARACTERS[ch] for ch in run])
    if runs:
        found.add(_place(f"s:{lower[:2]}"))
        found.add(_place(f"e:{lower.rstrip('。！!，,~ ')[-1:]}"))
    words = _WORD.findall(lower)
    if words:
        found.update([_WORDS[word] for word in words])
        found.update([_WORD_PAIRS[pair] for pair in map("_".join, zip(words, words[1:], strict=False))])
        if not runs:
            found.add(_place(f"f:{words[0]}"))
            found.add(_place(f"g:{'_'.join(words[:2])}"))
    found.add(_place("long" if len(flat) > 25 else "short"))
    return sorted(found)


@lru_cache(maxsize=4096)
def _cue_places(cues: frozenset[str]) -> tuple[int, ...]:
    """Feature numbers of the cues and of their pairs."""
    ordered = sorted(cues)
    names = [f"c:{cue}" for cue in ordered]
    names += [f"cc:{a}:{b}" for i, a in enumerate(ordered) for b in ordered[i + 1 :]]
    return tuple(_place(name) for name in names)


@lru_cache(maxsize=4096)
def _place(name: str) -> int:
    return crc32(name.encode("utf-8", "surrogatepass")) >> (32 - BITS)


class _Places(dict[str, int]):
    """Feature numbers of the strings of one kind, worked out once; forgotten when there are too many."""

    LIMIT = 50_000

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, string: str) -> int:
        if len(self) >= self.LIMIT:
            self.clear()
        place = self[string] = _place(self._kind + string)
        return place


_PAIRS, _CHARACTERS, _WORDS, _WORD_PAIRS = _Places("z:"), _Places("y:"), _Places("w:"), _Places("b:")


class VectorHead(Struct, frozen=True):
    """The head that also sees a span vector: word weights, ``turn [H, classes]``, and the vector's usual place and size."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    turn: NDArray[np.float32]
    center: NDArray[np.float32]
    encoder: str


class TypeModel(Struct, frozen=True):
    """Weights ``float32 [2**BITS, classes]`` and bias ``[classes]`` of the words alone, classes in the order of ``CLASSES``."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    vector_head: VectorHead
    cues: Cues

    @classmethod
    def load(cls, path: Path = WEIGHTS, cues: Cues | None = None) -> TypeModel:
        """Raises ResourceError if the file is missing, cut short or of another shape."""
        try:
            with np.load(path) as data:
                part = {name: data[name].astype(np.float32) for name in _ARRAYS}
                encoder = str(data["encoder"])
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise ResourceError(
                f"{path.name}: cannot be read ({error}); run python -m models.train.unit_types"
            ) from error
        shape, kinds = (2**BITS, len(CLASSES)), (len(CLASSES),)
        wanted = {"weights": shape, "bias": kinds, "vector_weights": shape, "vector_bias": kinds}
        wanted |= {"turn": (len(part["center"]), len(CLASSES))}
        for name, expected in wanted.items():
            if part[name].shape != expected or not np.isfinite(part[name]).all():
                raise ResourceError(
                    f"{path.name}: {name} of shape {part[name].shape}, expected {expected} finite numbers"
                )
        head = VectorHead(part["vector_weights"], part["vector_bias"], part["turn"], part["center"], encoder)
        return cls(part["weights"], part["bias"], head, cues or Cues.load())

    def probabilities(
        self, flat: str, seen: frozenset[str], vector: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """A probability for each of ``CLASSES``, ``float32 [classes]``."""
        places = pieces(flat, seen)
        head = self.vector_head
        if vector is not None and vector.shape == head.center.shape and _finite(vector):
            scores = np.add.reduce(head.weights.take(places, 0), 0) + head.bias + (vector - head.center) @ head.turn
        else:
            scores = np.add.reduce(self.weights.take(places, 0), 0) + self.bias
        scores = np.exp(scores - scores.max())
        return scores / scores.sum()

    def read(self, text: str, vector: NDArray[np.float32] | None = None) -> Typed:
        """The type of a statement; `vector` is its `span_evidence`.

        >>> shipped_types().read("麻烦补充下错误码说明").type
        'action_request'
        """
        flat = flatten(text)
        seen = self.cues.seen(flat)
        chances = self.probabilities(flat, seen, vector)
        idle = float(chances[-1])
        best = int(chances[:-1].argmax())
        if idle > float(chances[best]):
            return Typed("fact", round(idle, 4), seen, round(idle, 4))
        return Typed(TYPES[best], round(float(chances[best]), 4), seen, round(idle, 4))


def _finite(vector: NDArray[np.float32]) -> bool:
    return math.isfinite(float(vector.dot(vector))) or bool(np.isfinite(vector).all())


def span_evidence(
    encoded: Encoded, start: int, end: int, mean: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Unit vector ``[H]`` of what a span says beyond its utterance: its mean state (`mean` if it is at hand) less half the
    utterance's."""
    beyond = (encoded.span_mean(start, end) if mean is None else mean) - COMPANY * encoded.pooled
    length = float(np.sqrt(beyond.dot(beyond)))
    return (beyond / length if length > 0 else beyond).astype(np.float32, copy=False)


@lru_cache(maxsize=1)
def shipped_types() -> TypeModel:
    """The shipped model, read once."""
    return TypeModel.load()
