"""Pieces of the English word patterns: numbers, months, weekdays, units, am and pm, and what may stand beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from models.times.english_tables import MONTHS, UNIT_WORDS
from models.times.numbers import ENGLISH_ONES, ENGLISH_ORDINALS, ENGLISH_TENS


def any_of(words: Iterable[str]) -> str:
    """The words as alternatives, longest first; a blank stands for any white space."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=lambda w: (-len(w), w)))


def following(words: str, *more: str) -> str:
    """A condition: one of the words (blank-separated) and a blank, or one of the other patterns, stands before."""
    return "(?:" + "|".join([rf"(?<={word}\s)" for word in words.split()] + list(more)) + ")"


ONES = any_of([w for w, n in ENGLISH_ONES.items() if 0 < n < 10])
TENS = any_of(ENGLISH_TENS)
TEENS = any_of([w for w, n in ENGLISH_ONES.items() if n >= 10])
CARDINAL = rf"(?:(?:{TENS})(?:[\s-](?:{ONES})\b)?|{TEENS}|{ONES})"
_ORDINAL_WORDS = [w for w in ENGLISH_ORDINALS if w.isalpha()]
ORDINAL_ONES = any_of([w for w in _ORDINAL_WORDS if ENGLISH_ORDINALS[w] < 10])
DAY_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)"
ORDINAL = rf"(?:{DAY_ORDINAL}|(?:{TENS})[\s-](?:{ORDINAL_ONES})|{any_of(_ORDINAL_WORDS)})"
MONTH = rf"(?:{any_of(MONTHS)})"
WEEKDAY = (
    "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tues|thurs|thur|weds|mon|tue|wed|thu|fri|sat|sun)"
)
FULL_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
AFTER_WEEKDAY = (
    r"(?<=nday\s)|(?<=sday\s)|(?<=iday\s)|(?<=rday\s)|(?<=\bmon\s)|(?<=\btue\s)|(?<=\bwed\s)|(?<=\bthu\s)|(?<=\bfri\s)"
)
AFTER_WEEKDAY += r"|(?<=\bsat\s)|(?<=\bsun\s)"
UNIT = rf"(?:{any_of([w for w in UNIT_WORDS if len(w) > 1])})"
YEAR = r"(?:(?:1[5-9]|20|21)\d\d)"
YEAR_WORDS = (
    rf"(?:(?:nineteen|twenty)\s(?:{TENS}|{TEENS})(?:[\s-](?:{ONES})\b)?|two\sthousand(?:\s(?:and\s)?(?:{CARDINAL}))?)"
)
AMOUNT = (
    r"(?:\d{1,4}(?:\.\d{1,2})?|1/2|[13]/4|half\san?|half(?=\s(?:hour|day|year|month))|a\shalf"
    r"|an?\s(?:couple|few)(?:\sof)?|couple(?:\sof)?|(?:a\s)?few|several|some"
    rf"|(?:{CARDINAL}|an?)\sand\sa\shalf|{CARDINAL}|an?)(?:\smore)?"
)
AM_PM = r"(?:[ap]\s?\.\s?m(?:\s?\.|\b)|[ap]\s?m\b)"
AP = r"(?:[ap]\s?\.?\s?m\b|[ap]\b)"
OCLOCK = r"o['\u2019]?clock"
HOUR_WORD = rf"(?:ten|eleven|twelve|{ONES})"
HOUR = rf"(?:1\d|2[0-4]|0?\d|{HOUR_WORD})"
MINUTE_WORD = rf"(?:(?:{TENS})(?:[\s-](?:{ONES})\b)?|{TEENS}|oh?\s(?:{ONES})|five)"
FREE = r"(?<![a-z0-9$#])(?<!\$\s)"
"""Not inside a word, a number, a price or a tag."""
NO_UNIT = rf"(?!\s?(?:{UNIT}|%|people|dollars|times|percent)\b)"
STOP = r"(?:(?<=\b[a-z]{3})\.(?=\s[a-z\d]|,))?"
"""The full stop of an abbreviated month or weekday, not that of a sentence."""
HOUR_ENDS = (
    r"(?![.,]\d)(?=\s*(?:$|[.,;!?)]|(?:gmt|utc|[cpemb][sd]?t|today|tonight|tonite|tomorrow|yesterday|on|in\sthe|this"
    rf"|sharp|and|or|please|to|until|till|next)\b|{WEEKDAY}\b))"
)
"""What may follow a bare number that is meant as an hour."""
STEP = r"(?:this|next|last|past|previous|coming|upcoming|current|following)"
