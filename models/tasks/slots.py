"""Slots (W4): what a statement says about whom, as (subject, attribute, value, polarity), for conflicts and profiles.

Patterns and word lists stand in ``lexicons/slots.toml``. Only assertions are read: questions, conditions and things long
past give nothing that could replace a memory. High precision matters more than coverage: what is not read here simply coexists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from models.prefilter import Prefilter
from models.privacy.spans import PLACEHOLDER
from models.tasks.slot_lists import Mode, SlotLists, SlotPattern, slot_lists
from models.tasks.slot_values import MAX_TEXT, content_tokens, normal_value, value_kind
from models.text import narrow

_CLAUSE = re.compile(r"[^,，。！？；;!?\n]+")
_SENTENCE_END = re.compile(r"[.。！？!?\n](?=\s|$|[^\w\s])|[。！？!?\n]")
_QUESTION = re.compile(
    r"(?i)(?:吗|么|呢)\s*$|什么|哪[里儿个家些种位]|多少|怎么|谁|几[个点天号]|^\s*(?:do|does|did|is|are|was|were|can|could|will|would"
    r"|should|what|which|where|when|who|how|why)\b"
)
_LATIN = re.compile("[A-Za-z]")
_WAS = re.compile(r"\b(?:was|were)\b")
_STARS = re.compile(r"\*{3,}")
_SELF = re.compile(r"(?i)^(?:i|we|my|our)$")
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


@lru_cache(maxsize=1)
def _prefilter() -> Prefilter:
    return Prefilter([pattern.regex for pattern in slot_lists().patterns])


def read_slots(text: str, *, speaker: str = "self", names: Sequence[str] = (), wish: bool = False) -> list[SlotFact]:
    """What the text asserts, in order of appearance. `speaker` is the subject of "I"; `names` are persons it mentions.

    `wish`: it is known to be meant for good, as another clause says so ("from now on").
    """
    return list(_read_slots(text[:MAX_TEXT], speaker, tuple(names), wish))


@lru_cache(maxsize=256)
def _read_slots(text: str, speaker: str, names: tuple[str, ...], meant: bool) -> tuple[SlotFact, ...]:
    """Cached, since the policy, the writing and the conflicts of one unit read the same text."""
    lists = slot_lists()
    text = narrow(text).replace("’", "'")
    facts: list[SlotFact] = []
    for start, sentence, asked in _sentences(text):
        if lists.doubt.search(sentence):
            continue
        wish = meant or bool(lists.wishes.search(sentence))
        for match in _CLAUSE.finditer(sentence):
            clause = match.group()
            if asked or _QUESTION.search(clause) or PLACEHOLDER.search(clause) or _STARS.search(clause):
                continue
            found = _read_clause(clause, start + match.start(), speaker, names, lists)
            if wish:
                found += _classes(clause, start + match.start(), speaker, lists)
            facts += found
    return tuple(facts)


def _sentences(text: str) -> Iterator[tuple[int, str, bool]]:
    """(offset, sentence, whether it asks)."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, text[start : end.start()], end.group() in "?？"
        start = end.end()
    if start < len(text):
        yield start, text[start:], False


def _read_clause(clause: str, at: int, speaker: str, names: Sequence[str], lists: SlotLists) -> list[SlotFact]:
    facts: list[SlotFact] = []
    latin = len(_LATIN.findall(clause)) * 2 > len(clause)
    for number in _prefilter().possible(clause):
        pattern = lists.patterns[number]
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
    pattern: SlotPattern,
    match: re.Match[str],
    clause: str,
    at: int,
    speaker: str,
    names: Sequence[str],
    lists: SlotLists,
) -> SlotFact | None:
    groups = match.groupdict()
    raw = groups.get("obj") or groups.get("obj2") or groups.get("value") or groups.get("value2") or ""
    value = normal_value(
        raw, of_thing=pattern.mode in ("like", "have", "gone"), thing_only=pattern.mode in ("have", "gone")
    )
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
    pattern: SlotPattern, groups: dict[str, str | None], what: str, kind: str, value: str, lists: SlotLists
) -> bool:
    """Whether "X is Y" gives a person's X a value: a listed attribute, or "my X" with a number, a time or a sum."""
    if not what or what.split(" ")[0] in lists.english_pronouns:
        return False
    listed = what in lists.attributes or any(
        what == f"{owner}{a}" for owner in ("new ", "current ") for a in lists.attributes
    )
    owned = bool(groups.get("owner")) if pattern.lang == "zh" else (groups.get("subj") or "").lower() != "the"
    if kind == "other":
        return listed and pattern.lang == "zh" and not value.startswith(lists.no_value_starts)
    return listed or (owned and kind != "name")


def _classes(clause: str, at: int, speaker: str, lists: SlotLists) -> list[SlotFact]:
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
    pattern: SlotPattern,
    groups: dict[str, str | None],
    before: str,
    speaker: str,
    names: Sequence[str],
    lists: SlotLists,
) -> str | None:
    """Who the statement is about; None where that is somebody unresolved."""
    if pattern.lang == "en":
        subject = re.sub(r"'s$", "", (groups.get("subj") or "i").strip()).lower()
        if _SELF.match(subject) or subject == "the":
            return speaker
        if subject in lists.english_pronouns:
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
