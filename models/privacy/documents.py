"""Identifiers with letters in them: passports, foreign identity numbers, IBAN, plates, company codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from models.privacy import checks
from models.privacy.context import is_business, kind_before

Find = tuple[int, int, str]

_LETTER_THEN_DIGITS = re.compile(
    r"(?<![A-Za-z0-9_\-])(?!(?i:is|no|id|in|of|to|my) )[A-Za-z]{1,2}[ ]?\d{6,10}(?:\([0-9A]\)|[A-Za-z])?(?![A-Za-z0-9_\-])"
)
_SPACED = re.compile(
    r"(?<![A-Za-z0-9_\-])(?!(?i:is|no|id|in|of|to|my) )[A-Za-z]{1,2}[ \-]?\d{2,4}(?:[ \-]\d{2,5}){1,3}(?![A-Za-z0-9_\-])"
)
_PASSPORT = re.compile(r"(?:[EGDSPKHM]\d{8}|[EDSPG][A-HJ-NP-Z]\d{7}|1[45]\d{7})$", re.IGNORECASE)
_HONG_KONG = re.compile(r"([A-Za-z]{1,2}\d{6})\(?([0-9Aa])\)?$")
_TAIWAN = re.compile(r"[A-Za-z][12]\d{8}$")
_NINO = re.compile(
    r"(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z0-9])", re.I
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])", re.IGNORECASE)
_CREDIT = re.compile(
    r"(?<![A-Za-z0-9])[0-9A-HJ-NPQRTUWXYa-hj-npqrtuwxy]{2}\d{6}[0-9A-HJ-NPQRTUWXYa-hj-npqrtuwxy]{10}(?![A-Za-z0-9])"
)
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使"
_PLATE = re.compile(rf"[{_PROVINCES}][A-Za-z][·•・. ]?[A-Za-z0-9]{{4,5}}[A-Za-z0-9挂学警港澳领](?![A-Za-z0-9])")
_PLATE_OFFICIAL = re.compile(rf"使\d{{6}}(?!\d)|(?<![A-Za-z])WJ ?[{_PROVINCES}]\d{{5}}(?!\d)|(?<=车牌)领\d{{6}}")
_CODE = re.compile(
    r"(?<![A-Za-z0-9\-])(?=[A-Za-z \-]{0,7}\d)[A-Za-z0-9]{1,10}(?:[ \-][A-Za-z0-9]{1,10}){0,3}(?![A-Za-z0-9\-])"
)
_IP = re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.]*\d)")
_VERSION = re.compile(r"(?:version|版本|v)[\s:：号]*$", re.IGNORECASE)


def find_documents(view: str) -> Iterator[Find]:
    """Finds of identifiers with letters in a narrowed text that holds at least one digit."""
    for match in _LETTER_THEN_DIGITS.finditer(view):
        kind = _short(view, match[0].replace(" ", ""), match.start())
        if kind:
            yield match.start(), match.end(), kind
    for match in _SPACED.finditer(view):
        kind = kind_before(view, match.start())
        if kind in ("passport", "id") and 6 <= sum(ch.isdigit() for ch in match[0]) <= 10:
            yield *match.span(), "passport" if kind == "passport" else "id_number"
    for match in _NINO.finditer(view):
        if match[0][:2].isupper() and not is_business(view, match.start()) or kind_before(view, match.start()) == "id":
            yield match.start(), match.end(), "id_number"
    for match in _IBAN.finditer(view):
        yield from _iban(view, match)
    for match in _CREDIT.finditer(view):
        if not match[0].isdecimal() and (
            checks.credit_code(match[0]) or "信用代码" in view[max(0, match.start() - 12) : match.start()]
        ):
            yield match.start(), match.end(), "credit_code"
    for match in _IP.finditer(view):
        if not _VERSION.search(view, max(0, match.start() - 12), match.start()):
            yield match.start(), match.end(), "ip_address"
    yield from _by_context(view)


def find_plates(view: str) -> Iterator[Find]:
    """Chinese licence plates, which need not hold a digit; those of embassies and armed police too."""
    for pattern in (_PLATE, _PLATE_OFFICIAL):
        for match in pattern.finditer(view):
            yield match.start(), match.end(), "licence_plate"


def _short(view: str, code: str, start: int) -> str | None:
    """The type of a code of one or two letters and digits; without a word that says so, only checked shapes count."""
    kind = kind_before(view, start)
    if kind == "passport":
        return "passport"
    if kind == "social_security":
        return "social_security"
    business = kind == "business" or is_business(view, start)
    hong_kong = _HONG_KONG.match(code)
    if hong_kong and (kind == "id" or "(" in code) and checks.hong_kong_id(hong_kong[1] + hong_kong[2]):
        return "id_number"
    if _TAIWAN.match(code) and not business and checks.taiwan_id(code):
        return "id_number"
    if kind == "id" and len(code) >= 7:
        return "passport" if _PASSPORT.match(code) and code[0] in "EGeg" else "id_number"
    return "passport" if not business and _PASSPORT.match(code) and code[0] in "EG" else None


def _iban(view: str, match: re.Match[str]) -> Iterator[Find]:
    """An IBAN by its check digits, or by a word that says so; cut back to whole groups until it checks."""
    said = match[0]
    while len(said) >= 15:
        if checks.iban(said.replace(" ", "").upper()):
            yield match.start(), match.start() + len(said), "bank_card"
            return
        cut = said.rfind(" ")
        if cut < 0:
            break
        said = said[:cut]
    if kind_before(view, match.start()) == "card" and " " not in match[0]:
        yield match.start(), match.end(), "bank_card"


def _by_context(view: str) -> Iterator[Find]:
    """Codes of no special shape right after "licence plate", "driver's license" and the like."""
    for kind, type_ in (("plate", "licence_plate"), ("id", "id_number")):
        for word in _words(kind).finditer(view):
            code = _CODE.match(view, word.end())
            if code and 4 <= len(code[0]) <= 20 and any(ch.isdigit() for ch in code[0]):
                end = code.end() if " " not in code[0] else _last_code_part(code)
                if end - code.start() >= 5:
                    yield code.start(), end, type_


def _last_code_part(code: re.Match[str]) -> int:
    """The end of the last blank-separated part that still looks like a code: capitals and digits."""
    end = code.start()
    for part in re.finditer(r"\S+", code[0]):
        if not (part[0].isupper() or any(ch.isdigit() for ch in part[0])):
            break
        end = code.start() + part.end()
    return end


_LINK = r"(?:\s*(?:号码?|number|no\.?|num|#))?\s*(?:是|为|is|:|：|=|,)?\s*"
_WORDS = {
    "plate": re.compile(r"(?:licen[sc]e plate|number plate|registration plate|plate)" + _LINK, re.IGNORECASE),
    "id": re.compile(
        r"(?:driver'?s'? licen[sc]e|driving licen[sc]e|national id|identity card|id card|social security|health card)"
        + _LINK,
        re.IGNORECASE,
    ),
}


def _words(kind: str) -> re.Pattern[str]:
    return _WORDS[kind]
