"""Numbers that belong to a person: identity, bank card, phone, codes; written together, spaced, or spelled out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from models.privacy import checks
from models.privacy.context import is_business, kind_before

Find = tuple[int, int, str]

MAX_GROUPS = 10
"""A number is read from at most this many digit groups, unless every group is a single digit."""

MAX_STARTS, MAX_STARTS_SPELLED = 200, 4
"""In one unbroken chain of digit groups, numbers are looked for from this many starts; nobody says more at a stretch."""

_SPOKEN_ZH = str.maketrans("零〇○一二三四五六七八九幺壹贰叁肆伍陆柒捌玖洞拐", "000123456789112345678907")
_SPOKEN_RUN = re.compile(
    "[零〇○一二三四五六七八九幺壹贰叁肆伍陆柒捌玖洞拐0-9](?:[ -]?[零〇○一二三四五六七八九幺壹贰叁肆伍陆柒捌玖洞拐0-9]){4,}"
    "(?P<x> ?(?:叉|艾克斯|埃克斯))?"
)
_LARGE = re.compile("[十百千万亿年点月]")
_CHAIN = re.compile(r"(?<![A-Za-z0-9_.])(?:\+|00(?=86\d))?\(?\d(?:[ \-.()]{0,2}\d)*[Xx]?(?![A-Za-z0-9_])")
_LONE_X = re.compile(r" {1,2}[Xx](?![A-Za-z0-9_])")
_GROUP = re.compile(r"\d+[Xx]?|[Xx]")
_EXTENSION = re.compile(r"(?:\s?(?:x|ext\.?|转|轉|分机|-)\s?\d{1,6})(?!\d)", re.IGNORECASE)
_PREFIXED = re.compile(r"(?i)(?:tel|phone|mobile|cell|fax|qq|wx|id|card)(?=\d{5})")
_IIN = re.compile(r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3(?:[068]|[47]|5)|6(?:0|2|4[4-9]|5)|81|9[0-9]|180|213")
_NANP = re.compile(r"\(?[2-9]\d{2}\)?[ \-.]{1,2}[2-9]\d{2}[ \-.]\d{4}$")
_DATE = re.compile(r"(?:19|20)\d{2}[ \-.](?:0?[1-9]|1[0-2])[ \-.](?:0?[1-9]|[12]\d|3[01])(?!\d)")
_DATE_END = re.compile(r"(?:0?[1-9]|[12]\d|3[01])[ \-.](?:0?[1-9]|1[0-2])[ \-.](?:19|20)\d{2}$")
_ROLE_AFTER = re.compile(r"\s?[-(]?\s?(?:office|fax|mobile|home|work|cell|desk)\b", re.IGNORECASE)


def spoken_digits(view: str) -> str:
    """The text with Chinese digit words of longer runs ("幺三八零零…") as digits; every offset stays."""

    def as_digits(match: re.Match[str]) -> str:
        run, last = match[0], match["x"] or ""
        if last:  # the last sign of an identity number, as it is said
            run = run[: -len(last)]
            last = "X".rjust(len(last)) if sum(not ch.isspace() and ch != "-" for ch in run) == 17 else last
        after = view[match.end() : match.end() + 1]
        return run + last if run.isascii() or _LARGE.match(after) else run.translate(_SPOKEN_ZH) + last

    return view if view.isascii() else _SPOKEN_RUN.sub(as_digits, view)


def find_numbers(view: str) -> Iterator[Find]:
    """Finds among the digit chains of a narrowed text whose spoken digits are already digits."""
    spaced = _PREFIXED.sub(lambda m: m[0][:-1] + " ", view) if _PREFIXED.search(view) else view
    for chain in _CHAIN.finditer(spaced):
        start, end = chain.span()
        if end - start >= 4:
            lone = _LONE_X.match(spaced, end)
            if lone and sum(ch.isdigit() for ch in chain[0]) == 17:
                end = lone.end()
            yield from _read_chain(view, spaced, start, end)


def _read_chain(view: str, spaced: str, start: int, end: int) -> Iterator[Find]:
    groups = [match.span() for match in _GROUP.finditer(spaced, start, end)]
    singles = len(groups) > MAX_GROUPS and all(b - a == 1 for a, b in groups[:20])
    at = 0
    limit = MAX_STARTS_SPELLED if singles else MAX_STARTS
    while at < min(len(groups), limit):
        kind: str | None = None
        business: bool | None = None
        stop = min(len(groups), at + (20 if singles else MAX_GROUPS))
        for last in range(stop - 1, at - 1, -1):
            first = groups[at][0]
            digits = "".join([spaced[a:b] for a, b in groups[at : last + 1]])
            if 4 <= len(digits) <= 20:
                if business is None:
                    kind, business = kind_before(view, first), is_business(view, first)
                number = Number(
                    digits, view, first, groups[last][1], [b - a for a, b in groups[at : last + 1]], kind, business
                )
                type_ = classify(number)
                if type_ is not None:
                    yield _widen(view, first, groups[last][1], type_)
                    at, limit = last, limit + last - at + 1
                    break
        at += 1


def _widen(view: str, start: int, end: int, kind: str) -> Find:
    """A phone number's bracket, plus sign, country code and extension belong to it."""
    if kind == "phone":
        if start and view[start - 1] == "(" and ")" in view[start:end]:
            start -= 1
        if start and view[start - 1] == "+":
            start -= 1
        extension = _EXTENSION.match(view, end)
        if extension and (view[end] != "-" or view[start] in "0("):
            end = extension.end()
    return start, end, kind


