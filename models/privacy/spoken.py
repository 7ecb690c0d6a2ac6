"""Numbers spelled out in English by a recogniser: "double five five, one two three …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from models.privacy import checks
from models.privacy.context import is_business, kind_before

_VALUES = {word: str(at) for at, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])} | {
    "oh": "0", "o": "0", "nought": "0",
}  # fmt: skip
_WORD = "zero|one|two|three|four|five|six|seven|eight|nine|oh|o|nought|double|triple"
_GATE = re.compile(r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine)\b", re.IGNORECASE)
_RUN = re.compile(rf"\b(?:{_WORD})(?:(?:\s|,\s?|-)(?:{_WORD})){{3,40}}\b", re.IGNORECASE)
_DIGIT = re.compile(_WORD, re.IGNORECASE)


def find_spoken(view: str) -> Iterator[tuple[int, int, str]]:
    """Finds among runs of English digit words."""
    if not _GATE.search(view):
        return
    for run in _RUN.finditer(view):
        digits, times = "", 1
        for word in _DIGIT.findall(run[0].lower()):
            if word in ("double", "triple"):
                times = 2 if word == "double" else 3
            else:
                digits, times = digits + _VALUES[word] * times, 1
        kind = _classify(digits, kind_before(view, run.start()), is_business(view, run.start()))
        if kind:
            yield run.start(), run.end(), kind


def _classify(digits: str, kind: str | None, business: bool) -> str | None:
    length = len(digits)
    if kind == "code" and 4 <= length <= 8:
        return "secret"
    if business or kind == "business":
        return None
    if checks.chinese_id(digits) or (kind == "id" and length >= 7):
        return "id_number"
    if kind == "card" and length >= 8 or 13 <= length <= 19 and checks.luhn(digits):
        return "bank_card"
    return "phone" if 7 <= length <= 13 else None
