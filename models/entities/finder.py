"""What an utterance names: strong identifiers, dictionary terms, names, places, organisations, amounts, warehouses.

`id` is what two texts share. Strong ids are canonical (`models.entities.strong_ids`); dictionary terms have their canonical name;
names are narrowed, simplified and lower-cased, so identical names always meet and different ones never do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from models.entities.amounts import find_amounts
from models.entities.chinese_words import tag_chinese
from models.entities.gazetteer import Gazetteer
from models.entities.name_gate import name_gate
from models.entities.strong_ids import find_strong_ids
from models.lexicons import load_lexicon
from models.privacy.chinese_names import MIN_CERTAINTY
from models.privacy.names import MAX_TAGGED, find_names, latin_spans
from models.privacy.spans import PLACEHOLDER, Taken
from models.records import Entity
from models.references.descriptions import find_things
from models.text import narrow, simplify

RANK = ("strong", "dictionary", "warehouse", "amount", "thing", "name")
"""Sources of entities, from the one that wins an overlap to the one that yields."""

_TAGS = {"LOC": "place", "ORG": "organisation", "PER": "person"}
_PLACED = ("LOC", "ORG")
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]{2}")
_WAREHOUSE_EN = re.compile(r"\b(?:[A-Z][a-z]+ ){1,2}[Ww]arehouse\b|\b[Ww]arehouse (?:[A-Z]\b|\d{1,3}\b)")
_HONORIFIC = re.compile(
    "[\u3400-\u9fff]{1,2}(?:工程师|总工|总裁|总监|总经理|副总|姐姐|哥哥|大姐|大哥|工|总|先生|女士|小姐|老师|经理|主任|阿姨|师傅|医生|律师|教授|博士|局长|院长|校长|董|哥|姐)$"
)
_NO_NAME = re.compile("(?:单号|编号|号码|订单|工单|发票|合同|账号|环境|接口|数据库)$")
"""What the tagger takes for an organisation where it only leads up to a number or names a thing."""
Found = tuple[int, int, str, str, str]


@lru_cache(maxsize=1)
def shipped_gazetteer() -> Gazetteer:
    """The dictionary that comes with the package."""
    return Gazetteer.load()


def find_entities(
    text: str, lang: str | None = None, gazetteer: Gazetteer | None = None, *, names: bool = True
) -> list[Entity]:
    """The entities of a text, in order, none overlapping.

    `names=False` leaves out persons, places and organisations, which need the taggers (most of the time spent here).
    """
    view = simplify(narrow(text))
    finds: list[Found] = [(found.start, found.end, "strong", found.type, found.id) for found in find_strong_ids(view)]
    for start, end, entry in (gazetteer or shipped_gazetteer()).find(text):
        finds.append((start, end, "dictionary", entry.type, entry.canonical))
    finds += _warehouses(view)
    for amount in find_amounts(view):
        finds.append((amount.start, amount.end, "amount", "amount", f"{amount.currency or 'amount'} {amount.value:g}"))
    lowered = view.lower()
    if len(lowered) == len(view):
        finds += [(start, end, "thing", "product", lowered[start:end]) for start, end in find_things(lowered)]
    if names:
        finds += _names(view, lang)
    return _settle(text, view, finds)


def _settle(text: str, view: str, finds: list[Found]) -> list[Entity]:
    taken = Taken(match.span() for match in PLACEHOLDER.finditer(view))
    kept: list[Entity] = []
    for start, end, source, kind, id_ in sorted(finds, key=lambda f: (RANK.index(f[2]), f[0] - f[1], f[0])):
        if start < end and taken.add(start, end):
            entity = Entity(id=id_, type=kind, text=text[start:end], start=start, end=end)
            kept.append(msgspec.structs.replace(entity, strength="strong") if source == "strong" else entity)
    return sorted(kept, key=lambda entity: entity.start)


@lru_cache(maxsize=1)
def _warehouse_zh() -> re.Pattern[str]:
    regions = load_lexicon("regions.toml")
    places = sorted({*regions["provinces"].split(), *regions["cities"].split()}, key=lambda name: (-len(name), name))
    areas = "华东|华南|华北|华中|西南|西北|东北|保税|海外|前置|中心|总|区域|[一二三四五六七八九十0-9A-Z]号?"
    return re.compile(
        f"(?:{'|'.join(places)}|{areas})(?:第?[一二三四五六七八九十0-9]号?)?(?:仓库|仓(?!促|位|储|管|单|皇))"
    )


def _warehouses(view: str) -> Iterator[Found]:
    if "仓" in view:
        for match in _warehouse_zh().finditer(view):
            yield *match.span(), "warehouse", "warehouse", match[0].removesuffix("库")
    if "arehouse" in view:
        for match in _WAREHOUSE_EN.finditer(view):
            yield *match.span(), "warehouse", "warehouse", match[0].lower()


def _names(view: str, lang: str | None) -> Iterator[Found]:
    han = _HAN.search(view) is not None
    chinese = han and name_gate().opens(view[:MAX_TAGGED])
    if chinese or not han or _LATIN.search(view):
        for start, end, _ in find_names(view, lang, chinese=chinese):
            yield start, end, "name", "person", _name_id(view[start:end])
    if chinese:
        for word in tag_chinese(view[:MAX_TAGGED]):
            if word.tag == "PER" and _HONORIFIC.match(word.text):
                yield word.start, word.end, "name", "person", word.text
            elif (
                word.tag in _PLACED
                and word.p >= MIN_CERTAINTY
                and len(word.text) > 1
                and not _NO_NAME.search(word.text)
            ):
                yield word.start, word.end, "name", _TAGS[word.tag], _name_id(word.text)
    if _LATIN.search(view):
        for span in latin_spans(view):
            if span.kind in ("LOC", "ORG") and not any(ch.isdigit() for ch in view[span.start : span.end]):
                end = span.end - 2 if view[span.start : span.end].endswith(("'s", "’s")) else span.end
                yield span.start, end, "name", _TAGS[span.kind], _name_id(view[span.start : end])


def _name_id(name: str) -> str:
    return " ".join(name.lower().split())
