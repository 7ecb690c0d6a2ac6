"""Clause boundaries read from the encoder's token states: a small convolution over the pass that has been made anyway.

Each token's mixed state is projected, the marks before it and the token's own letters are added, and a convolution over five
tokens gives the log odds of a boundary before the token. A token that begins with 的 and holds more ("的人") has a second output for
the place after 的, where Chinese relative clauses end. NumPy only; trained by ``python -m models.train.segments``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.encoder import Encoded
from models.errors import ResourceError
from models.units.clause_features import gap_kind, gap_of

STYLES = ("unit_zh", "unit_en", "apart", "tree_zh", "tree_en", "act_en")
"""Ways of cutting, by source of training lines; reading asks for the first three."""
KINDS = 9
"""Kinds of marks before a token (see ``gap_kind``)."""
PIECES = 4096
"""Rows of the table of letters: a token's text is hashed into one of them."""
_SHAPES = {
    "project": (None, None), "project_bias": (None,), "marks": (KINDS, None), "pieces": (PIECES, None),
    "taps": (None, None), "taps_bias": (None,), "out": (None, 2 * len(STYLES)), "out_bias": (2 * len(STYLES),),
    "limits": (4,), "share": (1,),
}  # fmt: skip


_JOINERS = frozenset("'’-_.@/:&")


class Places(Struct, frozen=True):
    """Where a clause may begin: before ``text[starts[i]]``, which token `tokens[i]` holds; `inside` where that is after its
    的. `ends[i]` is where the word before ends, `gaps[i]` the marks between. The first place is the text's first word."""

    starts: list[int]
    ends: list[int]
    gaps: list[str]
    tokens: list[int]
    inside: list[bool]


def places_of(text: str, offsets: NDArray[np.int32]) -> Places:
    """The places of a text whose tokens are ``text[offsets[i, 0]:offsets[i, 1]]``: tokens that begin a word (in Chinese, any)."""
    starts: list[int] = []
    ends: list[int] = []
    gaps: list[str] = []
    tokens: list[int] = []
    inside: list[bool] = []
    last = -1
    letter_before = False
    spans = offsets.tolist()
    following = [begin for begin, _ in spans[1:]] + [-1]
    for number, ((begin, end), after) in enumerate(zip(spans, following, strict=True)):
        if after == begin:  # the word sign before a text's first token
            continue
        piece = _piece(text[begin:end])
        if piece is None:
            continue
        first = begin + piece.first
        if last < 0 or not (letter_before and piece.opens and _one_word(text, last, first)):
            starts.append(first)
            ends.append(last + 1)
            gaps.append(gap_of(text[last + 1 : first]) if first > last + 1 else "")
            tokens.append(number)
            inside.append(False)
        if piece.relative:
            starts.append(first + 1)
            ends.append(first + 1)
            gaps.append("")
            tokens.append(number)
            inside.append(True)
        last = begin + piece.final
        letter_before = piece.closes
    return Places(starts, ends, gaps, tokens, inside)


class _Piece(Struct, frozen=True):
    """A token's text: its first and last letter or digit, whether these make one word with their like beside them, and
    whether it begins with a 的 that more follows."""

    first: int
    final: int
    opens: bool
    closes: bool
    relative: bool


@lru_cache(maxsize=65536)
def _piece(text: str) -> _Piece | None:
    """The token of a text; None where it has no letter or digit."""
    alike = [at for at, ch in enumerate(text) if ch.isalnum()]
    if not alike:
        return None
    first, final = alike[0], alike[-1]
    relative = text[first] == "的" and first < final and text[first + 1].isalnum()
    return _Piece(first, final, _letter(text[first]), _letter(text[final]), relative)


def _one_word(text: str, last: int, first: int) -> bool:
    """Whether two pieces that end and begin with Latin letters or digits are parts of one word: side by side, or with one sign
    between ("don't", "3.5", "a-b")."""
    between = text[last + 1 : first]
    return not between or between in _JOINERS or (between == "," and text[first].isdigit() and text[last].isdigit())


def _letter(ch: str) -> bool:
    """Letters and digits that make one word with their like beside them; Chinese characters do not."""
    return ch < "\u2e80" and ch.isalnum()


