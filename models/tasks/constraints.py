"""Hard constraints and answered questions (T5): what must hold for a task, and what the customer already answered."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from models.lexicons import load_lexicon
from models.prefilter import Prefilter
from models.text import narrow

MAX_TEXT = 1500
MAX_ASKED = 500
"""What an agent asks for stands at the end of a turn: so many last characters are read for it."""
MAX_VALUE = 60
"""Longest value of a fact, in characters."""

_SENTENCE = re.compile(r"[^。！？!?\n；;]+[。！？!?\n；;]?")
_THING_ZH = r"(?P<thing>[^，。！？；,.!?您你是的请问能]{2,12}?)"
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:您|你)的{_THING_ZH}(?:是|在|有|要)?(?:多少|哪里|哪儿|哪个|哪些|哪家|什么|几|谁|怎么)",
        rf"(?:请问|想问一下|麻烦问下)?(?:您|你)?(?:的)?{_THING_ZH}(?:是|在)(?:多少|哪里|哪儿|哪个|哪一|什么|几|谁)",
        rf"(?:请|麻烦|方便|需要)(?:您|你)?(?:提供|告知|告诉我|说|报|发|填写|补充|确认)(?:一下|下|我)?(?:您的|你的|您|你)?{_THING_ZH}(?:吗|吧|呢|好吗|$|[，。？！,.?!])",
        r"(?:什么|哪个|哪种|哪款|哪一种|哪家)(?:的)?(?P<thing>(?!时候|事|问题|意思|原因|情况|办法|地方)[^，。！？；,.!?您你是的请问能]{1,8}?)(?:呢|的|呀|啊|比较好|合适){0,2}[？?]",
        r"\b(?:what|which|who|where)(?:'s| is| are| was)? (?:your|the) (?P<thing>[a-z][a-z ]{2,30}?)(?: please| for| to | on|\?|$|,)",
        r"\b(?:may i have|can i have|could i get|could you (?:give|tell|provide|confirm|share|send)(?: me| us)?|please (?:provide|confirm|share|give me|send|tell me)|i(?:'ll)? need|we need)"
        r" (?:your|the) (?P<thing>[a-z][a-z ]{2,30}?)(?: please| for| so| to |\?|\.|$|,)",
        r"\bwhich (?P<thing>[a-z][a-z ]{2,24}?) (?:do|did|would|should|are|is|will|can) (?:you|we|i|it)",
    )
)
_MAY_ASK = re.compile(r"(?i)[?？]|[请麻烦方便需要]|多少|什么|哪|\bplease\b|\bneed\b")
_GIVEN_ZH = re.compile(
    r"^(?:那|嗯|哦|好的?|对|就|你好|您好)*\s*(?:我的|我们的|我|我们)?(?P<thing>[^，。！？；,.!?是的:：]{2,12}?)(?:就?是在?|为|叫|[:：]|改成|改为|在)\s*(?P<value>[^，。！？；!?\n]{1,60})"
)
_GIVEN_EN = re.compile(
    r"(?i)\b(?:my|our|the) (?P<thing>[a-z][a-z ]{2,30}?)(?: is| was|'s|:| are)(?: in| at| on)? (?P<value>[^.;!?\n]{1,60})"
)
_NO_ANSWER = re.compile(
    r"(?i)[?？]|吗$|不知道|不清楚|忘了|不记得|稍等|等一下|(?:don't|do not) know|not sure|let me check|hold on|one moment"
)
_LEAD = re.compile(
    r"(?i)^(?:(?:嗯|哦|好的?|那个?|就|应该|大概|那就|我(?:的|是|在|要|选|住)?|是的?|在|it's|it is|that's|that would be|i'm in|i am in|"
    r"sure|yes|okay|ok|well|my|the|to|in|at)[\s,，、:：]*)+"
)
_TAIL = re.compile(
    r"(?i)(?:吧|的|啊|呀|哦|就行|就好|谢谢|,? ?please|,? ?thanks|,? ?thank you)[。.!！\s]*$|[。.!！\s]+$"
)


class Constraint(Struct, frozen=True):
    """One constraint: its kind and its words as they were said."""

    kind: str
    text: str


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[tuple[str, re.Pattern[str]], ...], frozenset[str], re.Pattern[str]]:
    data: dict[str, Any] = load_lexicon("constraints.toml")
    kinds = tuple((name, re.compile(f"(?i){source}")) for name, source in data["pattern"].items())
    return kinds, frozenset(data["single"]), re.compile("(?i)" + data["not"]["question"])


@lru_cache(maxsize=1)
def _kinds() -> Prefilter:
    return Prefilter([pattern for _, pattern in _patterns()[0]])


@lru_cache(maxsize=1)
def field_names() -> tuple[str, ...]:
    """What a form would ask for (地址, order, size): the last word or ending of such a thing's name."""
    return tuple(load_lexicon("constraints.toml")["fields"].split())


