"""Secrets: keys and tokens by their shape, and whatever is given as a password, PIN or code."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from models.lexicons import load_lexicon
from models.privacy.context import is_business

Find = tuple[int, int, str]

MIN_RANDOM = 28
"""A bare string of letters and digits this long is a secret if it looks random."""

_KEY_END = re.compile(r"-----END[A-Z0-9 ]{0,40}-----")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9._\-]{12,200}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,100}|gh[pousr]_[A-Za-z0-9]{20,100}|github_pat_[A-Za-z0-9_]{20,100}"
    r"|glpat-[A-Za-z0-9_\-]{15,60}|xox[abprs]-[A-Za-z0-9\-]{10,100}|(?:AKIA|ASIA|AGPA|AIDA)[A-Z0-9]{16}|AIza[A-Za-z0-9_\-]{30,40}"
    r"|ya29\.[A-Za-z0-9_\-]{20,200}|eyJ[A-Za-z0-9_\-]{8,800}\.[A-Za-z0-9_\-]{4,800}(?:\.[A-Za-z0-9_\-]{0,800})?|npm_[A-Za-z0-9]{30,60}"
    r"|pypi-[A-Za-z0-9_\-]{20,200}|hf_[A-Za-z0-9]{20,60}|SG\.[A-Za-z0-9_\-]{16,40}\.[A-Za-z0-9_\-]{16,80}|LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{13,40}"
    r"|dop_v1_[a-f0-9]{40,80}|shpat_[a-fA-F0-9]{32}|[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,40})(?![A-Za-z0-9])"
)
_URL_PASSWORD = re.compile(r"://[^\s:/@]{1,60}:(?P<value>[^\s@/]{1,100})@")
_BEARER = re.compile(
    r"(?i)(?:\bbearer\s+(?=[A-Za-z._~+/\-]{0,60}\d)|authorization:\s*basic\s+)(?P<value>[A-Za-z0-9._~+/\-]{12,800}=*)"
)
_ON_A_COMMAND_LINE = re.compile(
    r"\b(?:(?:mysql\w{0,12}|mariadb|sshpass)\b[^\n|;]{0,100}?\s(?:-p ?|--password[= ])|redis-cli\b[^\n|;]{0,100}?\s-a ?"
    r"|curl\b[^\n|;]{0,100}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,40}:)(?P<value>[^\s'\"|;]{3,100})"
)
_TOKEN = re.compile(r"[A-Za-z0-9+/_.\-]{28,800}={0,2}")
_CODE_WORD = re.compile(
    r"(?:验证码|校验码|动态码|动态口令|短信码|安全码|取款密码|支付密码|交易密码|verification code|security code|one[- ]time (?:code|password)|pass ?code|auth(?:entication)? code"
    r"|login code|(?<![A-Za-z])(?:otp|pin|cvv2?|cvc)(?: ?(?:code|number))?(?![A-Za-z]))",
    re.IGNORECASE,
)
_JOIN = re.compile(
    r"[\"'”’]?\s*(?:号码?)?(?:(?<=\s)(?:for|to|of)(?: [a-z0-9_\-]{1,20}){1,4}?(?= (?:is|was)\b))?\s*"
    r"(?:(?:就)?[是为叫]|变成|改成了?|设[为成置]了?|设置[为成]|用的是|is(?: now)?|was|, ?it(?:['’]s| is)|=>|[:：=]{1,2}|,)?\s*(?:[\"'“‘「`<]\s*)?",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[!#-&(-;=?-~]{3,200}")
_CODE_VALUE = re.compile(r"[A-Za-z]{0,2}\d[A-Za-z0-9]{2,9}(?![A-Za-z0-9])|\d(?:[ \-]?\d){3,7}(?!\d)")
_PASSWORD = re.compile("pass|pwd|密码|口令", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:$|[\n，。；,;}\"'\u3400-\u9fff])")
_EXPLICIT = re.compile(r"[是为叫=:：]|\bis\b|\bwas\b|\bit['’]s\b|变成|改成|设")
_IN_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "`": "`"}
_FIGURE = "零〇一二两三四五六七八九幺0-9"
_SAID_VALUE = re.compile(
    rf"[二两三四五六七八九十]个[{_FIGURE}](?:[、，, ]?[二两三四五六七八九十]个[{_FIGURE}]){{0,3}}|[{_FIGURE}](?:[ \-]?[{_FIGURE}]){{2,11}}(?![个位次天年月点])"
    r"|[\u4e00-\u9fff]{1,10}\d{4,12}(?![\d年月号位])"
)
"""A password as it is said: 六个八, 一二三, 我的生日19900101."""


@lru_cache(maxsize=1)
def _keys() -> re.Pattern[str]:
    words = load_lexicon("privacy.toml")["secret"]["keys"]
    spread = "|".join(
        re.escape(word).replace("_", "[_ ]?") for word in sorted(words.split(), key=lambda word: (-len(word), word))
    )
    return re.compile(f"(?:{spread})(?:[A-Za-z0-9_]{{0,20}})", re.IGNORECASE)


@lru_cache(maxsize=1)
def _not_values() -> frozenset[str]:
    return frozenset(load_lexicon("privacy.toml")["secret"]["not_values"].split())


def find_secrets(view: str) -> Iterator[Find]:
    """Secrets in a narrowed text whose spoken digits are already digits."""
    for opening in _PRIVATE_KEY.finditer(view):
        closing = _KEY_END.search(view, opening.end())
        yield opening.start(), closing.end() if closing else len(view), "secret"
    for pattern in (_SHAPES, _URL_PASSWORD, _BEARER, _ON_A_COMMAND_LINE):
        for match in pattern.finditer(view):
            start, end = match.span("value") if "value" in match.groupdict() else match.span()
            yield start, end - (view[end - 1] in ".,"), "secret"
    for match in _TOKEN.finditer(view):
        if _looks_random(match[0]) and not is_business(view, match.start()):
            yield match.start(), match.end(), "secret"
    for word in _CODE_WORD.finditer(view):
        joined = _JOIN.match(view, word.end())
        value = joined and (_CODE_VALUE.match(view, joined.end()) or _SAID_VALUE.match(view, joined.end()))
        if value and joined and (value[0].isascii() or _EXPLICIT.search(joined[0]) or not joined[0].strip()):
            yield value.start(), value.end(), "secret"
    for key in _keys().finditer(view):
        found = _given(view, key)
        if found:
            yield found


def _given(view: str, key: re.Match[str]) -> Find | None:
    """The value that follows a key word: anything after "=" or ":", only password-like strings after a mere "is"."""
    joined = _JOIN.match(view, key.end())
    if not joined or (
        key[0][0].isascii() and key.start() and view[key.start() - 1].isalpha() and view[key.start() - 1].islower()
    ):
        return None
    value = _VALUE.match(view, joined.end())
    closing = view.find(_IN_QUOTES.get(joined[0].rstrip()[-1:], "\n"), joined.end(), joined.end() + 100)
    if (
        joined[0].rstrip()[-1:] in _IN_QUOTES
        and closing - joined.end() >= 4
        and any(map(str.isspace, view[joined.end() : closing]))
    ):
        return joined.end(), closing, "secret"
    if not value:
        spoken = _SAID_VALUE.match(view, joined.end())
        told = spoken and _PASSWORD.match(key[0]) and _EXPLICIT.search(joined[0])
        return (*spoken.span(), "secret") if spoken and told else None
    said = value[0].rstrip(".,;:!?)]}>'\"`")
    strong = any(mark in joined[0] for mark in "=:：")
    letters_only = said.isalpha()
    if len(said) < 4 or said.lower() in _not_values() or said.startswith(("$", "{", "[", "%")):
        return None
    if not _EXPLICIT.search(joined[0]) and (letters_only or len(said) < 6 or not _mixed(said)):
        return None
    if not strong and letters_only and key[0].isascii():
        return None
    if letters_only and (len(said) < 6 or not _PASSWORD.match(key[0]) or not _ENDS.match(view, value.end())):
        return None
    return value.start(), value.start() + len(said), "secret"


def _mixed(said: str) -> bool:
    return any(ch.isdigit() for ch in said) and any(ch.isalpha() for ch in said)


def _looks_random(said: str) -> bool:
    """Upper case, lower case and digits mixed, near the entropy of random text, and no words or paths in it."""
    body = said.rstrip("=")
    if len(body) < MIN_RANDOM or body.count("/") > 2 or body.count("-") > 3 or body.count(".") > 2:
        return False
    if not (any(c.isdigit() for c in body) and any(c.isupper() for c in body) and any(c.islower() for c in body)):
        return False
    counts = Counter(body)
    bits = -sum(n / len(body) * math.log2(n / len(body)) for n in counts.values())
    return bits > 4.0
