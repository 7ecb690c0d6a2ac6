"""Slots (W4): what a statement says about whom, as (subject, attribute, value, polarity), for conflicts and profiles.

Patterns and word lists stand in ``lexicons/slots.toml``. Only assertions are read: questions, conditions and things long
past give nothing that could replace a memory. High precision matters more than coverage: what is not read here simply coexists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from models.lexicons import load_lexicon
from models.text import narrow
from models.wording import split_words

Mode = Literal["value", "like", "have", "gone", "many"]
MAX_TEXT = 2000
"""Characters read at most; memory units are far shorter."""

_CLAUSE = re.compile(r"[^,，。！？；;!?\n]+")
_SENTENCE_END = re.compile(r"[.。！？!?\n](?=\s|$|[^\w\s])|[。！？!?\n]")
_QUESTION = re.compile(
    r"(?i)(?:吗|么|呢)\s*$|什么|哪[里儿个家些种位]|多少|怎么|谁|几[个点天号]|^\s*(?:do|does|did|is|are|was|were|can|could|will|would"
    r"|should|what|which|where|when|who|how|why)\b"
)
_WAS = re.compile(r"\b(?:was|were)\b")
_MASKED = re.compile(r"\[[a-z_]{2,20}:\d{1,6}\]|\*{3,}")
_MONEY = re.compile(
    r"[¥$€£]\s?\d|\d[\d,.]*\s*(?:元|块|万|美元|dollars|euros|yuan|usd|rmb)|[一二三四五六七八九十百千万两]+(?:元|块|万)"
)
_TIME = re.compile(
    r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|tomorrow|tonight|noon)\b|\b\d{1,2}(?::\d\d)?\s?(?:am|pm)\b|\b\d{1,2}:\d\d\b|周[一二三四五六日天末]"
    r"|星期|[月日号]$|\d[月日号点]|明天|后天|下午|上午|晚上|点半|\b\d{4}-\d\d-\d\d"
)
_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万两]{2,}")
_NAME = re.compile(r"\b[A-Z][a-z]+|\b[A-Z]{2,}")
_SELF = re.compile(r"(?i)^(?:i|we|my|our)$")
_EN_PRONOUN = frozenset(
    [
        "he",
        "she",
        "it",
        "they",
        "this",
        "that",
        "these",
        "those",
        "there",
        "what",
        "who",
        "which",
        "you",
        "everyone",
        "someone",
        "nobody",
    ]
)
_ZH_SELF = re.compile(r"(?:我们家|我们|我家|本人|咱们?|俺|我)$")
_ZH_OTHER = re.compile(r"(?:[你您他她它](?:们)?|谁|大家|有人|人家)$")


class SlotFact(Struct, frozen=True, kw_only=True):
    """One reading: `value` is normalised, `tokens` its content words.

    `polarity` is -1 for a denial or dislike. `change` and `addition` say that the statement itself speaks of replacing
    ("now", 改成) or of adding ("also", 也). `start`, `end` are those of its clause. `kind` (money, time, number, name, other) keeps unlike values from fighting.
    """

    subject: str
    attribute: str
    value: str
    tokens: tuple[str, ...] = ()
    polarity: int = 1
    mode: Mode = "value"
    kind: str = "other"
    generic: bool = False
    change: bool = False
    addition: bool = False
    past: bool = False
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """The attribute with its object where the object is part of what it is about ("preference:chinese food")."""
        return f"{self.attribute}:{self.value}" if self.mode in ("like", "have", "gone", "many") else self.attribute


class _Pattern(Struct, frozen=True):
    lang: str
    mode: Mode
    attribute: str
    regex: re.Pattern[str]
    requires: re.Pattern[str] | None
    generic: bool


class _Lists(Struct, frozen=True):
    patterns: tuple[_Pattern, ...]
    negative: frozenset[str]
    stop: frozenset[str]
    articles: frozenset[str]
    en_tail: tuple[str, ...]
    en_light: tuple[str, ...]
    zh_tail: tuple[str, ...]
    zh_light: tuple[str, ...]
    zh_head: tuple[str, ...]
    relations: tuple[str, ...]
    fillers: tuple[str, ...]
    change: re.Pattern[str]
    addition: re.Pattern[str]
    past: re.Pattern[str]
    doubt: re.Pattern[str]
    wishes: re.Pattern[str]
    attributes: frozenset[str]
    classes: tuple[tuple[str, re.Pattern[str]], ...]


def words_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """One alternation over words ("_" stands for a blank), longest first; Latin ones with word boundaries."""
    latin = sorted((w for w in words if w.isascii()), key=lambda w: (-len(w), w))
    other = sorted((w for w in words if not w.isascii()), key=lambda w: (-len(w), w))
    parts = [r"\b(?:" + "|".join(re.escape(w.replace("_", " ")) for w in latin) + r")\b"] if latin else []
    return re.compile("(?i)" + "|".join(parts + [re.escape(w) for w in other]))


def _long_first(text: str) -> tuple[str, ...]:
    return tuple(sorted((w.replace("_", " ") for w in text.split()), key=lambda w: (-len(w), w)))


@lru_cache(maxsize=1)
def _lists() -> _Lists:
    data = load_lexicon("slots.toml")
    patterns = tuple(
        _Pattern(
            p["lang"],
            p["mode"],
            p["attribute"],
            re.compile(p["regex"]),
            re.compile(p["requires"]) if "requires" in p else None,
            p.get("generic", False),
        )
        for p in data["pattern"]
    )
    negative = {w.replace("_", " ") for key in ("en_negative", "zh_negative") for w in data[key].split()}
    return _Lists(
        patterns=patterns,
        negative=frozenset(negative),
        stop=frozenset(data["stop_objects"].split()),
        articles=frozenset(data["articles"].split()),
        en_tail=_long_first(data["en_tail"]),
        en_light=_long_first(data["en_light"]),
        zh_tail=_long_first(data["zh_tail"]),
        zh_light=_long_first(data["zh_light"]),
        zh_head=_long_first(data["zh_measures"] + " " + data["zh_colours"]),
        relations=_long_first(data["relations"]),
        fillers=_long_first(data["fillers"]),
        change=words_pattern(data["change"].split()),
        addition=words_pattern(data["addition"].split()),
        past=words_pattern(data["past"].split()),
        doubt=words_pattern(data["doubt"].split()),
        wishes=re.compile(rf"(?i)\b(?:{data['wishes']['en']})\b|{data['wishes']['zh']}"),
        attributes=frozenset("|".join(data["attributes"].values()).split("|")),
        classes=tuple((name, _class_pattern(table["values"])) for name, table in sorted(data["classes"].items())),
    )


def _class_pattern(values: str) -> re.Pattern[str]:
    """A closed-class value where it is really chosen: after "in", "by", 用 … or before "only", 沟通 …"""
    words = _long_first(values)
    en = "|".join(re.escape(w) for w in words if w.isascii())
    zh = "|".join(re.escape(w) for w in words)
    return re.compile(
        rf"(?i)\b(?:in|via|by|over|through|use|using|as|to|prefer|only|with|rather|me|on) (?:my |a |the )?(?P<a>{en})\b"
        rf"|\b(?P<b>{en}) (?:only|please|instead|over|rather)\b"
        rf"|(?:用|发|按|走|成|是|要|只|说|讲|以|通过|偏好|习惯|喜欢|为|接受)(?P<c>{zh})"
        rf"|(?P<d>{zh})(?:沟通|联系|付款|付|回复|交流|显示|格式|版|就行|就好|吧)"
    )


def read_slots(text: str, *, speaker: str = "self", names: Sequence[str] = ()) -> list[SlotFact]:
    """What the text asserts, in order of appearance. `speaker` is the subject of "I"; `names` are persons it mentions."""
    return list(_read_slots(text[:MAX_TEXT], speaker, tuple(names)))


@lru_cache(maxsize=256)
def _read_slots(text: str, speaker: str, names: tuple[str, ...]) -> tuple[SlotFact, ...]:
    """Cached, since the policy, the writing and the conflicts of one unit read the same text."""
    lists = _lists()
    text = narrow(text).replace("’", "'")
    facts: list[SlotFact] = []
    for start, sentence, asked in _sentences(text):
        if lists.doubt.search(sentence):
            continue
        wish = bool(lists.wishes.search(sentence))
        for match in _CLAUSE.finditer(sentence):
            clause = match.group()
            if asked or _QUESTION.search(clause) or _MASKED.search(clause):
                continue
            found = _read_clause(clause, start + match.start(), speaker, names, lists)
            if wish:
                found += _classes(clause, start + match.start(), speaker, lists)
            facts += found
    return tuple(facts)


def content_tokens(text: str) -> frozenset[str]:
    """The content words of a text, folded: what two statements must share to say the same."""
    lists = _lists()
    words = (w.key for w in split_words(narrow(text[:MAX_TEXT])))
    return frozenset(w for w in words if w not in lists.articles and w not in _FUNCTION and any(c.isalnum() for c in w))


_FUNCTION = frozenset(
    [
        "i",
        "we",
        "you",
        "he",
        "she",
        "it",
        "they",
        "me",
        "my",
        "is",
        "am",
        "are",
        "was",
        "were",
        "be",
        "been",
        "to",
        "of",
        "in",
        "on",
        "at",
        "for",
        "with",
        "and",
        "or",
        "but",
        "so",
        "that",
        "this",
        "not",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "will",
        "would",
        "please",
        "just",
        "note",
        "keep",
        "mind",
        "also",
        "again",
        "no",
        "yes",
        "actually",
        "wrong",
        "mistake",
        "mistaken",
        "correction",
        "got",
        "'s",
        "'re",
        "'ve",
        "'m",
        "我",
        "我们",
        "你",
        "您",
        "他",
        "她",
        "它",
        "的",
        "了",
        "是",
        "在",
        "对",
        "有",
        "也",
        "都",
        "就",
        "和",
        "与",
        "及",
        "啊",
        "吧",
        "呢",
        "吗",
        "呀",
        "哦",
        "提醒",
        "一下",
        "记得",
        "请",
        "麻烦",
        "说",
        "再",
        "又",
        "还",
        "很",
        "真的",
        "其实",
        "这",
        "那",
        "个",
        "一",
        "一个",
        "会",
        "记错",
        "不对",
        "更正",
        "错",
    ]
)


def _sentences(text: str) -> Iterator[tuple[int, str, bool]]:
    """(offset, sentence, whether it asks)."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, text[start : end.start()], end.group() in "?？"
        start = end.end()
    if start < len(text):
        yield start, text[start:], False


