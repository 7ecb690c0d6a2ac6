"""Domain dictionaries: named things with their type, canonical name and aliases, reloaded while running (C4).

A dictionary is a TOML file of ``[[entity]]`` tables with `type`, `canonical`, and optionally `aliases` and `strength`.
Only what is listed is merged: "环境" alone is never "测试环境".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from models.errors import ResourceError
from models.lexicons import FOLDER, read_text
from models.text import narrow, simplify

SHIPPED = FOLDER / "entities.toml"

_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*entity[ \t]*\]\]", re.MULTILINE)
_KEYS = frozenset({"type", "canonical", "aliases", "strength"})
_WORD = re.compile(r"[a-z0-9_]")


class Entry(Struct, frozen=True):
    """One thing of a dictionary: all its aliases, the canonical name among them, stand for `canonical`."""

    type: str
    canonical: str
    aliases: tuple[str, ...]
    strength: Literal["strong", "weak"] = "weak"


def fold(text: str) -> str:
    """The form in which dictionary names and texts are compared; offsets stay."""
    lowered = simplify(narrow(text)).lower()
    return lowered if len(lowered) == len(text) else simplify(narrow(text))


class Gazetteer:
    """Aliases of entities, matched longest first. `entries` in file order."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._by_start: dict[str, list[tuple[str, Entry]]] = {}
        for entry in entries:
            for alias in entry.aliases:
                key = fold(alias)
                self._by_start.setdefault(key[0], []).append((key, entry))
        for names in self._by_start.values():
            names.sort(key=lambda pair: -len(pair[0]))
        firsts = "".join(re.escape(first) for first in sorted(self._by_start))
        self._begins = re.compile(f"[{firsts}]" if firsts else "(?!)")

    @classmethod
    def load(cls, path: Path | str = SHIPPED) -> Gazetteer:
        """The dictionary in a file. Raises ResourceError naming the line and the reason."""
        path = Path(path)
        return cls(_parse(read_text(path), path.name))

    def find(self, text: str) -> Iterator[tuple[int, int, Entry]]:
        """Spans of the text that name an entry, left to right, the longest alias at each place."""
        folded = fold(text)
        at = 0
        while begins := self._begins.search(folded, at):
            at = begins.start()
            for alias, entry in self._by_start[folded[at]]:
                end = at + len(alias)
                if folded.startswith(alias, at) and _whole(folded, at, end):
                    yield at, end, entry
                    at = end - 1
                    break
            at += 1


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a Latin alias stands as a word of its own."""
    if start and _WORD.match(text[start]) and _WORD.match(text[start - 1]):
        return False
    return not (end < len(text) and _WORD.match(text[end - 1]) and _WORD.match(text[end]))


def _parse(content: str, name: str) -> list[Entry]:
    try:
        table = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ResourceError(f"{name}: {error}") from error
    lines = [content.count("\n", 0, match.start()) + 1 for match in _TABLE.finditer(content)]
    unknown = set(table) - {"entity"}
    if unknown:
        raise ResourceError(f"{name}: unknown table `{min(unknown)}`; only [[entity]] tables are read")
    rows = table.get("entity", [])
    if not isinstance(rows, list):
        raise ResourceError(f"{name}: `entity` must be written as [[entity]] tables")
    entries: list[Entry] = []
    owner: dict[str, str] = {}
    for at, row in enumerate(rows):
        where = f"{name} line {lines[at] if at < len(lines) else '?'}"
        entry = _entry(row, where)
        for alias in entry.aliases:
            other = owner.setdefault(fold(alias), entry.canonical)
            if other != entry.canonical:
                raise ResourceError(f"{where}: alias {alias!r} of {entry.canonical!r} already stands for {other!r}")
        entries.append(entry)
    return entries


def _entry(row: Any, where: str) -> Entry:
    if not isinstance(row, dict):
        raise ResourceError(f"{where}: an entity must be a table")
    unknown = set(row) - _KEYS
    if unknown:
        raise ResourceError(f"{where}: unknown key `{min(unknown)}`")
    for key in ("type", "canonical"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise ResourceError(f"{where}: `{key}` must be a text that is not empty")
    aliases = row.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
        raise ResourceError(f"{where}: `aliases` must be a list of texts that are not empty")
    if row.get("strength", "weak") not in ("weak", "strong"):
        raise ResourceError(f"{where}: `strength` must be weak or strong")
    names = tuple(dict.fromkeys([row["canonical"].strip(), *(alias.strip() for alias in aliases)]))
    return Entry(row["type"].strip(), row["canonical"].strip(), names, row.get("strength", "weak"))
