"""Regular expressions for long word lists that stay fast: the words as a trie, longest match first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def trie(words: Iterable[str]) -> str:
    """A pattern that matches any of the words, the longest that fits; a blank in a word matches a blank, `_` or `-`.

    >>> trie(["pin", "pin code", "otp"])
    '(?:otp|pin(?:[ _\\\\-]code)?)'
    """
    root: dict[str, Any] = {}
    for word in words:
        node = root
        for ch in word:
            node = node.setdefault(ch, {})
        node[""] = {}
    return _render(root)


def _render(node: dict[str, Any]) -> str:
    branches = []
    for ch in sorted(key for key in node if key):
        piece = r"[ _\-]" if ch == " " else re.escape(ch)
        rest = _render(node[ch]) if set(node[ch]) != {""} else ""
        branches.append(piece + rest)
    body = branches[0] if len(branches) == 1 else "(?:" + "|".join(branches) + ")"
    if "" not in node:
        return body
    return f"(?:{body})?" if len(branches) == 1 else body + "?"


class WordFinder:
    """Finds listed words in lower-cased text; a word of Latin letters must stand alone. Entries are blank-separated, `_` a blank."""

    def __init__(self, words: str) -> None:
        entries = {word.lower().replace("_", " ") for word in words.split()}
        self._pattern = re.compile(trie(entries))

    def spans(self, lowered: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Spans of the words within `[start, end)`, left to right."""
        end = len(lowered) if end is None else end
        found, at = [], start
        while match := self._pattern.search(lowered, at, end):
            if _whole(lowered, *match.span()):
                found.append(match.span())
                at = match.end()
            else:
                at = match.start() + 1
        return found


def _whole(text: str, start: int, end: int) -> bool:
    first, last = text[start], text[end - 1]
    if start and first.isascii() and first.isalnum() and text[start - 1].isascii() and text[start - 1].isalpha():
        return False
    after = text[end : end + 1]
    return not (last.isascii() and last.isalpha() and after.isascii() and after.isalpha())