def _read_clause(clause: str, at: int, speaker: str, names: Sequence[str], lists: _Lists) -> list[SlotFact]:
    facts: list[SlotFact] = []
    latin = sum(c.isascii() and c.isalpha() for c in clause) * 2 > len(clause)
    for pattern in lists.patterns:
        if (pattern.lang == "en") != latin or (pattern.generic and facts):
            continue
        if pattern.requires and not pattern.requires.search(clause):
            continue
        match = pattern.regex.search(clause)
        fact = match and _fact(pattern, match, clause, at, speaker, names, lists)
        if fact:
            facts.append(fact)
    return facts


def _fact(
    pattern: _Pattern, match: re.Match[str], clause: str, at: int, speaker: str, names: Sequence[str], lists: _Lists
) -> SlotFact | None:
    groups = match.groupdict()
    raw = groups.get("obj") or groups.get("obj2") or groups.get("value") or groups.get("value2") or ""
    value = normal_value(raw, of_thing=pattern.mode in ("like", "have", "gone"))
    subject = _subject(pattern, groups, clause[: match.start()], speaker, names, lists)
    if not value or subject is None or value.split(" ")[0] in lists.stop or raw.startswith("的"):
        return None
    what = normal_value(groups.get("what") or "")
    kind = value_kind(raw)
    if pattern.generic and not _is_attribute(pattern, groups, what, kind, value, lists):
        return None
    verb = (groups.get("verb") or "").lower()
    negative = verb in lists.negative
    if groups.get("neg") or (
        pattern.mode in ("many", "value") and re.search(r"(?i)\b(?:not|no longer|never)\b|不再|不是", match.group())
    ):
        negative = not negative
    return SlotFact(
        subject=subject,
        attribute=pattern.attribute.replace("{what}", what),
        value=value,
        tokens=tuple(sorted(content_tokens(value)))[:6],
        polarity=-1 if negative else 1,
        mode=pattern.mode,
        kind=kind if pattern.generic else "other",
        generic=pattern.generic,
        change=bool(lists.change.search(clause)),
        addition=bool(lists.addition.search(clause)),
        past=bool(lists.past.search(clause)) or (not pattern.generic and bool(_WAS.search(match.group()))),
        start=at,
        end=at + len(clause),
    )  # fmt: skip


