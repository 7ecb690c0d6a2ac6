"""Running the word patterns of a language over a text: one regular expression, whose groups each build an atom."""

from __future__ import annotations

import re
from collections.abc import Callable

from models.times.atoms import Atom, Clock
from models.times.frame import Frame

Groups = tuple[str | None, ...]
Said = Frame | tuple[str, Frame | None, object] | None
Builder = Callable[[Groups, Clock], Said]
Pattern = tuple[str, Builder]


class Scanner:
    """All patterns of a language compiled as one; the first that fits at a place wins."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        parts: list[str] = []
        self._patterns = [(re.compile(pattern), builder) for pattern, builder in patterns]
        self._builders: dict[int, tuple[int, int]] = {}
        group = 1
        for number, (compiled, _) in enumerate(self._patterns):
            parts.append(f"({compiled.pattern})")
            inner = compiled.groups
            self._builders[group] = (number, group + inner)
            group += 1 + inner
        self._pattern = re.compile("|".join(parts))

    def atoms_in(self, text: str, clock: Clock) -> list[Atom]:
        """The atoms of the text, left to right, none overlapping."""
        found: list[Atom] = []
        position = 0
        while match := self._pattern.search(text, position):
            group = match.lastindex or 1
            number, last = self._builders[group]
            start, said = match.start(), self._patterns[number][1]((*match.groups()[group:last], match.group()), clock)
            position = match.end()
            if said is None:
                said, position = self._others(text, start, number + 1, clock)
            if isinstance(said, Frame):
                found.append(Atom(start, position, "frame", said))
            elif said is not None:
                kind, frame, value = said
                weak = kind == "weak"
                found.append(Atom(start, position, "frame" if weak else kind, frame, value, weak))  # type: ignore[arg-type]
        return found

    def _others(self, text: str, start: int, number: int, clock: Clock) -> tuple[Said, int]:
        """What a later pattern says at a place where an earlier one was mistaken."""
        for pattern, builder in self._patterns[number:]:
            match = pattern.match(text, start)
            said = builder((*match.groups(), match.group()), clock) if match and match.end() > start else None
            if match and said is not None:
                return said, match.end()
        return None, start + 1
