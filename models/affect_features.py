"""What filter 2 sees beside the encoder's vectors: cue words, punctuation, speaker, earlier turn, pauses, position."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from models.affect_cues import Cue, CueLexicon, folded
from models.context import Turn
from models.records import Pause, Speaker

_EARLIER_KINDS = (
    "question", "request", "complaint", "gratitude", "apology", "refuse", "accept", "urgent", "challenge", "commit_plain",
)  # fmt: skip
_MOODS = ("strain", "anger", "joy", "sadness", "fear", "surprise", "disgust")
_TURNS_BACK, _KIND_CHARACTERS = 3, 200
TURN_CHARACTERS = 160
"""How much of an earlier turn's end is read."""
_CONTRAST = re.compile(r"\s*[,，…。.]*\s*(?:不过|但是|但|可是|只是|but|however|though)", re.IGNORECASE)
_WE, _YOU = re.compile(r"\b(?:i|we|i'm|i'll|we'll)\b"), re.compile(r"\byou(?:r|'re|'ll)?\b")
_HAN = re.compile("[\u3400-\u9fff]")
LONG_PAUSE_MS = 800
"""A silence from here on is hesitation, not breath."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """`dense` float32 [D]; the cues themselves; the other side's last turn; and the ends of the other side's last turn and of the
    speaker's own among the last three, "" where there is none."""

    dense: np.ndarray
    cues: list[Cue]
    earlier: Turn | None
    turns: tuple[str, str]


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
        earlier = next((turn for turn in reversed(context) if not same_speaker(turn, speaker)), None)
        earlier_kinds = self._kinds(earlier.text[-_KIND_CHARACTERS:]) if earlier else frozenset()
        dense = [min(count, 3) / 3 for count in counts]
        dense += [float(kind in earlier_kinds) for kind in _EARLIER_KINDS]
        lately = frozenset[str]().union(
            *(self._kinds(turn.text[-_KIND_CHARACTERS:]) for turn in context[-_TURNS_BACK:])
        )
        dense += [float(mood in lately) for mood in _MOODS]
        dense += _punctuation(text) + _setting(text, speaker, context, earlier, pauses)
        return Surface(
            dense=np.asarray(dense, np.float32),
            cues=cues,
            earlier=earlier,
            turns=last_turns(speaker, context),
        )

    def _kinds_of(self, text: str) -> frozenset[str]:
        return frozenset(cue.kind for cue in self._lexicon.find(text))


def same_speaker(turn: Turn, speaker: Speaker) -> bool:
    """Whether a turn was said by the person who speaks now: by id where both have one, else by role."""
    if speaker.id is not None and turn.speaker_id is not None:
        return speaker.id == turn.speaker_id
    return turn.role == speaker.role


def last_turns(speaker: Speaker, context: Sequence[Turn]) -> tuple[str, str]:
    """The ends of the other side's last turn and of the speaker's own among the last three; "" where there is none."""
    found = ["", ""]
    for turn in context[-_TURNS_BACK:]:
        found[same_speaker(turn, speaker)] = turn.text[-TURN_CHARACTERS:]
    return found[0], found[1]


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
        float(any(map(str.isdigit, text[:2000]))),
        float("我" in plain or _WE.search(plain) is not None),
        float("你" in plain or "您" in plain or _YOU.search(plain) is not None),
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
        float(_HAN.search(text, 0, 200) is not None),
    ]
