"""All detectors together: ``find_personal_data`` for everything, ``find_never`` for what may never be stored."""

from __future__ import annotations

import re
from collections.abc import Iterator

from models.privacy.chinese_addresses import find_chinese_addresses
from models.privacy.contacts import find_birth_dates, find_contacts
from models.privacy.documents import find_documents, find_plates
from models.privacy.english_addresses import find_english_addresses, find_streets
from models.privacy.health import find_health
from models.privacy.names import find_names, find_tagged_addresses
from models.privacy.numbers import find_numbers, spoken_digits
from models.privacy.secrets import find_secrets
from models.privacy.spans import NEVER_STORE, PersonalData, mask, placeholder, settle
from models.privacy.spoken import find_spoken
from models.text import narrow, simplify

ROUNDS = 4
"""Masking can change what the words beside a find seem to say; it is looked through again until nothing new shows."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_DIGIT = re.compile(r"\d")
_FIGURES = re.compile("[0-9零〇一二三四五六七八九十]")


def load() -> None:
    """Reads every word list and tagger now. Raises ResourceError for one that is missing, malformed or cut short."""
    for sample in (
        "客户王小明，身份证号 1，中山路1号，患有高血压，password is Ab1",
        "John Smith lives at 12 Elm Street, pin 1, has diabetes",
    ):
        find_personal_data(sample)


def find_personal_data(text: str, lang: str | None = None, *, names: bool = True) -> list[PersonalData]:
    """Every piece of personal data in the text, in order, none overlapping. `names=False` leaves person names out."""
    return _find(text, lang, names=names, never=False)


def find_never(text: str, lang: str | None = None) -> list[PersonalData]:
    """Only what may never be stored (`NEVER_STORE`); phone, e-mail, names, plates and preferences are left alone."""
    return _find(text, lang, names=False, never=True)


def mask_never(text: str, lang: str | None = None) -> str:
    """The text with all that may never be stored masked."""
    found = find_never(text, lang)
    return mask(text, found) if found else text


def _find(text: str, lang: str | None, *, names: bool, never: bool) -> list[PersonalData]:
    found = _one_round(text, lang, names=names, never=never)
    for _ in range(ROUNDS):
        if not found:
            break
        masked = mask(text, found)
        more = _one_round(masked, lang, names=names, never=never)
        if not more:
            break
        found = _joined(text, found, more)
    return found


def _joined(text: str, found: list[PersonalData], more: list[PersonalData]) -> list[PersonalData]:
    """Finds in the masked text, moved back to the text itself and added."""
    moved = []
    for item in more:
        shift = 0
        for earlier in found:
            at = earlier.start + shift
            if at >= item.start:
                break
            shift += len(placeholder(earlier)) - (earlier.end - earlier.start)
        start = item.start - shift
        moved.append(PersonalData(start, start + len(item.text), item.type, text[start : start + len(item.text)]))
    return sorted([*found, *moved])


def _one_round(text: str, lang: str | None, *, names: bool, never: bool) -> list[PersonalData]:
    origin: list[int] | None = None
    view = narrow(text)
    if not text.isascii() and _INVISIBLE.search(view):
        origin = [at for at, ch in enumerate(view) if not _INVISIBLE.match(ch)]
        view = "".join([view[at] for at in origin])
    view = simplify(view)
    finds: Iterator[tuple[int, int, str]] | list[tuple[int, int, str]] = _detect(view, lang, names=names, never=never)
    if origin is not None:
        finds = [(origin[start], origin[end - 1] + 1, kind) for start, end, kind in finds if start < end]
    settled = settle(text, finds)
    return [item for item in settled if item.type in NEVER_STORE] if never else settled


def _detect(view: str, lang: str | None, *, names: bool, never: bool) -> Iterator[tuple[int, int, str]]:
    """Raw finds of all detectors on a narrowed, simplified text; the cheap gates keep plain talk fast."""
    spoken = spoken_digits(view)
    if _DIGIT.search(spoken):
        yield from find_numbers(spoken)
        yield from find_documents(view)
        yield from find_english_addresses(view)
        if lang != "zh":
            yield from find_tagged_addresses(view, certain=never)
    if lang != "zh" and not view.isspace():
        yield from find_spoken(view)
    if "@" in view or not never:
        yield from find_contacts(view)
    yield from find_secrets(spoken)
    if not view.isascii() and _FIGURES.search(view):
        yield from find_chinese_addresses(view)
    yield from find_health(view)
    if not never:
        yield from find_streets(view)
        yield from find_plates(view)
        yield from find_birth_dates(view)
    if names:
        yield from find_names(view, lang)
