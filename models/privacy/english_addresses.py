"""Full English addresses by their shape: house number and street, unit, post box, military mail."""

from __future__ import annotations

import re
from collections.abc import Iterator

Find = tuple[int, int, str]

_SUFFIX = (
    "street|st|avenue|ave|av|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|terrace|ter|way|parkway|pkwy|circle|cir|highway"
    "|hwy|crescent|cres|close|grove|gardens|mews|row|walk|rise|quay|alley|trail|loop|plaza|cove|crossing|turnpike|esplanade|parade"
)
_STRONG = frozenset(
    [
        "street",
        "st",
        "avenue",
        "ave",
        "road",
        "rd",
        "boulevard",
        "blvd",
        "lane",
        "parkway",
        "pkwy",
        "crescent",
        "terrace",
        "highway",
    ]
)
_NAME = r"[^\W\d_][\w'’.\-]*"
_STREET = re.compile(
    rf"(?<![\w.,$€£¥-])(?P<number>\d{{1,6}}[A-Za-z]?(?:[-/]\d{{1,5}})?(?: \d{{1,6}})?)\s(?P<name>(?:{_NAME}\s){{0,4}}?(?:\d{{1,3}}(?:st|nd|rd|th)\s)?)"
    rf"(?P<suffix>{_SUFFIX})\b\.?(?:\s(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?)?",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"[,\s]{1,4}(?:(?:apt|apartment|suite|ste|unit|floor|fl|room|rm|flat|no)\b\.?\s?#?|#\s?)[\w\-]{1,6}", re.IGNORECASE
)
_UNIT_BEFORE = re.compile(r"(?<!\w)(?:apt|apartment|suite|ste|unit|flat|room)\b\.?\s?#?[\w\-]{1,6},\s?$", re.IGNORECASE)
_CITY = re.compile(
    r"(?:[,\s]{1,4}(?:[A-Z][\w'’.\-]*)){1,4}(?:[,\s]{1,4}[A-Z]{2,3})?(?:[,\s]{1,4}(?:[A-Z][\w().]*)){0,2}[,\s]{1,4}(?:\d{4,6}(?:-\d{3,4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})(?!\d)"
)
_TOWN = re.compile(r"(?:,\s?[A-Z][\w'’\-]*(?: [A-Z][\w'’\-]*){0,2}){1,3}")
_BOX = re.compile(r"(?<!\w)(?:p\.?\s?o\.?\s?box|post(?:al)? ?box|gpo box)\s?#?\d{1,6}", re.IGNORECASE)
_MILITARY = re.compile(
    r"(?:(?:Unit|PSC|CMR)\s\d{1,5},?\s(?:Box)\s\d{1,5}|US(?:NS|S|CGC|NV)\s[^\n,]{2,30})\s*,?\s*(?:DPO|FPO|APO),?\s(?:AA|AE|AP)(?:\s\d{5})?"
)
_LED = re.compile(
    r"(?i:\b(?:liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|located|address(?: is)?:?|return(?: it)?|deliver(?: it)?|ship(?: it)?|drops? (?:you|me|us) off|side of|corner of)\b)"
    r"(?i:(?: (?:in|at|on|to|is|near|the))*) (?P<street>(?:[^\W\d_a-z][\w'’.\-]*,? |(?:de|la|del|du|des|van|von|der|di|da|and) ){1,5}\d{1,5}[A-Za-z]?)(?![\w%])"
)
_NAMED = re.compile(
    r"(?<![\w’'])(?:C/ )?(?:[^\W\d_a-z][\w'’.\-]*\s){1,4}(?P<number>\d{1,5}[A-Za-z]?\.?\s)?(?:[Ss]treet|[Ss]t|[Aa]venue|[Bb]oulevard)\b(?!\s[A-Z][a-z])"
)
_CORNER = re.compile(r"\bthe corner of [^\n,.;]{3,60}? and (?:[^\W\d_a-z][\w'’.\-]*\s?){1,4}")
_SENTENCE_WORDS = re.compile(r"(?:The|This|That|On|In|At|To|From|My|Our|His|Her|Its|A|An|And|I|We|He|She|It)\s")
_NOT_STREETS = re.compile(
    r"\b(?:Gate|Room|Floor|Platform|Terminal|Flight|Version|Table|Desk|Line|Bus|Route|Level|Unit|Building|Block|January|February|March|April|May|June|July|August|September|October|November|December|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*\b"
)
_FILLERS = frozenset(
    [
        "in",
        "on",
        "at",
        "the",
        "a",
        "an",
        "and",
        "or",
        "for",
        "to",
        "of",
        "people",
        "minutes",
        "minute",
        "hours",
        "hour",
        "days",
        "day",
        "weeks",
        "months",
        "years",
        "times",
        "more",
        "other",
        "cars",
        "miles",
        "km",
        "items",
        "orders",
        "is",
        "was",
        "units",
        "percent",
        "off",
        "star",
        "stars",
        "my",
        "your",
        "his",
        "her",
        "this",
        "that",
        "i",
        "you",
        "we",
        "they",
    ]
)


def find_english_addresses(view: str) -> Iterator[Find]:
    """Full addresses in a narrowed text that holds a digit."""
    for match in _MILITARY.finditer(view):
        yield match.start(), match.end(), "address"
    for match in _BOX.finditer(view):
        yield match.start(), _extend(view, match.end()), "address"
    for match in _LED.finditer(view):
        if not _NOT_STREETS.search(match["street"]):
            yield match.start("street"), _extend(view, match.end()), "address"
    for match in _STREET.finditer(view):
        if _is_street(match):
            unit = _UNIT_BEFORE.search(view, max(0, match.start() - 24), match.start())
            yield unit.start() if unit else match.start(), _extend(view, match.end()), "address"


def find_streets(view: str) -> Iterator[Find]:
    """Streets called by name, with or without a number: where somebody is, though no full address."""
    for match in _CORNER.finditer(view):
        yield match.start(), match.end() - match[0].endswith(" "), "address"
    for match in _NAMED.finditer(view):
        lead = _SENTENCE_WORDS.match(view, match.start())
        start = lead.end() if lead else match.start()
        if match.end() - start > 6:
            yield start, match.end(), "address"


def _is_street(match: re.Match[str]) -> bool:
    """A number and a street word are an address if the words between are a name."""
    words = match["name"].split()
    suffix = match["suffix"]
    if any(word.lower() in _FILLERS for word in words) or (not words and " " not in match["number"]):
        return False
    if suffix[0].isupper():
        return all(not word[0].isalpha() or word[0].isupper() or len(word) < 4 for word in words)
    return suffix.lower() in _STRONG and len(match["number"]) >= 2


def _extend(view: str, end: int) -> int:
    """The end of the address with its units, town, state and postcode."""
    for _ in range(3):
        unit = _UNIT.match(view, end)
        if not unit:
            break
        end = unit.end()
    rest = _CITY.match(view, end) or _TOWN.match(view, end)
    return rest.end() if rest else end