def find_constraints(text: str) -> list[Constraint]:
    """The hard constraints in a customer's turn, each with the clause that says it.

    >>> [c.kind for c in find_constraints("预算不超过五万，只考虑本地供应商。")]
    ['budget', 'supplier']
    """
    question = _patterns()[2]
    found: list[Constraint] = []
    for sentence in _SENTENCE.finditer(narrow(text[:MAX_TEXT]).replace("’", "'")):
        if question.search(sentence.group().strip()):
            continue
        for clause in re.finditer(r"(?:[^，,；;]|(?<=\d),(?=\d))+", sentence.group()):
            words = clause.group().strip(" 。.!！\n")
            kind = _kind_in(words)
            if kind is not None and len(words) <= 160:
                found.append(Constraint(kind, words))
    return found


def add_constraints(known: list[str], new: list[Constraint], limit: int = 12) -> list[str]:
    """The constraints of a task after a turn: a newer one replaces an older of the same single kind; repeats are one."""
    single = _patterns()[1]
    kept = list(known)
    for constraint in new:
        if constraint.kind in single:
            kept = [old for old in kept if _kind_of(old) != constraint.kind]
        if constraint.text not in kept:
            kept.append(constraint.text)
    return kept[-limit:]


def kinds_of(constraints: list[str]) -> set[str]:
    """The single kinds that are among some constraints."""
    _, single, _ = _patterns()
    return {kind for text in constraints if (kind := _kind_of(text)) is not None and kind in single}


def without_kinds(constraints: list[str], kinds: set[str]) -> list[str]:
    """Constraints but for those of some kinds."""
    return [text for text in constraints if _kind_of(text) not in kinds]


@lru_cache(maxsize=1024)
def _kind_of(text: str) -> str | None:
    return _kind_in(text)


def _kind_in(text: str) -> str | None:
    """The first kind of constraint that a clause names."""
    kinds = _patterns()[0]
    return next(
        (name for name, pattern in map(kinds.__getitem__, _kinds().possible(text)) if pattern.search(text)), None
    )


def asked_for(text: str) -> list[str]:
    """What an agent's turn asks the customer for ("请问您的收货城市是哪里？" -> 收货城市).

    >>> asked_for("请问您的收货城市是哪里？"), asked_for("May I have your order number, please?")
    (['收货城市'], ['order number'])
    """
    plain = narrow(text[-MAX_ASKED:]).replace("’", "'")
    things: list[str] = []
    for sentence in _SENTENCE.finditer(plain):
        if not _MAY_ASK.search(sentence.group()):
            continue
        for pattern in _ASKED:
            match = pattern.search(sentence.group())
            if match and (thing := match["thing"].strip().lower()) and thing not in things:
                things.append(thing)
                break
    return things[:4]


def given_facts(text: str) -> list[tuple[str, str]]:
    """(thing, value) pairs that a customer's turn states in so many words: 收货城市是成都."""
    pairs: list[tuple[str, str]] = []
    for sentence in _SENTENCE.finditer(narrow(text[:MAX_TEXT]).replace("’", "'")):
        said = sentence.group().strip()
        if _NO_ANSWER.search(said):
            continue
        for clause in re.split(r"[，,]", said):
            match = _GIVEN_ZH.search(clause.strip()) or _GIVEN_EN.search(clause)
            if match:
                pairs.append((match["thing"].strip().lower(), tidy_value(match["value"])))
    return [(thing, value) for thing, value in pairs if value]


def bare_answer(text: str) -> str | None:
    """A short turn taken as the answer to what was just asked ("成都" -> 成都), or None where it is none."""
    plain = narrow(text[:MAX_TEXT]).strip()
    if len(plain) > MAX_VALUE or _NO_ANSWER.search(plain):
        return None
    value = tidy_value(_LEAD.sub("", plain))
    return value if value and len(value) <= 40 and any(c.isalnum() for c in value) else None


def tidy_value(raw: str) -> str:
    """A value without closing words and stops."""
    value = raw.strip()
    for _ in range(3):
        value = _TAIL.sub("", value).strip(" 「」\"'")
    return value[:MAX_VALUE]
