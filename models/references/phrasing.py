"""From positions to text: how a copied phrase is written, and where in the utterance it goes."""

from __future__ import annotations

from collections.abc import Container, Sequence

from msgspec import Struct

from models.context import Turn
from models.references.edit_net import CONNECTORS, Layout
from models.wording import Word, is_cjk


class Site(Struct, frozen=True):
    """Words ``first..last`` of the utterance to replace, or (equal) the gap before ``first``; and how sure that is."""

    first: int
    last: int
    probability: float


class Run(Struct, frozen=True):
    """A stretch of characters copied from one turn (-1: the utterance itself)."""

    turn: int
    start: int
    end: int


_OTHERS_WORDS = {
    "我": "你", "我们": "你们", "你": "我", "您": "我", "你们": "我们", "i": "you", "my": "your", "me": "you", "mine": "yours",
    "your": "my", "yours": "mine", "you": "I",
}  # fmt: skip
"""How the words for the speakers change when the other one repeats them."""


def runs(path: Sequence[int], layout: Layout) -> list[Run | str]:
    """Stretches that a phrase copies, and the words it adds, in order."""
    parts: list[Run | str] = []
    last = -9
    for at in path:
        if at < 0:
            parts.append(CONNECTORS[-1 - at])
        else:
            turn, start, end = layout.places[at]
            previous = parts[-1] if parts else None
            if at == last + 1 and isinstance(previous, Run) and previous.turn == turn:
                parts[-1] = Run(turn, previous.start, end)
            else:
                parts.append(Run(turn, start, end))
        last = at
    return parts


def without_edges(path: Sequence[int], layout: Layout, first: Container[str], last: Container[str]) -> list[int]:
    """A phrase without the words at its ends that are no part of a name."""
    kept = list(path)
    while len(kept) > 1 and kept[0] >= 0 and layout.keys[kept[0]] in first:
        kept = kept[1:]
    while len(kept) > 1 and kept[-1] >= 0 and layout.keys[kept[-1]] in last:
        kept = kept[:-1]
    return kept


def without_repeats(path: Sequence[int], layout: Layout, words: Sequence[Word], site: Site) -> list[int]:
    """A phrase without the words at its ends that already stand beside the site."""
    kept = list(path)
    after = [w.key for w in words[site.last : site.last + len(kept)]]
    before = [w.key for w in words[max(0, site.first - len(kept)) : site.first]]
    keys = [layout.keys[p] if p >= 0 else CONNECTORS[-1 - p] for p in kept]
    for n in range(len(keys), 0, -1):
        if keys[-n:] == after[:n]:
            kept, keys = kept[:-n], keys[:-n]
            break
    for n in range(len(keys), 0, -1):
        if before and keys[:n] == before[-n:]:
            return kept[n:]
    return kept


def without_overlap(phrase: str, text: str, at: int) -> str:
    """A Chinese phrase without the characters at its ends that already stand there: 买房 after 没买 adds only 房.

    The dictionary cuts 买 and 买房 as different words, so comparing words does not see it.
    """
    if not phrase or not is_cjk(phrase[0]) and not is_cjk(phrase[-1]):
        return phrase
    for n in range(len(phrase), 0, -1):
        if is_cjk(phrase[0]) and text[:at].endswith(phrase[:n]):
            return phrase[n:]
    for n in range(len(phrase), 0, -1):
        if is_cjk(phrase[-1]) and text[at:].startswith(phrase[-n:]):
            return phrase[:-n]
    return phrase


def run_of(path: Sequence[int], layout: Layout) -> Run | None:
    """The longest stretch that is copied from the context, else from the utterance: the antecedent."""
    copied = [p for p in runs(path, layout) if isinstance(p, Run)]
    return max(copied, key=lambda r: (r.turn >= 0, r.end - r.start), default=None)


def write_phrase(path: Sequence[int], layout: Layout, context: Sequence[Turn], same_speaker: bool) -> str:
    """The phrase as text. A speaker's words about himself are turned round where the other one now says them."""
    out = ""
    for part in runs(path, layout):
        if isinstance(part, str):
            piece = part
        elif part.turn < 0:
            piece = "".join(
                w.text if i == 0 else _gap(layout.words, w) + w.text for i, w in enumerate(_words(layout, part))
            )
        else:
            piece = context[part.turn].text[part.start : part.end]
            if not same_speaker:
                piece = _turned(piece)
        out += _space(out, piece) + piece
    return out


def _words(layout: Layout, run: Run) -> list[Word]:
    return [w for w in layout.words if run.start <= w.start and w.end <= run.end]


def _gap(words: Sequence[Word], word: Word) -> str:
    before = next((w for w in reversed(words) if w.end <= word.start), None)
    return " " if before and before.end < word.start else ""


def _turned(piece: str) -> str:
    for word, other in _OTHERS_WORDS.items():
        if is_cjk(word) and piece.startswith(word):
            return other + piece[len(word) :]
        if not is_cjk(word) and piece.casefold().startswith(word + " "):
            return other + piece[len(word) :]
    return piece


def _space(left: str, right: str) -> str:
    if not left or not right or left[-1].isspace():
        return ""
    if right[0] in "'’,.;:!?)" or is_cjk(left[-1]) or is_cjk(right[0]):
        return ""
    return " "


_PREPOSITIONS = frozenset(["to", "from", "in", "at", "near", "for", "of", "on", "into", "around", "via"])
_MOTIONS = frozenset(
    [
        "go",
        "going",
        "goes",
        "went",
        "gone",
        "get",
        "getting",
        "got",
        "move",
        "moved",
        "moving",
        "drive",
        "driving",
        "travel",
        "head",
        "return",
        "fly",
        "back",
    ]
)


def placed(phrase: str, words: Sequence[Word], first: int) -> str:
    """A place put where "there" stood: with "to" after a verb of motion, else "in", unless a preposition is there."""
    before = words[first - 1].key if first else ""
    if before in _PREPOSITIONS or phrase.split(" ", 1)[0].casefold() in _PREPOSITIONS or not phrase.isascii():
        return phrase
    return ("to " if before in _MOTIONS else "in ") + phrase


_LOWERED = frozenset({"my", "the", "a", "an", "our", "your", "his", "her", "their", "its", "this", "that"})


def cased(phrase: str, text: str, at: int) -> str:
    """An English phrase with a capital at the start of a sentence, and without one that only its own sentence gave it."""
    first = phrase.split(" ", 1)[0]
    if not phrase[:1].isascii() or not first.isalpha():
        return phrase
    before = text[:at].rstrip()
    if before and before[-1] not in ".!?":
        return phrase[0].lower() + phrase[1:] if first.casefold() in _LOWERED and not first.isupper() else phrase
    starts_low = first.islower() and text[at : at + 1].isupper()
    return phrase[0].upper() + phrase[1:] if starts_low else phrase


def insertion(text: str, words: Sequence[Word], site: Site, phrase: str) -> tuple[int, int, str]:
    """Characters ``start..end`` to replace and what with, spaces included."""
    phrase = cased(phrase, text, words[site.first].start if site.first < len(words) else len(text))
    if site.first < site.last:
        return words[site.first].start, words[site.last - 1].end, phrase
    if not words:
        return 0, 0, phrase
    if site.first == 0:
        at = words[0].start
        return at, at, phrase + (_space(phrase, text[at:]) if at < len(text) else "")
    at = words[site.first - 1].end
    after = text[at : at + 1]
    lead = _space(text[:at], phrase)
    trail = _space(phrase, after) if after and after.isalnum() else ""
    return at, at, lead + phrase + trail
