"""How an utterance and its context are laid out for the reference network, and the vocabulary of its edits.

Positions: ``<s>``, the utterance, ``</s>``, then the earlier turns, newest first, each closed by ``</s>``. One position is
one word; its embedding is the mean of its pieces'. Only the last ``window`` words of the context are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from models.text import simplify
from models.wording import Word, is_cjk, split_words

STOP = 0
CONNECTORS = (
    "", "of", "in", "the", "for", "at", "on", "to", "about", "with", "from", "is", "are", "a", "an", "and", "or",
    "that", "which", "'s", "restaurant", "restaurants", "food", "area", "part", "town", "price", "range", "type",
    "serves", "serving", "any", "one", "i", "want", "would", "like", "does", "do", "not", "there", "have", "it",
    "place", "places", "near", "nearest", "nearby", "address", "phone", "number", "located", "city", "called",
    "store", "station", "shop", "house", "hotel", "what", "than", "other", "else", "be", "will", "between", "besides",
    "的", "是", "在", "了", "把", "对", "有", "里", "和", "被", "去", "给", "用", "叫", "为", "从", "跟", "这", "那",
    "other", "care", "prefer", "looking", "your", "my", "their", "its", "by", "as", "if", "when", "how", "many",
)  # fmt: skip
"""Words that an inserted phrase may hold beside copied ones; the first stands for its end."""

MAX_UTTERANCE, MAX_LENGTH = 160, 256
SEGMENTS, SHAPES, CLASSES = 14, 7, 12
_CLASSES = {
    w: i
    for i, group in enumerate(
        (
            "he him his himself 他 他的",
            "she her hers herself 她",
            "it its itself 它",
            "they them their theirs themselves 他们 她们 它们 他俩 她俩",
            "this that these those one ones such 这 那 这个 那个 这些 那些 该 此 其 这种 那种 这部 这首 前者 后者",
            "there here 这里 那里 那儿 这儿 那边 这边",
            "i me my mine we us our 我 我们 咱 咱们 俺",
            "you your yours 你 您 你们",
            "what which who whom whose when where why how 什么 啥 谁 哪 哪里 哪儿 怎么 怎样 怎么样 为什么 为啥 如何 多少 几 吗 呢 吧",
            "no not don't 不 没 没有 不是 别",
        ),
        start=1,
    )
    for w in group.split()
}


class Layout(Struct):
    """Positions of the utterance and its context, with what the network is told about each."""

    words: list[Word]
    keys: list[str]
    surfaces: list[str]
    segments: list[int]
    matches: list[int]
    shapes: list[int]
    classes: list[int]
    copyable: list[bool]
    places: list[tuple[int, int, int]]
    """(turn, start, end) of each position; turn -1 is the utterance, -2 a mark."""

    def words_in(self, turn: int, start: int, end: int) -> tuple[int, int] | None:
        """First and last + 1 of the utterance's words that overlap ``start..end``."""
        hit = [i for i, w in enumerate(self.words) if w.start < end and start < w.end]
        return (hit[0], hit[-1] + 1) if hit else None

    def positions(self, turn: int, start: int, end: int) -> list[int]:
        """Positions whose words overlap a stretch of a turn (-1: of the utterance)."""
        return [i for i, (t, a, b) in enumerate(self.places) if t == turn and a < end and start < b]

    def repeats(self, span: Sequence[int]) -> list[int]:
        """Positions of other occurrences of the words of ``span`` in the same order."""
        want = [self.keys[p] for p in span]
        n = len(want)
        found: list[int] = []
        for i in range(len(self.keys) - n + 1):
            if self.keys[i : i + n] == want:
                found.extend(range(i, i + n))
        return found


class _Turn(Struct, frozen=True):
    """What the network is told of a turn's words, in order; it does not depend on the turn's place."""

    words: tuple[Word, ...]
    keys: tuple[str, ...]
    shapes: tuple[int, ...]
    classes: tuple[int, ...]
    copyable: tuple[bool, ...]


@lru_cache(maxsize=2048)
def _turn(text: str) -> _Turn:
    """Each turn is read again as context of the next ones, so it is remembered."""
    words = tuple(split_words(text))
    keys = tuple(w.key for w in words)
    shapes = tuple(shape_of(w.text) for w in words)
    return _Turn(words, keys, shapes, tuple(_CLASSES.get(k, 0) for k in keys), tuple(s != 6 for s in shapes))


def lay_out(text: str, speaker: str, context: Sequence[Any], window: int) -> Layout:
    """Lays out an utterance and the last ``window`` words before it; ``context``: ``{"speaker", "text"}``, oldest first."""
    own = _turn(text)
    words = list(own.words[:MAX_UTTERANCE])
    layout = Layout(words, [], [], [], [], [], [], [], [])
    _mark(layout, "<s>")
    _add(layout, own, 0, len(words), 1, -1, 0)
    _mark(layout, "</s>")
    left = min(window, MAX_LENGTH - len(words) - 3)
    for back, index in enumerate(range(len(context) - 1, -1, -1)):
        if left <= 0:
            break
        said = context[index]["text"]
        turn = _turn(said[-2000:])
        segment = 2 + 2 * min(back, 5) + (context[index].get("speaker") == speaker)
        first = max(0, len(turn.words) - left)
        _add(layout, turn, first, len(turn.words), segment, index, max(0, len(said) - 2000))
        _mark(layout, "</s>")
        left -= len(turn.words) - first
    mine = {k for k, s in zip(layout.keys, layout.segments, strict=True) if s == 1}
    theirs = {k for k, s in zip(layout.keys, layout.segments, strict=True) if s > 1}
    both = (mine & theirs) - {""}
    layout.matches = [int(k in both) for k in layout.keys]
    return layout


def _mark(layout: Layout, name: str) -> None:
    layout.keys.append("")
    layout.surfaces.append(name)
    layout.segments.append(0)
    layout.shapes.append(0)
    layout.classes.append(0)
    layout.copyable.append(False)
    layout.places.append((-2, 0, 0))


def _add(layout: Layout, turn: _Turn, first: int, last: int, segment: int, index: int, skipped: int) -> None:
    """Words ``first..last`` of a turn; ``skipped`` characters of the turn were left out before its first word."""
    words = turn.words[first:last]
    layout.keys += turn.keys[first:last]
    layout.surfaces += [simplify(w.text) for w in words]  # what the network was taught
    layout.segments += [segment] * len(words)
    layout.shapes += turn.shapes[first:last]
    layout.classes += turn.classes[first:last]
    layout.copyable += turn.copyable[first:last]
    layout.places += [(index, w.start + skipped, w.end + skipped) for w in words]


def shape_of(word: str) -> int:
    """1 lower case, 2 capitalised, 3 capitals or mixed with digits, 4 digits, 5 Chinese, 6 punctuation."""
    if is_cjk(word):
        return 5
    if not any(c.isalnum() for c in word):
        return 6
    if any(c.isdigit() for c in word):
        return 3 if any(c.isalpha() for c in word) else 4
    if word[:1].isupper():
        return 2 if len(word) == 1 or not word.isupper() else 3
    return 1