@lru_cache(maxsize=65536)
def piece_row(piece: str) -> int:
    """The row of the table of letters for a token's text."""
    return crc32(piece.strip().lower().encode("utf-8", "surrogatepass")) % PIECES


def inputs_of(text: str, offsets: NDArray[np.int32], places: Places) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the two tables by token [n]: the kind of marks before it, and its letters."""
    kinds = np.zeros(len(offsets), np.intp)
    for gap, number, inner in zip(places.gaps, places.tokens, places.inside, strict=True):
        if gap and not inner:
            kinds[number] = gap_kind(gap)
    return kinds, np.array([piece_row(text[begin:end]) for begin, end in offsets.tolist()], np.intp)


class BoundaryNet(Struct, frozen=True):
    """The weights by name (see `_SHAPES`), float32; `encoder` is the name of the encoder they were trained on."""

    weights: dict[str, NDArray[np.float32]]
    encoder: str

    @classmethod
    def load(cls, path: Path) -> BoundaryNet:
        """Reads a ``segments_net.npz``. Raises ResourceError if it is missing, cut short, of another shape or not finite."""
        try:
            with np.load(path) as data:
                weights = {name: data[name].astype(np.float32) for name in _SHAPES}
                encoder = str(data["encoder"])
        except Exception as error:  # zipfile, numpy and the file system each raise kinds of their own
            raise ResourceError(
                f"{path.name}: cannot be read ({error}); run python -m models.train.segments"
            ) from error
        for name, shape in _SHAPES.items():
            found = weights[name].shape
            if len(found) != len(shape) or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
                raise ResourceError(f"{path.name}: {name} has shape {found}, expected {shape}")
            if not np.isfinite(weights[name]).all():
                raise ResourceError(f"{path.name}: {name} holds numbers that are not finite")
        wide, channels = weights["project"].shape[1], weights["out"].shape[0]
        lengths = {"project_bias": wide, "marks": wide, "pieces": wide, "taps": channels, "taps_bias": channels}
        if (
            any(weights[name].shape[-1] != length for name, length in lengths.items())
            or weights["taps"].shape[0] % wide
        ):
            raise ResourceError(f"{path.name}: its arrays do not fit each other")
        return cls(weights, encoder)

    @property
    def state_size(self) -> int:
        """Numbers of a token state of the encoder it was trained on."""
        return len(self.weights["project"])

    def takes(self, encoded: Encoded) -> bool:
        """Whether it can read this encoding: states of its size, all finite."""
        mixed = encoded.mixed
        return len(mixed) > 0 and mixed.shape[1] == self.state_size and bool(np.isfinite(mixed).all())

    def limit(self, *, chinese: bool, bare: bool) -> float:
        """The probability from which a clause begins, in a text with marks or (`bare`) without."""
        return float(self.weights["limits"][2 * (not chinese) + bare])

    @property
    def share(self) -> float:
        """How much its log odds weigh beside those of the word models (1: these are not asked)."""
        return float(self.weights["share"][0])

    def odds(self, encoded: Encoded, places: Places) -> NDArray[np.float32]:
        """Log odds at each place by style, float32 [places, styles]."""
        weights, text = self.weights, encoded.text
        kinds, pieces = inputs_of(text, encoded.offsets, places)
        first = encoded.mixed @ weights["project"]
        first += weights["project_bias"] + weights["marks"][kinds] + weights["pieces"][pieces]
        np.maximum(first, 0, out=first)
        taps, rows = weights["taps"], np.asarray(places.tokens, np.intp)
        width = len(taps) // first.shape[1]
        padded = np.zeros((len(first) + width - 1, first.shape[1]), np.float32)
        padded[width // 2 : width // 2 + len(first)] = first
        windows = padded[rows[:, None] + np.arange(width)].reshape(len(rows), -1)
        hidden = np.maximum(windows @ taps + weights["taps_bias"], 0)
        found = (hidden @ weights["out"] + weights["out_bias"]).reshape(len(rows), 2, len(STYLES))
        return found[np.arange(len(rows)), np.asarray(places.inside, np.intp)]
