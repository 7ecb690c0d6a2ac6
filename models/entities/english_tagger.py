"""Names in English text: a linear-chain tagger over hashed word features, decoded with Viterbi.

Averaged structured perceptron (Collins 2002). It knows persons (PER), places (LOC), organisations (ORG) and street
addresses (ADDR); a sentence of a dozen words takes about 0.1 ms. Trained by ``models/train/english_tagger.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from msgspec import Struct

from models.errors import ResourceError

WEIGHTS = Path(__file__).parents[1] / "weights" / "english_tagger.npz"
KINDS = ("PER", "LOC", "ORG", "ADDR")
TAGS = ("O", *(f"{prefix}-{kind}" for kind in KINDS for prefix in "BI"))
MAX_TOKENS = 4000
"""Tokens that are tagged at most; what is beyond stays untagged."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’](?!s\b|S\b)[^\W\d_]+)*|\d+[A-Za-z]{0,2}(?![A-Za-z])|['’][sS]\b|\n+|[^\s]")
_LISTS = ("first", "last", "word", "place", "org")


class Token(Struct, frozen=True):
    """A word, number, mark or line break `[start, end)`."""

    text: str
    start: int
    end: int


class Span(Struct, frozen=True, order=True):
    """A found name `[start, end)` of one of `KINDS`; `margin` is its mean lead over "no name", in perceptron units."""

    start: int
    end: int
    kind: str
    margin: float


def tokenize(text: str) -> list[Token]:
    """Words, numbers, marks and line breaks of a text; a possessive 's is a token of its own."""
    return [Token(match[0], *match.span()) for match in _TOKEN.finditer(text)]


def plain(word: str) -> str:
    """Lower case without accents, as name lists are kept."""
    return "".join(ch for ch in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(ch))


def shape(word: str) -> str:
    """The word's outline, runs shortened: ``McKay`` is XxXx, ``B-12`` is X-0."""
    if word[0] == "\n":
        return "N" * min(len(word), 2)
    out = ""
    for ch in word[:24]:
        mark = "0" if ch.isdigit() else "X" if ch.isupper() else "x" if ch.isalpha() else ch
        if not out.endswith(mark):
            out += mark
    return out + ("1" if len(word) == 1 else "") + (str(min(len(word), 6)) if word.isdigit() else "")


class Lexicon:
    """Membership in word lists that are kept as sorted 32-bit hashes: first and last names, everyday words, places."""

    def __init__(self, hashes: dict[str, np.ndarray]) -> None:
        self._sets = {name: frozenset(hashes[name].tolist()) for name in _LISTS}

    def flags(self, word: str) -> str:
        """One letter for each list that holds the word."""
        key = crc32(plain(word).encode("utf-8", "surrogatepass"))
        return "".join(name[0] for name in _LISTS if key in self._sets[name])


class Features:
    """Feature numbers of each token, hashed into `size` slots; parts that hang on one word only are remembered."""

    def __init__(self, lexicon: Lexicon, size: int) -> None:
        self._lexicon = lexicon
        self._mask = size - 1
        self._words: dict[str, tuple[str, str, str, list[list[int]]]] = {}

    def flags(self, word: str) -> str:
        """The word lists that hold a word, a letter each."""
        return self._lexicon.flags(word)

    def _word(self, word: str) -> tuple[str, str, str, list[list[int]]]:
        known = self._words.get(word)
        if known is None:
            lower = "\n" if word[0] == "\n" else "0" * min(len(word), 6) if word.isdigit() else word.lower()
            outline, flags = shape(word), self._lexicon.flags(word)
            ids = []
            for offset in range(-2, 3):
                parts = [f"l{offset}={lower}", f"s{offset}={outline}", f"g{offset}={flags}"]
                if abs(offset) <= 1:
                    parts += [f"gs{offset}={flags}{outline}", f"z{offset}={lower[-3:]}"]
                if offset == 0:
                    parts += [f"p{n}={lower[:n]}" for n in (1, 2, 3, 4)] + [f"e{n}={lower[-n:]}" for n in (1, 2, 4)]
                    parts.append(f"n={min(len(word), 9)}{outline}")
                ids.append([crc32(part.encode("utf-8", "surrogatepass")) & self._mask for part in parts])
            known = (lower, outline, flags, ids)
            if len(self._words) > 20_000:
                self._words.clear()
            self._words[word] = known
        return known

    def __call__(self, tokens: Sequence[str]) -> np.ndarray:
        """Feature numbers [tokens, features]."""
        padded = [self._word(word) for word in ("\n", "\n", *tokens, "\n", "\n")]
        cased = "c" if any(any(ch.isupper() for ch in word) for word in tokens) else "l"
        rows, mask = [], self._mask
        for at in range(2, len(padded) - 2):
            row: list[int] = []
            for offset in range(-2, 3):
                row += padded[at + offset][3][offset + 2]
            before, here, after = padded[at - 1], padded[at], padded[at + 1]
            for part in (
                f"a={before[1]}{here[1]}", f"b={here[1]}{after[1]}", f"c={before[0]}|{here[1]}{here[2]}", f"d={here[2]}|{after[2]}", f"e={before[2]}|{here[2]}",
                f"f={here[1]}{here[2]}|{after[0]}", f"h={before[1]}{here[1]}{after[1]}", f"i={cased}{here[1]}{here[2]}", f"j={padded[at - 2][0]}|{before[0]}|{here[1]}",
                f"k={here[1]}|{after[1]}|{padded[at + 2][1]}", f"m={padded[at - 2][1]}|{before[1]}|{here[1]}",
            ):  # fmt: skip
                row.append(crc32(part.encode("utf-8", "surrogatepass")) & mask)
            rows.append(row)
        return np.array(rows, dtype=np.int64)


