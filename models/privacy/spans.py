"""A piece of personal data in a text, and how overlapping finds are settled."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from msgspec import Struct

NEVER_STORE = frozenset(
    {"id_number", "bank_card", "passport", "address", "secret", "health", "family", "social_security", "military_id"}
)
"""Types that are masked before anything is stored, published or logged (features W1, "never")."""

RANK = (
    "secret", "email", "id_number", "social_security", "bank_card", "passport", "military_id", "credit_code", "address",
    "phone", "licence_plate", "ip_address", "social_account", "date_of_birth", "health", "family", "sensitive", "person",
)  # fmt: skip
"""Types from the one that wins an overlap to the one that yields."""

_RANK = {name: at for at, name in enumerate(RANK)}
PLACEHOLDER = re.compile(r"\[[a-z_]{2,20}:(?:xs|s|m|l|xl)\]")
"""What a masked value looks like: its type and its length class."""


class PersonalData(Struct, frozen=True, order=True):
    """`text` is the characters `[start, end)` of the text it was found in; `type` one of `RANK`."""

    start: int
    end: int
    type: str
    text: str


def placeholder(item: PersonalData) -> str:
    """What stands for the value once masked: ``[bank_card:l]`` keeps the type and the length class.

    Classes: xs up to 4 characters, s up to 8, m up to 16, l up to 32, xl above. A class, not the count: the count's
    digits would repeat digits of the value now and then, and an exact length helps to guess it.
    """
    length = item.end - item.start
    size = "xs" if length <= 4 else "s" if length <= 8 else "m" if length <= 16 else "l" if length <= 32 else "xl"
    return f"[{item.type}:{size}]"


def mask(text: str, found: Iterable[PersonalData]) -> str:
    """The text with each find replaced by its placeholder; finds may come in any order and must not overlap."""
    pieces, at = [], 0
    for item in sorted(found):
        if item.start >= at:
            pieces += [text[at : item.start], placeholder(item)]
            at = item.end
    return "".join([*pieces, text[at:]])


def settle(text: str, found: Iterable[tuple[int, int, str]]) -> list[PersonalData]:
    """The finds that stay, in order: none overlap, none touch a placeholder, higher rank and then longer first."""
    taken = Taken(match.span() for match in PLACEHOLDER.finditer(text))
    kept: list[PersonalData] = []
    for start, end, kind in sorted(set(found), key=lambda f: (_RANK.get(f[2], 99), f[0] - f[1], f[0])):
        if start < end and taken.add(start, end):
            kept.append(PersonalData(start, end, kind, text[start:end]))
    return sorted(kept)


class Taken:
    """Spans that do not overlap, kept in order, so that a new one is checked against its neighbours only."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._spans = sorted(spans)

    def add(self, start: int, end: int) -> bool:
        """Takes a span unless it overlaps one that is taken; whether it did."""
        at = bisect_left(self._spans, (start, end))
        if at < len(self._spans) and self._spans[at][0] < end:
            return False
        if at and self._spans[at - 1][1] > start:
            return False
        self._spans.insert(at, (start, end))
        return True