class Number(Struct, frozen=True):
    """A candidate: its digits, where it stands, the sizes of its groups, and what the words before it say."""

    digits: str
    text: str
    start: int
    end: int
    sizes: list[int]
    kind: str | None
    linked: bool

    @property
    def business(self) -> bool:
        """Whether the words before it make it an order, ticket or serial number."""
        return self.linked or self.kind == "business"


def classify(number: Number) -> str | None:
    """The type of a number by its digits, its grouping, and the words before it; None where it is nobody's."""
    digits, kind, length = number.digits, number.kind, len(number.digits)
    if digits[-1] in "Xx":
        return "id_number" if checks.chinese_id(digits) or (length == 18 and kind == "id") else None
    if kind == "code" and 4 <= length <= 8 and len(number.sizes) <= 4:
        return "secret"
    if kind == "social" and 5 <= length <= 12 and len(number.sizes) == 1:
        return "social_account"
    if kind == "military" and 6 <= length <= 10:
        return "military_id"
    return _identity(number) or _card(number) or _phone(number)


def _identity(number: Number) -> str | None:
    digits, kind, business, sizes, length = (
        number.digits,
        number.kind,
        number.business,
        number.sizes,
        len(number.digits),
    )
    if length == 18 and kind == "social_security":
        return "social_security"
    if length == 18 and not business and (kind == "id" or checks.chinese_id(digits)):
        return "id_number"
    if length == 15 and kind == "id" and checks.chinese_id_15(digits):
        return "id_number"
    if length == 9 and sizes == [3, 2, 4] and digits[:3] not in ("000", "666") and not business:
        return "id_number"
    if length == 9 and kind == "passport":
        return "passport"
    return "id_number" if kind == "id" and 7 <= length <= 12 and sum(sizes) == length else None


def _card(number: Number) -> str | None:
    digits, kind, sizes, length = number.digits, number.kind, number.sizes, len(number.digits)
    if not 12 <= length <= 19:
        return "bank_card" if kind == "card" and 8 <= length <= 11 and len(sizes) == 1 and digits[0] != "1" else None
    if kind == "card" and not (sizes[0] == 4 and digits[:2] in ("19", "20") and len(sizes) in (3, 4)):
        return "bank_card"
    if number.business or length < 13:
        return None
    if length >= 16 and digits.startswith("62"):
        return "bank_card"
    return "bank_card" if _IIN.match(digits) and checks.luhn(digits) and kind != "phone" else None


def _phone(number: Number) -> str | None:
    digits, kind, sizes, length = number.digits, number.kind, number.sizes, len(number.digits)
    text, start, end, linked, business = number.text, number.start, number.end, number.linked, number.business
    said = text[start:end]
    if _DATE.match(said) or _DATE_END.match(said):
        return None
    local = (
        digits[2:] if length == 13 and digits.startswith("86") else digits[4:] if digits.startswith("0086") else digits
    )
    if len(local) == 11 and local[0] == "1" and local[1] in "3456789" and not linked and _mobile_grouping(sizes):
        return "phone"
    if linked or "." in said and length < 9:
        return None
    plus = start > 0 and text[start - 1] == "+"
    if plus and 8 <= length <= 15:
        return "phone"
    if kind == "phone" and 7 <= length <= 15 and (len(sizes) > 1 or length <= 12):
        return "phone"
    if length in (10, 11) and (_NANP.search(said) or (length == 10 and sizes[0] == 3 and digits[:3] in ("400", "800"))):
        return "phone"
    if (
        digits[0] == "0"
        and digits[1] != "0"
        and 10 <= length <= 12
        and (len(sizes) > 1 or length >= 11)
        and not business
    ):
        return "phone"
    return "phone" if 7 <= length <= 15 and _ROLE_AFTER.match(text, end) and not business else None


def _mobile_grouping(sizes: list[int]) -> bool:
    return (
        sizes in ([11], [3, 4, 4], [4, 3, 4], [3, 3, 5], [3, 8], [7, 4], [2, 11], [2, 3, 4, 4], [4, 11])
        or len(sizes) >= 11
    )