def _is_attribute(
    pattern: _Pattern, groups: dict[str, str | None], what: str, kind: str, value: str, lists: _Lists
) -> bool:
    """Whether "X is Y" gives a person's X a value: a listed attribute, or "my X" with a number, a time or a sum."""
    if not what or what.split(" ")[0] in _EN_PRONOUN:
        return False
    listed = what in lists.attributes or any(
        what == f"{owner}{a}" for owner in ("new ", "current ") for a in lists.attributes
    )
    owned = bool(groups.get("owner")) if pattern.lang == "zh" else (groups.get("subj") or "").lower() != "the"
    if kind == "other":
        return listed and pattern.lang == "zh" and not value.startswith(_NO_VALUE)
    return listed or (owned and kind != "name")


_NO_VALUE = tuple(["很", "太", "非常", "特别", "让", "要", "为", "指", "因", "这", "那", "比", "挺", "真", "不", "有", "一个", "能", "会", "想"])


def _classes(clause: str, at: int, speaker: str, lists: _Lists) -> list[SlotFact]:
    facts = []
    for name, pattern in lists.classes:
        match = pattern.search(clause)
        if match:
            value = next(g for g in match.groups() if g)
            facts.append(
                SlotFact(
                    subject=speaker, attribute=f"wish:{name}", value=value.lower(), tokens=(value.lower(),), change=True,
                    start=at, end=at + len(clause),
                )
            )  # fmt: skip
    return facts


