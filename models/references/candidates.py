"""What an earlier turn offers as an antecedent: names, ids and noun phrases, their kind, and descriptions bound to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from models.context import Turn
from models.entities.strong_ids import find_strong_ids
from models.records import Entity
from models.references.descriptions import describe
from models.references.mentions import References
from models.text import narrow
from models.wording import CJK, fold, is_cjk

_ID = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9\-_]*\d)[A-Za-z]{1,8}[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9])")
_MOST = 24
"""Most candidates taken from one turn."""


class Candidate(Struct, frozen=True):
    """A possible antecedent in turn ``turn`` (index into the context). ``strong``: it holds an id."""

    text: str
    turn: int
    start: int
    end: int
    kind: str | None = None
    strong: bool = False
    id: str | None = None


def candidates(context: Sequence[Turn], first: int, references: References) -> list[Candidate]:
    """Candidates of the turns from ``first`` on, newest turn first, in each turn from left to right."""
    found: list[Candidate] = []
    for index in range(len(context) - 1, first - 1, -1):
        turn = context[index]
        text = turn.text[:2000]
        phrases = _phrases(text, references)
        own = [_of_entity(e, index, references) for e in entities_of(turn) if e.end <= len(text)]
        for start, end in _ids(text):
            if not any(c.start < end and start < c.end for c in own):
                own.append(Candidate(text[start:end], index, start, end, None, True, fold(text[start:end])))
        covered = [(c.start, c.end) for c in own]
        for name, start, end, kind in phrases:
            if not any(a <= start and end <= b for a, b in covered):
                strong = next((c for c in own if c.strong and start <= c.start and c.end <= end), None)
                own.append(Candidate(name, index, start, end, kind, strong is not None, strong.id if strong else None))
        own.sort(key=lambda c: (c.start, -c.end))
        found.extend(own[:_MOST])
    return found


@lru_cache(maxsize=1024)
def _ids(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(m.span() for m in _ID.finditer(text))


@lru_cache(maxsize=1024)
def _phrases(text: str, references: References) -> tuple[tuple[str, int, int, str | None], ...]:
    """Noun phrases with their kind: turns are read again and again."""
    return tuple((text[a:b], a, b, kind_of(text[a:b], references)) for a, b in noun_phrases(text, references))


_ENTITY_KINDS = {
    "order": "order", "tracking": "order", "booking": "order", "refund": "order", "person": "person", "warehouse": "facility",
    "organisation": "facility", "place": "facility", "environment": "system", "system": "system", "service": "system",
}  # fmt: skip
UNNAMED = ("amount", "phone", "email", "url", "error", "time")
"""Kinds of entities that no pronoun is taken to mean."""


def entities_of(turn: Turn) -> Sequence[Entity]:
    """The entities read in a turn; where none were read, its strong ids."""
    return [e for e in turn.entities if e.type not in UNNAMED] if turn.entities else _strong(turn.text[:2000])


@lru_cache(maxsize=1024)
def _strong(text: str) -> tuple[Entity, ...]:
    return tuple(
        Entity(id=i.id, type=i.type, text=text[i.start : i.end], start=i.start, end=i.end, strength="strong")
        for i in find_strong_ids(narrow(text))
        if i.type not in UNNAMED
    )


def _of_entity(entity: Entity, turn: int, references: References) -> Candidate:
    kind = next((k for part, k in _ENTITY_KINDS.items() if part in entity.type.casefold()), None)
    kind = kind or kind_of(entity.text, references)
    return Candidate(entity.text, turn, entity.start, entity.end, kind, entity.strength == "strong", entity.id)


@lru_cache(maxsize=8192)
def kind_of(name: str, references: References) -> str | None:
    """The kind that a name's ending or beginning tells, or None."""
    key = fold(name)
    last = key.rsplit(" ", 1)[-1] if not is_cjk(key[-1:]) else key
    for kind, lists in references.kinds.items():
        if any(last == e if not is_cjk(e) else key.endswith(e) for e in lists.get("ends", ())):
            return kind
        if any(key.startswith(b) for b in lists.get("begins", ())):
            return kind
    return None


def asked_kind(words: Sequence[str], references: References) -> str | None:
    """The kind that the verb after a pronoun asks for ("它现在停工了": a facility); None where none or two do."""
    hits = {
        kind
        for kind, lists in references.kinds.items()
        for w in words
        if w in lists["does"] or is_cjk(w) and any(len(d) > 1 and d in w for d in lists["does"])
    }
    return hits.pop() if len(hits) == 1 else None


