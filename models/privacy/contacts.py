"""E-mail addresses, accounts of messengers, and dates of birth."""

from __future__ import annotations

import re
from collections.abc import Iterator

Find = tuple[int, int, str]

_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+\-]{0,63}$")
_LOCAL_START = re.compile(r"[A-Za-z0-9._%+\-]")
_DOMAIN = re.compile(
    r"[A-Za-z0-9\u4e00-\u9fff](?:[A-Za-z0-9\-\u4e00-\u9fff]{0,62})(?:\.[A-Za-z0-9\-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_HAN_LOCAL = re.compile(r"[\u4e00-\u9fff]{1,4}$")
_AT = re.compile(r" at | ?[(\[]at[)\]]|艾特", re.IGNORECASE)
_SPOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9_\-]{1,40} dot ){0,3}[A-Za-z0-9._\-]{2,40}"
    r"(?: at [A-Za-z0-9\-]{2,30}(?: (?:dot|点) [A-Za-z]{2,10}){0,2} (?:dot|点) (?:com|cn|net|org|edu|gov|io|co|uk|de|fr|me|info|ai|hk|tw|jp)"
    r"|\s?[(\[]at[)\]]\s?[A-Za-z0-9\-]{2,30}(?:(?:\s?[(\[]dot[)\]]\s?|\.)[A-Za-z]{2,10}){1,3}"
    r"|艾特[A-Za-z0-9\-]{1,30}(?:点[A-Za-z]{2,10}){1,3})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"(?:微信号?|(?<![A-Za-z])(?:wx|weixin|wechat)(?: ?id)?|(?<![A-Za-z])telegram|(?<![A-Za-z])skype)\s*[:：是为]?\s*(?:is )?"
    r"(?P<id>[A-Za-z][A-Za-z0-9_\-]{5,29})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec"
_ZH = "0-9零〇一二三四五六七八九十廿"
_BIRTH = re.compile(
    r"(?:出生(?:日期|年月日|年月|于|在)?|生日|生于|(?<![a-z])d\.?o\.?b\.?|(?<![a-z])born(?: on| in)?|birth ?da(?:y|te)|date of birth)[\s:：是为]*(?:is )?"
    rf"(?P<date>(?:[{_ZH}]{{2,4}}年)?[{_ZH}]{{1,3}}月[{_ZH}]{{1,3}}[日号]|(?:19|20)\d\d[\-./]\d{{1,2}}[\-./]\d{{1,2}}"
    rf"|\d{{1,2}}[\-./]\d{{1,2}}[\-./](?:19|20)?\d\d|(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
    rf"|\d{{1,2}} (?:{_MONTHS}),? (?:19|20)\d\d)",
    re.IGNORECASE,
)


def find_contacts(view: str) -> Iterator[Find]:
    """E-mail addresses and messenger accounts of a narrowed text."""
    at = view.find("@")
    while at >= 0:
        found = _email(view, at)
        if found:
            yield found
        at = view.find("@", at + 1)
    if _AT.search(view):
        for match in _SPOKEN.finditer(view):
            yield match.start(), match.end(), "email"
    for match in _ACCOUNT.finditer(view):
        yield match.start("id"), match.end("id"), "social_account"


def _email(view: str, at: int) -> Find | None:
    domain = _DOMAIN.match(view, at + 1)
    if not domain or (not domain[0].isascii() and at and not view[at - 1].isascii()):
        return None
    local = view[max(0, at - 64) : at]
    tail = re.search(r"[A-Za-z0-9._%+\-]*$", local)
    ascii_part = tail[0] if tail else ""
    if not ascii_part:
        han = _HAN_LOCAL.search(local)
        return (at - len(han[0]), domain.end(), "email") if han else None
    if ascii_part.startswith(".") or ".." in ascii_part or ascii_part.endswith("."):
        return None
    if view[at - 1] in "%+-" and len(ascii_part) == 1:
        return None
    start = at - len(ascii_part.lstrip("%+-"))
    return (start, domain.end(), "email") if start < at else None


_BORN_AFTER = re.compile(rf"(?P<date>[{_ZH}]{{2,4}}年[{_ZH}]{{1,3}}月(?:[{_ZH}]{{1,3}}[日号])?)(?:出生|生人|生日)")


def find_birth_dates(view: str) -> Iterator[Find]:
    """Dates that are said to be a birth date."""
    for match in _BORN_AFTER.finditer(view):
        yield match.start("date"), match.end("date"), "date_of_birth"
    for match in _BIRTH.finditer(view):
        yield match.start("date"), match.end("date"), "date_of_birth"
