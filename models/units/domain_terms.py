"""Domain terms (E2): an Aho-Corasick automaton over the term list, matched in one pass over the text.

Aho, Corasick: Efficient string matching (1975). Latin terms count as whole words only ("API" is not in "capital"); case
and width do not matter; a list may hold blanks and repeats.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from models.lexicons import FOLDER, read_text
from models.text import narrow

SHIPPED = FOLDER / "terms.txt"
LONGEST = 60


class TermHit(Struct, frozen=True, order=True):
    """A term found at ``[start, end)``."""

    start: int
    end: int
    term: str


class TermList:
    """A fixed set of terms; `find` is linear in the text, whatever the number of terms."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Blank entries, repeats and entries of more than 60 characters are left out."""
        kept = {narrow(term).strip().lower() for term in terms}
        self.terms = tuple(sorted(term for term in kept if 0 < len(term) <= LONGEST))
        self._next: list[dict[str, int]] = [{}]
        self._fail = [0]
        self._found: list[tuple[str, ...]] = [()]
        for term in self.terms:
            self._add(term)
        self._link()

    def __len__(self) -> int:
        return len(self.terms)

    def _add(self, term: str) -> None:
        state = 0
        for ch in term:
            after = self._next[state].get(ch)
            if after is None:
                after = len(self._next)
                self._next[state][ch] = after
                self._next.append({})
                self._fail.append(0)
                self._found.append(())
            state = after
        self._found[state] = (*self._found[state], term)

    def _link(self) -> None:
        """Failure links breadth first, as in algorithm 3 of the paper."""
        queue = deque(self._next[0].values())
        while queue:
            state = queue.popleft()
            for ch, after in self._next[state].items():
                queue.append(after)
                back = self._fail[state]
                while back and ch not in self._next[back]:
                    back = self._fail[back]
                self._fail[after] = self._next[back].get(ch, 0)
                self._found[after] = self._found[after] + self._found[self._fail[after]]

    def find(self, text: str) -> list[TermHit]:
        """All terms in the text with their offsets, in order.

        >>> [hit.term for hit in TermList(["API", "", "接口", "API"]).find("这个接口的API很慢, capital")]
        ['接口', 'api']
        """
        flat = narrow(text).lower()
        if len(flat) != len(text):
            flat = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in narrow(text))
        hits: list[TermHit] = []
        state, goto, fail, found = 0, self._next, self._fail, self._found
        for at, ch in enumerate(flat):
            while state and ch not in goto[state]:
                state = fail[state]
            state = goto[state].get(ch, 0)
            if not state:
                continue
            for term in found[state]:
                start = at + 1 - len(term)
                if _whole(flat, start, at + 1):
                    hits.append(TermHit(start, at + 1, term))
        return sorted(hits) if hits else hits


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a term that begins or ends with a Latin letter or digit stands alone there."""
    if _latin(text[start]) and start and _latin(text[start - 1]):
        return False
    return not (_latin(text[end - 1]) and end < len(text) and _latin(text[end]))


def _latin(ch: str) -> bool:
    return ch.isascii() and ch.isalnum()


def read_terms(path: Path = SHIPPED) -> TermList:
    """The terms of a file, one a line, comments (`#`) and blanks skipped. Raises ResourceError if it cannot be read."""
    return TermList(line for line in read_text(path).splitlines() if not line.startswith("#"))
