"""Health and family matters of a person, and other special categories, by word lists and what is said around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from models.lexicons import load_lexicon
from models.word_pattern import WordFinder

Find = tuple[int, int, str]

REACH = 120
"""Characters to either side of a word in which a person or a claim must stand."""

_DIAGNOSED_ZH = re.compile(
    r"(?:确诊(?:为|了|患有|是)?|诊断(?:为|出|是|结果[是为]?)|患(?:有|了|上)|得了|查出(?:来)?(?:了|有|患有)?|罹患|染上了?|检查出(?:来)?(?:了|是|有)?)"
    r"(?P<what>[\u4e00-\u9fffA-Za-z0-9]{1,10}?(?:症|病|癌|炎|瘤|综合征|结石|感染|障碍|中风|骨折|溃疡|结节|囊肿|息肉|硬化|衰竭|出血|血压高|血糖高|血脂高|尿酸高|甲亢|甲减|梗死?))"
)
_TAKES_ZH = re.compile(
    r"(?:服用|口服|吃的是?|在吃|吃着|吃了|每天吃|天天吃|注射|打的是?|用的是|开了|停了|换了)(?P<what>[\u4e00-\u9fffA-Za-z]{1,6}?(?:[他西沙普洛替嘧]?[片丸]|胶囊|口服液|注射液|冲剂|[平林素宁酮胺汀灵](?![\u4e00-\u9fff])|[降抗止镇安避退消]\S{0,3}药))"
)
_DIAGNOSED_EN = re.compile(
    r"\b(?P<verb>diagnosed (?:with|as)|suffer(?:s|ed|ing)? from|tested positive for|treated for|surgery (?:for|on)|recovering from|battling|prescribed|medication for)\s+"
    r"(?:an? |the |my |his |her |stage \w+ |type \d |severe |mild |chronic |acute )*(?P<what>[A-Za-z][A-Za-z'\-]+(?: [a-z][a-z'\-]+){0,2}?)(?=[\s.,;!?]|$)",
    re.IGNORECASE,
)
_ALLERGY = re.compile(r"过敏|過敏|allerg|忌口|不吃|intoleran", re.IGNORECASE)
_PERSON_EN = re.compile(
    r"\b(?:i|i'm|i've|my|me|he|she|his|her|him|mom|mum|dad|mother|father|wife|husband|son|daughter|brother|sister|patient|we|our|they|their|grandma|grandpa"
    r"|grandmother|grandfather|boyfriend|girlfriend|partner|child|baby|kid|uncle|aunt|friend|mr|mrs|ms)\b",
    re.IGNORECASE,
)
_CLAIM_EN = re.compile(
    r"\b(?:have|has|had|having|with|diagnosed|suffer\w*|taking|takes|took|on|prescribed|pregnant|i'm|i am|is|was|got|get|got|due to|because of|went through|going through|getting|filed|undergo\w*"
    r"|my|his|her|from|for)\b",
    re.IGNORECASE,
)
_CLAIM_ZH = re.compile("患|诊断|确诊|服用|得了|吃|做[了过完]|阳性|怀孕了|病史")
_GENERAL = re.compile("吁吁|率|律师|冷静期|协议模板|法|科|医院|医师|医生|学|研究|专家|中心|防治|部")
_LATIN = re.compile("[A-Za-z]{3}")
_ENDS = "。！？；!?;\n."
_VAGUE = frozenset(
    [
        "it",
        "this",
        "that",
        "them",
        "something",
        "anything",
        "nothing",
        "the",
        "a",
        "an",
        "my",
        "your",
        "his",
        "her",
        "him",
        "our",
        "their",
        "more",
        "some",
        "any",
        "all",
        "both",
        "during",
        "by",
        "around",
    ]
)
_MEDICAL = re.compile(
    r"(?:itis|osis|emia|aemia|oma|pathy|plegia|algia|syndrome|disease|disorder|cancer|deficiency|infection|tumou?r)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _lists() -> dict[str, WordFinder]:
    table = load_lexicon("privacy.toml")
    health, sensitive = table["health"], table["sensitive"]
    return {
        "health_zh": WordFinder(" ".join((health["conditions_zh"], health["treatments_zh"], health["medicines_zh"]))),
        "health_en": WordFinder(" ".join((health["conditions_en"], health["medicines_en"]))),
        "family_zh": WordFinder(health["family_zh"]),
        "family_en": WordFinder(health["family_en"]),
        "person_zh": WordFinder(health["persons_zh"]),
        "sensitive_zh": WordFinder(sensitive["zh"]),
        "sensitive_en": WordFinder(sensitive["en"]),
    }


def find_health(view: str) -> Iterator[Find]:
    """Diagnoses, treatment, medicines (`health`), family matters (`family`) and other categories (`sensitive`)."""
    lowered = view.lower()
    if len(lowered) != len(view):
        lowered = view
    if not view.isascii():
        yield from _chinese(view, lowered)
    if _LATIN.search(view):
        yield from _english(view, lowered)


def _chinese(view: str, lowered: str) -> Iterator[Find]:
    lists = _lists()
    for pattern in (_DIAGNOSED_ZH, _TAKES_ZH):
        for match in pattern.finditer(view):
            yield *match.span("what"), "health"
    for name, kind in (("health_zh", "health"), ("family_zh", "family")):
        for start, end in lists[name].spans(lowered):
            clause = _clause(view, start)
            general = _GENERAL.match(view, end)
            if not general and not _ALLERGY.search(_part(view, start)) and _said_of_a_person(clause, end - start):
                yield start, end, kind
    for start, end in lists["sensitive_zh"].spans(lowered):
        yield start, end, "sensitive"


def _said_of_a_person(clause: str, length: int) -> bool:
    """Whether the clause says it of somebody, or says nothing but that."""
    if len(clause) <= length + 2 or _CLAIM_ZH.search(clause):
        return True
    return bool(_lists()["person_zh"].spans(clause))


def _english(view: str, lowered: str) -> Iterator[Find]:
    lists = _lists()
    for match in _DIAGNOSED_EN.finditer(view):
        first = match["what"].lower().split()[0]
        certain = match["verb"].lower().startswith(("diagnosed with", "tested"))
        if first not in _VAGUE and (certain or _MEDICAL.search(match["what"])):
            yield *match.span("what"), "health"
    for name, kind in (("health_en", "health"), ("family_en", "family")):
        for start, end in lists[name].spans(lowered):
            clause = _clause(view, start)
            if not _ALLERGY.search(_part(view, start)) and _PERSON_EN.search(clause) and _CLAIM_EN.search(clause):
                yield start, end, kind
    for start, end in lists["sensitive_en"].spans(lowered):
        yield start, end, "sensitive"


_PART = re.compile(
    r"[，,。！？；!?;\n]|\.\s|(?:还有|也有|而且|并且|同时)|\b(?:and|but) (?:i|he|she|we|my|his|her|also|has|have)\b",
    re.IGNORECASE,
)


def _part(view: str, at: int) -> str:
    """The part of a sentence around an offset: an allergy named in another part says nothing about this one."""
    left, right = max(0, at - REACH), min(len(view), at + REACH)
    cuts = [match.span() for match in _PART.finditer(view, left, right)]
    start = max([left, *(end for _, end in cuts if end <= at)])
    return view[start : min([right, *(begin for begin, _ in cuts if begin >= at)])]


def _clause(view: str, at: int) -> str:
    """The sentence around an offset, at most `REACH` characters to either side."""
    left, right = max(0, at - REACH), at + REACH
    start = max([left, *(view.rfind(mark, left, at) + 1 for mark in _ENDS)])
    return view[start : min([right, *(end for mark in _ENDS if (end := view.find(mark, at, right)) >= 0)])]
