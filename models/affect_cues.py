"""Cue words of filter 2: which kinds of signal a text holds, found in one pass over a dictionary."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from models.errors import ResourceError
from models.text import narrow, simplify

SHIPPED = Path(__file__).parent / "lexicons" / "affect.toml"
_TOKEN = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue word of one `kind` at characters ``[start, end)``."""

    kind: str
    start: int
    end: int
    word: str


class CueLexicon:
    """The word lists of affect.toml. `kinds` gives their fixed order."""

    def __init__(self, kinds: tuple[str, ...], words: dict[str, tuple[int, ...]]) -> None:
        self.kinds = kinds
        self._words = words
        keys = [key.split(" ") for key in words]
        self._begun = {" ".join(key[:n]) for key in keys for n in range(1, len(key))}
        chinese = sorted({key[0] for key in keys if not key[0].isascii()})
        self._first = re.compile(f"[a-z0-9']+|[{''.join(chinese)}]" if chinese else "[a-z0-9']+")

    @classmethod
    def load(cls, path: str | Path = SHIPPED) -> CueLexicon:
        """The lists of a TOML file; ResourceError where it cannot be read or an entry is not a word."""
        try:
            with Path(path).open("rb") as file:
                tables = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ResourceError(f"{path}: word lists cannot be read ({error})") from error
        words: dict[str, list[int]] = {}
        for number, (kind, lists) in enumerate(tables.items()):
            entries = [*lists.get("zh", []), *lists.get("en", [])] if isinstance(lists, dict) else [None]
            for entry in entries:
                if not isinstance(entry, str) or not _TOKEN.search(entry.lower()):
                    raise ResourceError(f"{path}: [{kind}] holds {entry!r}, which is not a word")
                key = " ".join(_TOKEN.findall(entry.lower()))
                if number not in words.setdefault(key, []):
                    words[key].append(number)
        return cls(tuple(tables), {key: tuple(kinds) for key, kinds in words.items()})

    def find(self, text: str) -> list[Cue]:
        """Every cue in the text, by start; words may overlap. Spans are offsets into `text`.

        Any number matches the "0" of an entry: "约0" finds "约 300".
        """
        plain = folded(text)
        found = []
        for first in self._first.finditer(plain):
            key, start, end = first.group(), *first.span()
            if key.isdecimal():
                key = "0"
            while True:
                for kind in self._words.get(key, ()):
                    found.append(Cue(self.kinds[kind], start, end, key))
                following = _TOKEN.search(plain, end) if key in self._begun else None
                if following is None:
                    break
                said = following.group()
                key = f"{key} {'0' if said.isdecimal() else said}"
                end = following.end()
        return found


@lru_cache(maxsize=64)
def folded(text: str) -> str:
    """Lower case, half-width, simplified, plain apostrophes; every character keeps its offset."""
    plain = simplify(narrow(text)).replace("’", "'")
    lower = plain.lower()
    return lower if len(lower) == len(plain) else plain