def legal_transitions() -> np.ndarray:
    """0 where a tag may follow another, a large negative number where it may not; the last row is the start."""
    table = np.zeros((len(TAGS) + 1, len(TAGS)))
    for to, tag in enumerate(TAGS):
        if tag.startswith("I-"):
            allowed = {TAGS.index("B" + tag[1:]), to}
            for from_ in range(len(TAGS) + 1):
                if from_ not in allowed:
                    table[from_, to] = -1e6
    return table


def viterbi(scores: np.ndarray, transitions: np.ndarray) -> list[int]:
    """The best tag sequence for scores [tokens, tags] under transitions [tags + 1, tags]."""
    best = scores[0] + transitions[-1]
    inner = transitions[:-1]
    back = []
    for row in scores[1:]:
        table = best[:, None] + inner
        back.append(table.argmax(axis=0))
        best = table.max(axis=0) + row
    path = [int(best.argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return path[::-1]


class EnglishTagger:
    """The trained tagger."""

    def __init__(self, weights: np.ndarray, scale: float, transitions: np.ndarray, lexicon: Lexicon) -> None:
        self._weights = weights
        self._scale = scale
        self._transitions = transitions + legal_transitions()
        self._features = Features(lexicon, len(weights))

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> EnglishTagger:
        """The tagger in a weights file. Raises ResourceError if it is missing or cut short."""
        try:
            with np.load(path) as data:
                lexicon = Lexicon({name: data[name] for name in _LISTS})
                return cls(data["weights"], float(data["scale"]), data["transitions"].astype(np.float64), lexicon)
        except Exception as error:
            raise ResourceError(f"{path.name}: cannot be loaded ({error}); train it again or reinstall") from error

    def knows(self, word: str, *, last: bool = False) -> bool:
        """Whether a word is a listed first name (or last name, with `last`) and no everyday word."""
        flags = self._features.flags(word)
        return ("f" in flags or (last and "l" in flags)) and "w" not in flags

    def is_everyday(self, word: str) -> bool:
        """Whether a word is often written small in ordinary text."""
        return "w" in self._features.flags(word)

    def find(self, text: str) -> list[Span]:
        """The names of a text in order."""
        tokens = tokenize(text)[:MAX_TOKENS]
        if not tokens:
            return []
        rows = self._features([token.text for token in tokens])
        scores = self._weights[rows].sum(axis=1, dtype=np.int32) * self._scale
        path = viterbi(scores, self._transitions)
        spans = []
        at = 0
        while at < len(path):
            if TAGS[path[at]][0] == "B":
                end = at + 1
                while end < len(path) and TAGS[path[end]][0] == "I":
                    end += 1
                lead = float(np.mean([scores[i, path[i]] - scores[i, 0] for i in range(at, end)]))
                spans.append(Span(tokens[at].start, tokens[end - 1].end, TAGS[path[at]][2:], round(lead, 3)))
                at = end
            else:
                at += 1
        return spans


@lru_cache(maxsize=1)
def english_tagger() -> EnglishTagger:
    """The shipped tagger, loaded on first use."""
    return EnglishTagger.load()


@lru_cache(maxsize=512)
def tag_english(text: str) -> tuple[Span, ...]:
    """The names of a text; remembered, since several stages ask for the same utterance."""
    return tuple(english_tagger().find(text))
