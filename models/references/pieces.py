"""Word pieces of the reference network: a trimmed unigram vocabulary, best segmentation by Viterbi, cached by word."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from models.wording import is_cjk

MAX_WORD = 32
UNKNOWN_SCORE = -30.0


class Pieces:
    """Cuts a word into the pieces with the highest summed score; unknown characters share one id."""

    def __init__(self, scores: Mapping[str, float], unknown: int) -> None:
        """``scores``: piece -> log probability; a piece's id is its place in that mapping."""
        self._ids = {piece: (i, score) for i, (piece, score) in enumerate(scores.items())}
        self._unknown = unknown
        self._longest = max((len(p) for p in self._ids), default=1)
        self.cut = lru_cache(maxsize=65536)(self._cut)

    def _cut(self, word: str) -> tuple[int, ...]:
        """Piece ids of one word; a word not in Chinese characters begins with the mark of a word's start."""
        if word in ("<s>", "</s>"):
            return (self._ids[word][0],)
        word = unicodedata.normalize("NFKC", word)[:MAX_WORD]
        if not is_cjk(word):
            word = "▁" + word
        best: list[tuple[float, int, int]] = [(0.0, 0, -1)]
        for end in range(1, len(word) + 1):
            top = (best[end - 1][0] + UNKNOWN_SCORE, end - 1, self._unknown)
            for begin in range(max(0, end - self._longest), end):
                found = self._ids.get(word[begin:end])
                if found and best[begin][0] + found[1] > top[0]:
                    top = (best[begin][0] + found[1], begin, found[0])
            best.append(top)
        ids, at = [], len(word)
        while at > 0:
            ids.append(best[at][2])
            at = best[at][1]
        return tuple(reversed(ids))