def _subject(
    pattern: _Pattern, groups: dict[str, str | None], before: str, speaker: str, names: Sequence[str], lists: _Lists
) -> str | None:
    """Who the statement is about; None where that is somebody unresolved."""
    if pattern.lang == "en":
        subject = re.sub(r"'s$", "", (groups.get("subj") or "i").strip()).lower()
        if _SELF.match(subject) or subject == "the":
            return speaker
        if subject in _EN_PRONOUN:
            return None
        return f"{speaker}/{subject[3:]}" if subject.startswith("my ") else subject
    before = before.strip()
    stripped = True
    while stripped and before:
        stripped = next((before[: -len(f)].strip() for f in lists.fillers if before.endswith(f)), None) is not None
        if stripped:
            before = next(before[: -len(f)].strip() for f in lists.fillers if before.endswith(f))
    if not before or _ZH_SELF.search(before):
        return speaker
    if _ZH_OTHER.search(before):
        return None
    for name in names:
        if name and before.endswith(name):
            return name.lower()
    for relation in lists.relations:
        if before.endswith(relation):
            return f"{speaker}/{relation}"
    return speaker if before.endswith(("我的", "我们的")) else None


def normal_value(raw: str, of_thing: bool = False) -> str:
    """A value without articles and tails, lower case; of a thing also without measure words, colours and light verbs.

    >>> normal_value("the Honda Civic now"), normal_value("吃川菜了", of_thing=True)
    ('honda civic', '川菜')
    """
    lists = _lists()
    value = narrow(raw).strip(" '\"“”「」《》-:：").lower()
    if value.isascii():
        value = _strip_tail(value, tuple(" " + t for t in lists.en_tail))
        for light in lists.en_light:
            if value.startswith(light + " ") and len(value) > len(light) + 2:
                value = value[len(light) + 1 :]
                break
        words = value.split()
        while len(words) > 1 and words[0] in lists.articles:
            words = words[1:]
        return " ".join(words)
    value = _strip_tail(value, lists.zh_tail)
    if not of_thing:
        return value.removeprefix("的").strip()
    for heads in (lists.zh_light, lists.zh_head, lists.zh_head):
        value = next((value[len(h) :] for h in heads if value.startswith(h) and len(value) > len(h)), value)
    return value.removeprefix("的").strip()


def _strip_tail(value: str, tails: tuple[str, ...]) -> str:
    for _ in range(4):
        tail = next((t for t in tails if value.endswith(t) and len(value) > len(t)), None)
        if tail is None:
            return value
        value = value[: -len(tail)].rstrip()
    return value


def value_kind(raw: str) -> str:
    """money, time, number, name or other."""
    for kind, pattern in (("money", _MONEY), ("time", _TIME), ("number", _DIGIT), ("name", _NAME)):
        if pattern.search(raw):
            return kind
    return "other"
