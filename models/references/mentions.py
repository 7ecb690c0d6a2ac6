"""Where an utterance refers: pronouns, demonstratives with their noun, the question rule, and words that point back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import rjieba
from msgspec import Struct

from models.errors import ResourceError
from models.references.descriptions import describe
from models.wording import Word, fold, is_cjk

LEXICON = Path(__file__).parents[1] / "lexicons" / "references.toml"
ANAPHORIC = ("person", "people", "thing", "things", "place", "demonstrative", "former", "latter", "one")


class Anaphor(Struct, frozen=True):
    """A referring expression: words ``first..last`` (end exclusive) of the utterance, its kind and its head noun."""

    first: int
    last: int
    start: int
    end: int
    text: str
    kind: str
    head: str


class References:
    """The word lists of filter 1, read once from ``references.toml``."""

    def __init__(self, lists: dict[str, Any]) -> None:
        self._lists = lists
        self.kind_of = {fold(w): kind for kind, words in lists["pronouns"].items() for w in words}
        self.stock = {fold(w) for w in lists["stock"]["words"]}
        self.generic = {fold(w) for w in lists["generic"]["heads"]}
        self.window = (int(lists["window"]["words"]), int(lists["window"]["back_words"]))
        self.kinds: dict[str, dict[str, list[str]]] = lists["kinds"]
        self.edges = tuple({fold(w) for w in lists["edges"][side]} for side in ("first", "last", "asked"))
        self.people = tuple(lists["people"]["ends"])
        self.no_people = tuple(lists["people"]["none"])
        self.classifiers = frozenset(lists["pronouns_with"]["classifiers"])
        self.nouns = {fold(w) for lists_of in self.kinds.values() for w in lists_of["ends"]} | self.generic
        names = lists["titled"]
        self.titled = re.compile(f"[{names['surnames']}][\u4e00-\u9fff]?(?:{'|'.join(names['titles'])})")
        self.verbs = {fold(w) for lists_of in self.kinds.values() for w in lists_of["does"]}
        self._verbs = {fold(w) for w in lists["question"]["verbs"]}
        self._courtesy = {fold(w) for w in lists["question"]["courtesy"]}
        self._request = {fold(w) for w in lists["question"]["request"]}
        self._marks = set(lists["question"]["marks"])
        self.no_nouns = {fold(w) for w in lists["english"]["no_nouns"]}
        self._verb = lru_cache(maxsize=4096)(self._is_verb)
        self._sex = {fold(w): sex for sex, words in lists["sex"].items() for w in words}
        self._kin = tuple((w, sex) for w, sex in self._sex.items() if is_cjk(w))
        self._presents = {name: {fold(w) for w in words} for name, words in lists["presents"].items()}
        self._pleonastic = {fold(w) for w in lists["pleonastic"]["en"]}

    @classmethod
    def load(cls, path: Path = LEXICON) -> References:
        """Reads the lists. Raises ResourceError that names the file and what is wrong with it."""
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, tomllib.TOMLDecodeError, KeyError, ValueError, TypeError, re.error) as error:
            raise ResourceError(f"{path}: {error}") from error

    @cached_property
    def _back(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(w) for w in self._lists["window"]["back"]))

    def tags(self, text: str, compounds: bool = True) -> list[tuple[str, str]]:
        """Chinese words with their part of speech; words of the lists and kinds of goods are nouns whatever else they are.

        ``compounds``: also words that the dictionary lacks and a model of characters finds.
        """
        return [
            (part, "n" if tag[:1] != "n" and (part in self.nouns or describe(part).kinds) else tag)
            for part, tag in rjieba.tag(text, compounds)
        ]

    def reach(self, text: str) -> int:
        """How many words back the utterance may refer: more where it says "earlier", "刚才" …"""
        return self.window[1] if self._back.search(fold(text[:2000])) else self.window[0]

    def anaphors(self, text: str, words: Sequence[Word]) -> list[Anaphor]:
        """Referring expressions of the third person, in order; first and second person are the speakers and left out."""
        found: list[Anaphor] = []
        taken = 0
        for i, word in enumerate(words):
            kind = self.kind_of.get(word.key)
            if i >= taken and word.key == "the" and self._definite(words, i):
                kind = "demonstrative"
            if i < taken or kind not in ANAPHORIC:
                continue
            last = self._with_noun(text, words, i) if kind == "demonstrative" else i + 1
            if (
                kind == "demonstrative"
                and last == i + 1
                and word.key in ("that", "this")
                and not _stands_alone(words, i)
                and not (i + 1 < len(words) and self._counts(words[i + 1]))
            ):
                continue
            if kind == "demonstrative" and last > i + 1:
                kind = "description"
                last += last < len(words) and words[last].key in ("one", "ones")
            elif kind == "demonstrative" and i + 1 < len(words) and self._counts(words[i + 1]):
                last = i + 2
            taken = last
            if kind in ("former", "latter") and i and words[i - 1].key == "the":
                word, i = words[i - 1], i - 1
            end = words[last - 1].end
            head = words[last - 1].text
            found.append(Anaphor(i, last, word.start, end, text[word.start : end], kind, head))
        return found

    def _counts(self, word: Word) -> bool:
        """Whether a word after "this" or 这 only counts: "one", 款, 台 …"""
        return word.key in ("one", "ones") or word.text in self.classifiers

    def _definite(self, words: Sequence[Word], i: int) -> bool:
        """Whether "the …" names a thing by its colour or only by its kind ("the order")."""
        phrase = [w.key for w in words[i + 1 : _english_noun(words, i, self.no_nouns)]]
        return bool(phrase) and (
            phrase[-1] in self.generic and len(phrase) <= 2 or bool(describe(" ".join(phrase)).colours)
        )

    def _with_noun(self, text: str, words: Sequence[Word], i: int) -> int:
        """Word after the noun phrase that a demonstrative begins; ``i + 1`` where it stands alone."""
        if not is_cjk(words[i].text):
            return _english_noun(words, i, self.no_nouns)
        tail = text[words[i].end : words[i].end + 14]
        length, best = 0, 0
        for part, tag in self.tags(tail, False):
            if not (tag[:1] in "nabmqf" or tag in ("uj", "eng", "vn", "zg", "x")) or part in "，。！？,.!? ":
                break
            length += len(part)
            if tag[:1] == "n" or tag in ("eng", "vn"):
                best = length
        end = words[i].end + best
        last = i + 1
        while last < len(words) and words[last].end <= end:
            last += 1
        return last

    def questioners(self, text: str, words: Sequence[Word]) -> list[tuple[int, int]]:
        """Words ``first, last`` that are the subject of a question about asking or confirming: askers, not actors."""
        if not any(m in text for m in self._marks):
            return []
        found = []
        for i, word in enumerate(words):
            verb = self._verb(word.key)
            if not verb:
                continue
            for j in range(i - 1, max(-1, i - 7), -1):
                if not words[j].text[0].isalnum():
                    break
                kind = self.kind_of.get(words[j].key)
                if kind in ("person", "people", "second") and words[j].key not in ("his", "their", "your"):
                    between = [w.key for w in words[max(0, j - 1) : i]]
                    if kind != "second" or not any(k in self._request for k in between):
                        found.append((j, j + 1))
                    break
        return found

    def _is_verb(self, key: str) -> bool:
        if key in self._courtesy:
            return False
        return key in self._verbs or is_cjk(key) and len(key) <= 3 and any(v in key for v in self._verbs if is_cjk(v))

    def pleonastic(self, words: Sequence[Word], i: int) -> bool:
        """Whether an English "it" or "there" at ``i`` refers to nothing: weather, "it is important that", "is there …"."""
        if words[i].key == "there":
            follows = words[i + 1].key if i + 1 < len(words) else ""
            opens = i >= 1 and words[i - 1].key in _EXISTS and (i < 2 or words[i - 2].key not in self.kind_of)
            return follows in _EXISTS or opens and bool(follows) and follows[0].isalnum()
        if words[i].key not in ("it", "it's"):
            return False
        after = [w.key for w in words[i + 1 : i + 5]]
        near = after[:1] + (after[1:4] if after[:1] and after[0] in _BE else [])
        if not any(k in self._pleonastic for k in near):
            return False
        adjective = next(k for k in near if k in self._pleonastic)
        rest = [w.key for w in words[i + 1 + after.index(adjective) + 1 : i + 9]]
        return adjective not in _TASTE or bool({"to", "that", "if"} & set(rest))

    def then(self, words: Sequence[Word], i: int) -> bool:
        """Whether 那 begins a clause as "then" and refers to nothing ("那你去吗")."""
        if words[i].text != "那" or i and words[i - 1].text[0].isalnum():
            return False
        return (
            i + 1 < len(words)
            and words[i + 1].text[0] not in "是有的个些儿里边，。？！"
            and words[i + 1].text[0].isalnum()
        )

    def sex_of(self, name: str) -> str | None:
        """ "male" or "female" where a name's first word, or a Chinese name's ending, is of one sex only."""
        if is_cjk(name[-1:]):
            return next((sex for word, sex in self._kin if name.endswith(word)), None)
        words = re.findall(r"[^\W_]+", fold(name))
        return next((self._sex[w] for w in words[:2] if w in self._sex), None)

    def presents(self, text: str, words: Sequence[Word], i: int) -> bool:
        """Whether a demonstrative opens a clause that presents a person or an office ("这是老板…", "this is Anna from …") and points at nothing said."""
        if words[i].key not in self._presents["begins"] or i and words[i - 1].text[0].isalnum():
            return False
        at = i + 1
        if at >= len(words) or words[at].key not in self._presents["is"]:
            return False
        at += 1
        owned = at < len(words) and words[at].key in self._presents["owners"]
        at += owned
        if at < len(words) and words[at].text == "的":
            at += 1
        if at >= len(words):
            return False
        if is_cjk(words[at].text):
            return self._names_a_person(text, words, at, words[i].key in self._presents["here"])
        if owned:
            last = _english_noun(words, at - 1, self.no_nouns)
            return last > at and words[last - 1].key in self._presents["relations"]
        last = at
        while last < len(words) and words[last].text[:1].isupper() and words[last].text[0].isalpha():
            last += 1
        ends = last >= len(words) or not words[last].text[0].isalnum() or words[last].key in self._presents["speaking"]
        named = not words[at].key.endswith(tuple(self._presents["adjectives"]))
        return at < last <= at + 3 and ends and named

    def _names_a_person(self, text: str, words: Sequence[Word], i: int, here: bool) -> bool:
        """Whether the Chinese noun that begins at word ``i`` is a person or a group, and not only the owner of something.

        ``here``: the noun stands after "here is", and may be an office.
        """
        begin = words[i].start
        noun, person = "", False
        for part, tag in self.tags(text[begin : begin + 12], False):
            if tag[:1] not in ("n", "j"):
                break
            noun += part
            person = tag == "nr" and len(part) > 1
        titled = self.titled.match(text, begin)
        noun = titled.group() if titled and len(titled.group()) > len(noun) else noun
        if not noun or text.startswith("的", begin + len(noun)):
            return False
        kinds = ("group", "facility") if here and not any(m in text for m in self._marks) else ("group",)
        if titled or person or any(noun.endswith(end) for kind in kinds for end in self.kinds[kind]["ends"]):
            return True
        return self.names_people(noun)

    def names_people(self, noun: str) -> bool:
        """Whether a Chinese noun ends as those for people do."""
        return noun.endswith(self.people) and not noun.endswith(self.no_people)

    def is_stock(self, words: Sequence[Word]) -> bool:
        """Whether an utterance is only a formula (thanks, all right, hello) in which nothing can be missing."""
        real = [w.key for w in words if w.text[0].isalnum()]
        return all(k in self.stock for k in real)


_EXISTS = frozenset(
    {"is", "are", "was", "were", "'s", "isn't", "aren't", "be", "been", "will", "would", "has", "have", "seems", "must"}
)
_BE = {
    "going",
    "still",
    "gonna",
    "is",
    "was",
    "'s",
    "will",
    "would",
    "s",
    "has",
    "might",
    "may",
    "be",
    "been",
    "isn't",
    "wasn't",
    "seems",
    "looks",
    "not",
    "so",
    "very",
}
_TASTE = {"good", "nice", "great", "hard", "difficult", "easy", "better", "best", "important", "late", "early", "cold", "hot", "warm", "true", "possible", "clear"}  # fmt: skip


def _english_noun(words: Sequence[Word], i: int, stop: Container[str]) -> int:
    last = i + 1
    while last < len(words) and last <= i + 3 and words[last].text[0].isalnum() and words[last].key not in stop:
        last += 1
    return last


def _stands_alone(words: Sequence[Word], i: int) -> bool:
    """Whether "this"/"that" without a noun is a pronoun and not a conjunction: it begins a clause or ends one."""
    before = words[i - 1].text if i else ""
    if {w.key for w in words[max(0, i - 3) : i]} & {"who", "what"}:
        return False  # "who is this?" points at what is there, not back
    return not before or not before[0].isalnum() or i + 1 >= len(words) or not words[i + 1].text[0].isalnum()
