"""Word lists that a user may edit: TOML and text files beside this module, and the functions that read them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from models.errors import ResourceError

FOLDER = Path(__file__).parent


def read_text(path: Path) -> str:
    """The text of a list, with or without a byte order mark. Raises ResourceError with the line that is no UTF-8."""
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ResourceError(f"{path.name}: cannot be read ({error.__class__.__name__})") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ResourceError(f"{path.name} line {line}: not UTF-8") from error


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables. Raises ResourceError with file and line if it is missing or malformed."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ResourceError(f"{path.name}: {error}") from error


def read_patterns(path: Path, names: Sequence[str], begins: Collection[str] = ()) -> dict[str, re.Pattern[str]]:
    """The regular expressions of a TOML file by name, read without case; those named in `begins` only match at the beginning.

    Raises ResourceError with file and line where one of `names` is missing, no expression, or malformed.
    """
    found: dict[str, re.Pattern[str]] = {}
    table = read_toml(path)
    for name in names:
        source = table.get(name)
        if not isinstance(source, str):
            raise ResourceError(f"{path.name}: needs an expression `{name}`")
        try:
            found[name] = re.compile(("^" if name in begins else "") + source, re.IGNORECASE)
        except re.error as error:
            raise ResourceError(f"{path.name}: line {_line_of(path, name)}: `{name}`: {error}") from error
    return found


def _line_of(path: Path, name: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((i for i, line in enumerate(lines, 1) if re.match(rf"\s*{re.escape(name)}\s*=", line)), 1)


@lru_cache(maxsize=64)
def load_lexicon(name: str) -> dict[str, Any]:
    """A shipped TOML lexicon, read once."""
    return read_toml(FOLDER / name)


@lru_cache(maxsize=64)
def load_word_sets(name: str) -> dict[str, frozenset[str]]:
    """A shipped TOML lexicon whose values are strings of words separated by blanks or lists of words, as sets."""
    sets: dict[str, frozenset[str]] = {}
    for key, value in load_lexicon(name).items():
        sets[key] = frozenset(value.split() if isinstance(value, str) else value)
    return sets


@lru_cache(maxsize=64)
def load_lines(name: str) -> tuple[str, ...]:
    """The lines of a shipped text file, without comments (`#`) and blank lines."""
    lines = read_text(FOLDER / name).splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
