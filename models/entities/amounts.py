"""Amounts of money in either language, with their value: "四万八", "5 万元", "¥8,999.00", "50 USD"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct


class Amount(Struct, frozen=True, order=True):
    """An amount `[start, end)`; `value` in units of `currency` (ISO 4217), which is None where it was not said."""

    start: int
    end: int
    value: float
    currency: str | None


_CURRENCY = {
    "元": "CNY", "块": "CNY", "块钱": "CNY", "人民币": "CNY", "rmb": "CNY", "cny": "CNY", "¥": "CNY", "万元": "CNY", "$": "USD", "usd": "USD", "美元": "USD", "美金": "USD",
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR", "£": "GBP", "gbp": "GBP", "pound": "GBP",
    "pounds": "GBP", "英镑": "GBP", "港币": "HKD", "港元": "HKD", "hkd": "HKD", "hk$": "HKD", "日元": "JPY", "jpy": "JPY", "yuan": "CNY", "us$": "USD",
}  # fmt: skip
_DIGITS = {ch: at for at, ch in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
    "肆": 4,
    "伍": 5,
    "陆": 6,
    "柒": 7,
    "捌": 8,
    "玖": 9,
}
_UNITS = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_HAN = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟"
_ARABIC = r"\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,4})?"
_AMOUNT = re.compile(
    rf"(?P<before>人民币|us\$|hk\$|[¥$€£]|\b(?:usd|rmb|cny|eur|gbp|hkd)\s)?\s?"
    rf"(?:(?P<number>(?<![\d.,A-Za-z\-]){_ARABIC})\s?(?P<scale>[百千万亿]{{1,2}}|k\b|m\b|million\b|thousand\b|billion\b)?|(?P<han>[{_HAN}]{{1,12}}))"
    rf"\s?(?P<after>块钱|元|块(?P<tenth>[一二三四五六七八九1-9](?![\d十百千万个]))?|人民币|美元|美金|欧元|英镑|港币|港元|日元|\b(?:rmb|cny|usd|eur|gbp|hkd|yuan|dollars?|bucks|euros?|pounds?)\b)?",
    re.IGNORECASE,
)
_MONEY_WORD = re.compile(
    r"(?:预算|总价|价格|报价|单价|售价|金额|费用|押金|定金|订金|首付|尾款|货款|退款|赔偿|工资|月薪|年薪|成本|优惠|便宜|price|budget|cost|total|fee|deposit|refund)[^。！？!?;；\d]{0,8}$",
    re.I,
)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}
_COUNTED = re.compile(r"\s?(?:[个件台条只张位人次天周月年日号点分秒岁折%％米斤吨箱套份页楼层室度后前]|小时|分钟|家)")


def find_amounts(view: str) -> Iterator[Amount]:
    """Amounts of a narrowed, simplified text: those with a currency, and bare numbers right after a word of price."""
    for match in _AMOUNT.finditer(view):
        sign = (match["before"] or match["after"] or "").strip().lower()
        bare = not sign
        if bare and not (_price_before(view, match.start()) and not _COUNTED.match(view, match.end())):
            continue
        value = _value(match)
        if value is None or (bare and value < 10):
            continue
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        if match["tenth"]:
            value += (_DIGITS.get(match["tenth"]) or int(match["tenth"])) / 10
            sign = "块"
        yield Amount(start, start + len(match[0].strip()), value, _CURRENCY.get(sign))


def _price_before(view: str, start: int) -> bool:
    return _MONEY_WORD.search(view, max(0, start - 14), start) is not None


def _value(match: re.Match[str]) -> float | None:
    if match["han"]:
        number = chinese_number(match["han"])
        return None if number is None else float(number)
    value = float(match["number"].replace(",", ""))
    scale = (match["scale"] or "").lower()
    if scale in _SCALES:
        return value * _SCALES[scale]
    for ch in scale:
        value *= _UNITS.get(ch) or _LARGE[ch]
    return round(value, 4)


def chinese_number(text: str) -> int | None:
    """The value of a Chinese numeral, colloquial short forms included; None where it is none.

    >>> chinese_number("四万八"), chinese_number("一千二百零三"), chinese_number("两百五"), chinese_number("八八")
    (48000, 1203, 250, 88)
    """
    if all(ch in _DIGITS for ch in text):
        return int("".join(str(_DIGITS[ch]) for ch in text)) if text else None
    total = section = digit = 0
    last_unit, seen_zero = 1, False
    for ch in text:
        if ch in _DIGITS:
            if _DIGITS[ch] == 0:
                seen_zero = True
            digit = _DIGITS[ch]
        elif ch in _UNITS:
            section += (digit or 1) * _UNITS[ch]
            digit, last_unit, seen_zero = 0, _UNITS[ch], False
        elif ch in _LARGE:
            if not (section or digit or total):
                return None
            total = (total + section + digit) * _LARGE[ch] if ch == "亿" else total + (section + digit) * _LARGE[ch]
            section, digit, last_unit, seen_zero = 0, 0, _LARGE[ch], False
        else:
            return None
    if digit and last_unit >= 100 and not seen_zero:
        digit *= last_unit // 10
    return total + section + digit