@lru_cache(maxsize=1024)
def noun_phrases(text: str, references: References) -> Sequence[tuple[int, int]]:
    """Noun phrases: Chinese runs of nouns with their ids, English names and determiner phrases. Turns are read again and again."""
    found = [(m.start(), m.start() + len(m.group().rstrip(".-&'"))) for m in _ENGLISH_NP.finditer(text)]
    if re.search(f"[{CJK}]", text):
        found.extend(_chinese_phrases(text, references))
    return tuple(found)


_ENGLISH_NP = re.compile(
    r"\b(?:[Oo]rder|[Tt]icket|[Ii]nvoice|[Pp]arcel)(?: number| no\.?)? #?[A-Z]{0,4}-?\d[\w-]*"
    r"|(?<![.!?] )(?<!^)\b[A-Z][\w'&.-]*(?: (?:of |the |and )?[A-Z0-9][\w'&.-]*){0,4}"
    r"|\b(?:[Aa]n?|[Tt]he|[Mm]y|[Oo]ur|[Yy]our) (?:[A-Za-z][\w-]* ){0,2}?[a-z][\w-]*(?=[,.;!?]| (?:is|was|are|were|has|had|from|for|in|on|at|with|that|which|last|this|and|or|to|yesterday|today)\b|$)"
)
_NOT_NOUNS = {"有关", "店里", "家里", "时候", "问题", "时间", "今天", "明天", "昨天", "现在", "请", "老", "人"}


def _chinese_phrases(text: str, references: References) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = [m.span() for m in references.titled.finditer(text)]
    at, start, end, lead = 0, -1, -1, 0
    for part, tag in [*references.tags(text), ("。", "x")]:
        begin, at = at, at + len(part)
        named = (
            tag[:1] == "n" and part not in _NOT_NOUNS or tag in ("eng", "vn", "j") or _ID.fullmatch(part) is not None
        )
        if named and part not in references.verbs:
            if start < 0:  # verbs before a technical noun belong to it: 支付回调接口
                start = lead if part in references.nouns and 0 <= lead < begin else begin
            end = at
        elif part == " " and start >= 0 or part == "的" and start >= 0 and end == begin and end - start <= 4:
            continue
        elif start < 0 and tag in ("a", "b"):
            start, end = begin, at
        else:
            if start >= 0 and end - start >= 2:
                found.append((start, end))
            start = end = -1
        lead = at if tag in ("x", "uj") else lead if lead >= 0 and tag == "v" and len(part) == 2 else -1
    return found


def described(text: str, head: str, found: Sequence[Candidate]) -> Candidate | None:
    """The one candidate that a weak description ("那个蓝色的盒子", "the blue box") fits; None if none or several do.

    A candidate fits by colour and by its head; a code said in the same turn stands for what was described there.
    """
    wanted = describe(text)
    if not wanted.colours:
        return None
    scored: list[tuple[float, Candidate]] = []
    for c in found:
        known = describe(c.text)
        alike = same_head(c.text, head)
        if known.colours & wanted.colours and (c.strong or alike):
            scored.append((2.0 * alike + 0.5 * c.strong, c))
    if not scored or len({c.id for _, c in scored if c.strong}) > 1:
        return None
    scored.sort(key=lambda pair: (-pair[0], -pair[1].turn, pair[1].start))
    best = scored[0][1]
    code = code_beside(best, found)
    colours = describe(code.text).colours if code else frozenset()
    return code if code and not colours - wanted.colours else best


def code_beside(thing: Candidate, found: Sequence[Candidate]) -> Candidate | None:
    """The one product code said in the same turn as a thing without one."""
    if thing.strong:
        return None
    near = sorted((c for c in found if c.turn == thing.turn and c.strong and c.kind is None), key=lambda c: len(c.text))
    return near[0] if len({c.id for c in near}) == 1 else None


def same_head(name: str, head: str) -> bool:
    """Whether a name's head noun is the described one: the same word, a compound of it (收纳盒, 盒子) or the same kind."""
    a, b = fold(name), fold(head)
    if not a or not b:
        return False
    if describe(a[-6:] if is_cjk(a[-1]) else a).kinds & describe(b).kinds:
        return True
    if is_cjk(b[-1]):
        core = b[:-1] if len(b) > 1 and b[-1] in "子儿" else b
        return a.endswith((b, core)) or len(core) > 1 and core in a[-4:]
    return a.split()[-1].rstrip("s") == b.split()[-1].rstrip("s")
