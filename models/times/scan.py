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
        self._builders: dict[int, tuple[Builder, int]] = {}
        group = 1
        for pattern, builder in patterns:
            parts.append(f"({pattern})")
            inner = re.compile(pattern).groups
            self._builders[group] = (builder, group + inner)
            group += 1 + inner
        self._pattern = re.compile("|".join(parts))

    def atoms_in(self, text: str, clock: Clock) -> list[Atom]:
        """The atoms of the text, left to right, none overlapping."""
        found: list[Atom] = []
        position = 0
        while match := self._pattern.search(text, position):
            group = match.lastindex or 1
            builder, last = self._builders[group]
            said = builder((*match.groups()[group:last], match.group()), clock)
            if said is None:
                position = match.start() + 1
                continue
            position = match.end()
            if isinstance(said, Frame):
                found.append(Atom(match.start(), position, "frame", said))
            else:
                kind, frame, value = said
                weak = kind == "weak"
                found.append(Atom(match.start(), position, "frame" if weak else kind, frame, value, weak))  # type: ignore[arg-type]
        return found
