"""Check digits of identity documents and bank cards. Arguments are plain strings of the shape each docstring names."""

from __future__ import annotations

_WEIGHTS_18 = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS_18 = "10X98765432"
_REGIONS = frozenset(
    [
        "11",
        "12",
        "13",
        "14",
        "15",
        "21",
        "22",
        "23",
        "31",
        "32",
        "33",
        "34",
        "35",
        "36",
        "37",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "50",
        "51",
        "52",
        "53",
        "54",
        "61",
        "62",
        "63",
        "64",
        "65",
        "71",
        "81",
        "82",
        "83",
        "91",
    ]
)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TAIWAN = {letter: at + 10 for at, letter in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO")}
_CREDIT = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def luhn(digits: str) -> bool:
    """Whether a string of digits passes the Luhn check (ISO/IEC 7812-1), all zeros excluded.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if at % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


def plausible_date(year: str, month: str, day: str) -> bool:
    """Whether digits may be a birth date from 1900 to 2099."""
    return "1900" <= year <= "2099" and 1 <= int(month) <= 12 and 1 <= int(day) <= _MONTH_DAYS[int(month) - 1]


def chinese_id(number: str) -> bool:
    """An 18-character identity number with valid region, date and check digit (GB 11643-1999).

    >>> chinese_id("11010519491231002X"), chinese_id("110105194912310021")
    (True, False)
    """
    if len(number) != 18 or not number[:17].isdecimal() or number[:2] not in _REGIONS:
        return False
    if not plausible_date(number[6:10], number[10:12], number[12:14]):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS_18, strict=False))
    return _CHECKS_18[total % 11] == number[17].upper()


def chinese_id_15(number: str) -> bool:
    """The shape of a first-generation identity number: 15 digits, region and date, no check digit."""
    return (
        len(number) == 15 and number[:2] in _REGIONS and plausible_date("19" + number[6:8], number[8:10], number[10:12])
    )


def hong_kong_id(number: str) -> bool:
    """A Hong Kong identity number without brackets, as A123456 and its check character.

    >>> hong_kong_id("A1234563"), hong_kong_id("A1234564")
    (True, False)
    """
    body, check = number[:-1].upper().rjust(8), number[-1].upper()
    values = [36 if ch == " " else ord(ch) - 55 if ch.isalpha() else int(ch) for ch in body]
    total = sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True))
    return (11 - total % 11) % 11 == (10 if check == "A" else int(check) if check.isdecimal() else -1)


def taiwan_id(number: str) -> bool:
    """A Taiwanese identity number, one letter and nine digits.

    >>> taiwan_id("A123456789"), taiwan_id("A123456788")
    (True, False)
    """
    code = _TAIWAN.get(number[0].upper(), 0)
    total = code // 10 + code % 10 * 9 + sum(int(d) * w for d, w in zip(number[1:9], range(8, 0, -1), strict=True))
    return (total + int(number[9])) % 10 == 0


def iban(number: str) -> bool:
    """An international bank account number, blanks removed: modulo 97 is 1 (ISO 13616).

    >>> iban("GB82WEST12345698765432"), iban("GB82WEST12345698765433")
    (True, False)
    """
    if not 15 <= len(number) <= 34:
        return False
    turned = number[4:] + number[:4]
    return int("".join(str(int(ch, 36)) for ch in turned)) % 97 == 1


def credit_code(code: str) -> bool:
    """A unified social credit code of 18 characters with a valid check character (GB 32100-2015)."""
    values = [_CREDIT.find(ch) for ch in code.upper()]
    if len(code) != 18 or min(values) < 0 or len(set(code)) == 1:
        return False
    total = sum(value * pow(3, at, 31) for at, value in enumerate(values[:17]))
    return (31 - total % 31) % 31 == values[17]
