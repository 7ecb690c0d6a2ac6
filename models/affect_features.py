"""What filter 2 sees beside the encoder's vectors: cue words, punctuation, speaker, earlier turn, pauses, position."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from models.affect_cues import Cue, CueLexicon, folded
from models.context import Turn
from models.records import Pause, Speaker

TEXT_BUCKETS = 1 << 14
TURN_BUCKETS = 1 << 13
_PIECE = re.compile(r"[a-z']+|[0-9]+|[\u3400-\u9fff]|[?？!！…~～]|\.\.\.")
_PIECES = 160
_EARLIER_KINDS = (
    "question", "request", "complaint", "gratitude", "apology", "refuse", "accept", "urgent", "challenge", "commit_plain",
)  # fmt: skip
_MOODS = ("strain", "anger", "joy", "sadness", "fear", "surprise", "disgust")
_TURNS_BACK, _TURN_CHARACTERS = 3, 80
_CONTRAST = re.compile(r"\s*[,，…。.]*\s*(?:不过|但是|但|可是|只是|but|however|though)", re.IGNORECASE)
LONG_PAUSE_MS = 800
"""A silence from here on is hesitation, not breath."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """`dense` float32 [D]; bucket numbers of the text's and of the earlier turn's n-grams; the cues themselves."""

    dense: np.ndarray
    text_grams: np.ndarray
    turn_grams: np.ndarray
    cues: list[Cue]
    earlier: Turn | None


class SurfaceReader:
    """Turns one utterance and its setting into numbers; `size` is the length of `dense`."""

    def __init__(self, lexicon: CueLexicon) -> None:
        self._lexicon = lexicon
        self._column = {kind: column for column, kind in enumerate(lexicon.kinds)}
        self._kinds = lru_cache(maxsize=2048)(self._kinds_of)  # a turn is context for several that follow
        self.size = len(lexicon.kinds) + len(_EARLIER_KINDS) + len(_MOODS) + 18

    def read(self, text: str, *, speaker: Speaker, context: Sequence[Turn], pauses: Sequence[Pause] = ()) -> Surface:
        """The surface of `text` as said by `speaker` after `context` (oldest first)."""
        cues = self._lexicon.find(text)
        counts = [0] * len(self._column)
        for cue in cues:
            counts[self._column[cue.kind]] += 1
        other = [turn for turn in context if not same_speaker(turn, speaker)]
        earlier = other[-1] if other else None
        earlier_kinds = self._kinds(earlier.text[-200:]) if earlier else frozenset()
        dense = [min(count, 3) / 3 for count in counts]
        dense += [float(kind in earlier_kinds) for kind in _EARLIER_KINDS]
        lately = frozenset[str]().union(*(self._kinds(turn.text[-200:]) for turn in context[-_TURNS_BACK:]))
        dense += [float(mood in lately) for mood in _MOODS]
        dense += _punctuation(text) + _setting(text, speaker, context, earlier, pauses)
        return Surface(
            dense=np.asarray(dense, np.float32),
            text_grams=grams(text, TEXT_BUCKETS),
            turn_grams=_earlier_grams(speaker, context),
            cues=cues,
            earlier=earlier,
        )

    def _kinds_of(self, text: str) -> frozenset[str]:
        return frozenset(cue.kind for cue in self._lexicon.find(text))


def same_speaker(turn: Turn, speaker: Speaker) -> bool:
    """Whether a turn was said by the person who speaks now: by id where both have one, else by role."""
    if speaker.id is not None and turn.speaker_id is not None:
        return speaker.id == turn.speaker_id
    return turn.role == speaker.role


def _earlier_grams(speaker: Speaker, context: Sequence[Turn]) -> np.ndarray:
    """Bucket numbers of the last turns' n-grams, apart for the speaker's own and the others'."""
    parts = [
        _turn_grams(turn.text[-_TURN_CHARACTERS:], "own" if same_speaker(turn, speaker) else "other")
        for turn in context[-_TURNS_BACK:]
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


@lru_cache(maxsize=2048)
def _turn_grams(text: str, space: str) -> np.ndarray:
    return grams(text, TURN_BUCKETS, space)


def grams(text: str, buckets: int, space: str = "") -> np.ndarray:
    """Bucket numbers int64 of the n-grams (1 to 3 characters or words) of the text's beginning; CRC-32, so stable.

    Another `space` gives the same n-grams other buckets.
    """
    seed = zlib.crc32(space.encode())
    pieces = ["<", *_PIECE.findall(folded(text[:2000]))[:_PIECES], ">"]
    found = pieces[1:-1] + [f"{a} {b}" for a, b in zip(pieces, pieces[1:], strict=False)]
    found += [f"{a} {b} {c}" for a, b, c in zip(pieces, pieces[1:], pieces[2:], strict=False)]
    return np.asarray([zlib.crc32(gram.encode(), seed) % buckets for gram in found], np.int64)


def hesitates(text: str, pauses: Sequence[Pause]) -> tuple[bool, bool]:
    """Whether there is a long pause, and whether one stands before a "but"."""
    long = [pause for pause in pauses if pause.ms >= LONG_PAUSE_MS]
    return bool(long), any(_CONTRAST.match(text, pause.at) for pause in long)


def _punctuation(text: str) -> list[float]:
    tail = text.rstrip()[-2:]
    plain = folded(text[:2000])
    return [
        float("?" in tail or "？" in tail),
        float("?" in text or "？" in text),
        min(text.count("!") + text.count("！"), 3) / 3,
        float("…" in text or "..." in text),
        min(math.log1p(len(text)) / 6, 1.0),
        float(any(ch.isdigit() for ch in text[:2000])),
        float("我" in plain or re.search(r"\b(?:i|we|i'm|i'll|we'll)\b", plain) is not None),
        float("你" in plain or "您" in plain or re.search(r"\byou(?:r|'re|'ll)?\b", plain) is not None),
    ]


def _setting(
    text: str, speaker: Speaker, context: Sequence[Turn], earlier: Turn | None, pauses: Sequence[Pause]
) -> list[float]:
    long, before_but = hesitates(text, pauses)
    return [
        float(speaker.role == "agent"),
        float(speaker.role == "third_party"),
        float(speaker.title is not None),
        float(earlier is None),
        float(earlier is not None and "?" in earlier.text[-3:].replace("？", "?")),
        float(bool(context) and same_speaker(context[-1], speaker)),
        min(len(context), 10) / 10,
        float(long),
        float(before_but),
        float(sum("\u3400" <= ch <= "\u9fff" for ch in text[:200]) > 0),
    ]
