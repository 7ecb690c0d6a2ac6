"""Person names in either language, and English street addresses of no fixed shape, by the taggers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from models.entities.english_tagger import Span, english_tagger, tag_english
from models.privacy.chinese_names import find_chinese_names

Find = tuple[int, int, str]

MAX_TAGGED = 3000
"""Characters of a text in which names are looked for by the taggers; numbers and patterns are looked for in all of it."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]{2}")
SURE, LIKELY = 30.0, 10.0
"""Margins of the tagger above which a name written small is believed, without and with a listed name in it."""

_HAN = re.compile("[\u3400-\u9fff]")
_RUN = re.compile("[A-Za-z0-9\u00c0-\u024f][\x20-\x7e\u00a0-\u024f\n’]*")
_CAPITAL = re.compile("[A-Z\u00c0-\u00de][a-z\u00df-\u024f]")
_TITLE = re.compile(
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Mx|Producer|Director|President|Captain|Judge|Officer|Aunt|Uncle)\.?\s+",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_WORDS = re.compile(r"[^\W\d_]{2,}[.,]?\s|\s[^\W\d_]{2,}")
_LISTED = re.compile(r"(?:^|\n)\s*(?:[*•\-]\s|\d{1,2}[.)]\s)")
_STREET = re.compile(
    r"\b(?:street|st|avenue|ave|avda|avenida|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|square|terrace|way|parkway|highway|crescent|close|grove|apt|apartment"
    r"|suite|flat \d|p\.?o\.? box|rue|via|viale|piazza|calle|carrer|plaza|rua|travessa|strada|ul|ulica|ulice)\b"
    r"|(?:stra(?:ss|ß)e|str\.|weg|gasse|platz|allee|gatan|vägen|vej|katu|kuja|laan|straat|plein|utca)\b|\b[A-Z]{2},? \d{5}(?:-\d{4})?$|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$",
    re.IGNORECASE,
)
_LED = re.compile(
    r"\b(?:live[sd]?|living|reside[sd]?|located|address|ship(?:ped)?|deliver(?:ed)?|mail(?:ed)?|return|drops? (?:you|me|us) off)\b[^.!?\n]{0,24}$",
    re.IGNORECASE,
)
_PHONE_LINE = re.compile(r"\n\s*(?:[A-Za-z]{2,8}:\s*)?\+?[\d(][\d\s().\-]{6,}")


def find_names(view: str, lang: str | None, *, chinese: bool = True) -> Iterator[Find]:
    """Person names in a narrowed, simplified text; `chinese=False` leaves the Chinese tagger unasked."""
    if chinese and _HAN.search(view):
        for start, end in find_chinese_names(view[:MAX_TAGGED]):
            yield start, end, "person"
    if _LATIN.search(view):
        persons = [trimmed for span in latin_spans(view) if span.kind == "PER" and (trimmed := _trim(view, span))]
        for start, end in (*persons, *_again(view, persons)):
            yield start, end, "person"


def latin_spans(view: str) -> list[Span]:
    """What the English tagger finds: in all of a Latin text, and in each Latin stretch of a Chinese one."""
    if not _HAN.search(view):
        cased = not view.islower()
        tagged = tag_english(view[:MAX_TAGGED])
        return [span for span in tagged if span.kind == "ADDR" or _written_as_name(view, span, cased)]
    spans: list[Span] = []
    for run in _RUN.finditer(view, 0, MAX_TAGGED):
        if _CAPITAL.search(run[0]):
            spans += [
                Span(span.start + run.start(), span.end + run.start(), span.kind, span.margin)
                for span in tag_english(run[0])
                if span.kind != "PER" or _full_name(run[0][span.start : span.end])
            ]
    return spans


def _written_as_name(view: str, span: Span, cased: bool) -> bool:
    """A name has a capital; written small it needs a listed name in it, or the tagger to be very sure of it."""
    said = view[span.start : span.end]
    words = _WORD.findall(said)
    if not words:
        return False
    if any(ch.isupper() for ch in said):
        opens = not span.start or view[: span.start].rstrip(" \"'“(")[-1:] in (".", "!", "?", "")
        return not (opens and len(words) == 1 and english_tagger().is_everyday(words[0]))
    listed = span.kind == "PER" and any(english_tagger().knows(word, last=True) for word in words)
    if cased:
        return listed and span.margin >= SURE
    return span.margin >= SURE or (listed and span.margin >= LIKELY)


def _full_name(said: str) -> bool:
    """In Chinese text a Latin word is more often a brand than a person: first and last name, or a known first name."""
    return " " in said.strip() or english_tagger().knows(said)


def _trim(view: str, span: Span) -> tuple[int, int] | None:
    """A person's span without title, possessive and stray marks; None where nothing of a name is left."""
    start, end = span.start, span.end
    title = _TITLE.match(view, start, end)
    if title and title.end() < end:
        start = title.end()
    possessive = _POSSESSIVE.search(view[start:end])
    if possessive:
        end = start + possessive.start()
    while start < end and not view[start].isalpha():
        start += 1
    while end > start and not (view[end - 1].isalpha() or view[end - 1] == "."):
        end -= 1
    if end > start and view[end - 1] == "." and end - start > 2 and view[end - 2].islower():
        end -= 1
    letters = sum(ch.isalpha() for ch in view[start:end])
    return (start, end) if letters >= 2 and not any(ch.isdigit() for ch in view[start:end]) else None


def _again(view: str, persons: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Further mentions of a found person by first or last name alone, written with a capital."""
    known = {
        word for start, end in persons for word in _WORD.findall(view[start:end]) if len(word) > 2 and word[0].isupper()
    }
    if known:
        ordered = sorted(persons)
        for match in _WORD.finditer(view):
            if match[0] in known:
                place = bisect_right(ordered, (match.start(), len(view))) - 1
                if place < 0 or match.start() >= ordered[place][1]:
                    yield match.span()


def find_tagged_addresses(view: str, *, certain: bool) -> Iterator[Find]:
    """English addresses that the tagger sees by their parts; each holds letters and a digit, and no phone's line.

    With `certain`, only those with a word for a street or unit, a postcode at the end, or a verb such as "live at" before them.
    """
    if not _LATIN.search(view):
        return
    for span in latin_spans(view):
        if span.kind != "ADDR":
            continue
        phone = _PHONE_LINE.search(view, span.start, span.end)
        end = phone.start() if phone else span.end
        said = view[span.start : end]
        if _LISTED.search(said) or not any(ch.isdigit() for ch in said):
            continue
        if _WORDS.search(said):
            if not certain or _STREET.search(said) or _LED.search(view, max(0, span.start - 40), span.start):
                yield span.start, end, "address"
        elif not certain and _postcode(view, span.start, end):
            yield span.start, end, "address"


def _postcode(view: str, start: int, end: int) -> bool:
    """A bare number is part of an address only at the end of a line of its own town or country."""
    said = view[start:end]
    line = view[view.rfind("\n", 0, start) + 1 : start]
    ends = end == len(view) or view[end] == "\n"
    return "\n" in view and ends and said.isdecimal() and 4 <= len(said) <= 6 and any(ch.isalpha() for ch in line)
