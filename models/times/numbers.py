"""Numbers as people say and write them, in Chinese and in English."""

from __future__ import annotations

_DIGITS = (
    {ch: n for n, ch in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "0": 0} | {str(n): n for n in range(10)}
)
_UNITS = {"十": 10, "百": 100, "千": 1000}

ENGLISH_ONES = {
    name: n
    for n, name in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
ENGLISH_TENS = {
    name: 10 * (n + 2)
    for n, name in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
ENGLISH_ORDINALS = {
    name: n + 1
    for n, name in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ]
    )
} | {"thirtieth": 30, "1st": 1, "2nd": 2, "3rd": 3}


def chinese_number(word: str) -> int | None:
    """The value of 二十五, 廿三, 两百, 二零二六 (digit by digit) or 25; None where it is no number."""
    if not word or len(word) > 12:
        return None
    if word.isdigit() and word.isascii():
        return int(word)
    word = word.replace("廿", "二十").replace("卅", "三十")
    if not any(ch in _UNITS for ch in word):
        if any(ch not in _DIGITS for ch in word):
            return None
        return int("".join(str(_DIGITS[ch]) for ch in word))
    total, current, seen = 0, None, False
    for ch in word:
        if ch in _UNITS:
            total += (1 if current is None else current) * _UNITS[ch]
            current, seen = None, True
        elif ch in _DIGITS:
            if current not in (None, 0) or (current == 0 and not seen):
                return None
            current = _DIGITS[ch]
        else:
            return None
    return total + (current or 0)


def chinese_amount(word: str) -> float | None:
    """Like `chinese_number`, with 半 as a half and decimals; 几 and 数 have no value."""
    if word == "半":
        return 0.5
    if "." in word:
        try:
            return float(word)
        except ValueError:
            return None
    return chinese_number(word)


def full_year(year: int, now_year: int) -> int:
    """A two-digit year as the one meant: at most 20 years ahead of now, else of the century before."""
    if year >= 100:
        return year
    century = now_year - now_year % 100
    return century + year if century + year <= now_year + 20 else century - 100 + year


def english_number(words: str) -> int | None:
    """The value of "twenty-five", "two thousand and fifteen", "nineteen ninety six", "25", "a", "an"; else None."""
    words = words.strip().lower()
    if words.isdigit() and words.isascii():
        return int(words) if len(words) <= 9 else None
    parts = [w for w in words.replace("-", " ").split() if w != "and"]
    if not parts:
        return None
    groups: list[int] = []
    total, current, last = 0, 0, ""
    for part in parts:
        if part in ("a", "an"):
            value = 1
        elif part in ENGLISH_ONES:
            value = ENGLISH_ONES[part]
        elif part in ENGLISH_TENS:
            value = ENGLISH_TENS[part]
        elif part == "hundred":
            current = (current or 1) * 100
            last = part
            continue
        elif part == "thousand":
            total += (current or 1) * 1000
            current, last = 0, part
            continue
        else:
            return None
        fits = not last or last in ("hundred", "thousand") or (last in ENGLISH_TENS and value < 10)
        if not fits:
            groups.append(total + current)
            total = current = 0
        current += value
        last = part
    groups.append(total + current)
    if len(groups) == 1:
        return groups[0]
    if len(groups) == 2 and 10 <= groups[0] <= 99 and 0 <= groups[1] <= 99:
        return groups[0] * 100 + groups[1]
    return None


def english_ordinal(words: str) -> int | None:
    """The value of "first", "21st", "twenty first", "twenty-sixth"; else None."""
    words = words.strip().lower().replace("-", " ")
    if words in ENGLISH_ORDINALS:
        return ENGLISH_ORDINALS[words]
    if words[:-2].isdigit() and words[-2:] in ("st", "nd", "rd", "th"):
        return int(words[:-2])
    tens, _, ones = words.partition(" ")
    if tens in ENGLISH_TENS and ones in ENGLISH_ORDINALS and ENGLISH_ORDINALS[ones] < 10:
        return ENGLISH_TENS[tens] + ENGLISH_ORDINALS[ones]
    return None


def number(word: str | None) -> int | None:
    """An English cardinal or ordinal."""
    if not word:
        return None
    value = english_ordinal(word)
    return value if value is not None else english_number(word)
