"""Choices among candidates that rules make: by id, by head noun, by order of mention, by what the verb asks for."""

from __future__ import annotations

from collections.abc import Sequence

from models.references.candidates import Candidate, asked_kind, code_beside, kind_of, same_head
from models.references.mentions import Anaphor, References
from models.wording import Word, fold

_POINTING = ("这", "那", "该", "the ", "this ", "that ", "these ", "those ")


_STANDING = ("这个", "那个", "this", "that")


def by_head(anaphor: Anaphor, found: Sequence[Candidate], references: References) -> Candidate | None:
    """For "this order", "这个功能": the one thing with an id, or else the one thing, whose head or kind is that."""
    kind = kind_of(anaphor.head, references)
    fits = [
        c
        for c in found
        if fold(c.text) != fold(anaphor.head)
        and (same_head(c.text, anaphor.head) or kind is not None and c.kind == kind)
        and not fold(c.text).startswith(_POINTING)
    ]
    strong = [c for c in fits if c.strong]
    if strong:
        beside = [c for c in found if c.strong and c.turn == strong[0].turn and c.kind == strong[0].kind]
        return strong[0] if len({c.id for c in (*strong, *beside)}) == 1 else None
    if anaphor.text.casefold().startswith("the ") or len({fold(c.text) for c in fits}) != 1:
        return None
    return code_beside(fits[0], found) or fits[0]


def by_order(kind: str, found: Sequence[Candidate], turns: int) -> Candidate | None:
    """For "the former" and "the latter": the first or second of the things named together last."""
    for turn in range(turns - 1, -1, -1):
        named: list[Candidate] = []
        for c in found:
            if c.turn == turn and (not named or c.start >= named[-1].end):
                named.append(c)
        if len(named) >= 2:
            return named[1] if kind == "latter" else named[0]
    return None


def by_verb(
    anaphor: Anaphor, words: Sequence[Word], found: Sequence[Candidate], references: References
) -> Candidate | None:
    """For "it": the candidate of the kind that the verb after it asks for, where there is just one."""
    if anaphor.kind != "thing" and anaphor.text.casefold() not in _STANDING:
        return None
    kind = asked_kind([w.key for w in words[anaphor.last : anaphor.last + 5]], references)
    fits = [c for c in found if c.kind == kind] if kind else []
    return fits[0] if fits and len({fold(c.text) for c in fits}) == 1 else None


_AND = frozenset({"和", "与", "跟", "及", "、", "and", "&"})


def by_number(found: Sequence[Candidate], texts: Sequence[str]) -> Candidate | None:
    """For "they": the one group named, or else two persons named together ("张工和李工")."""
    groups = [c for c in found if c.kind == "group"]
    if groups:
        return groups[0] if len({fold(c.text) for c in groups}) == 1 else None
    for a, b in zip(found, found[1:], strict=False):
        joined = a.turn == b.turn and texts[a.turn][a.end : b.start].strip() in _AND
        if joined and all(
            c.kind == "person" or c.kind is None and c.text.isascii() and c.text.istitle() for c in (a, b)
        ):
            return Candidate(texts[a.turn][a.start : b.end], a.turn, a.start, b.end, "person")
    return None


def by_kind(kind: str, found: Sequence[Candidate]) -> Candidate | None:
    """For "he" and "there": the one person, or the newest place, that was named."""
    wanted = {"person": "person", "place": "facility"}.get(kind)
    fits = [c for c in found if c.kind == wanted] if wanted else []
    if not fits or kind == "person" and len({fold(c.text) for c in fits}) > 1:
        return None
    return fits[0]


def with_id(name: str, found: Sequence[Candidate], references: References) -> Candidate | None:
    """Where an antecedent is itself only a kind ("the order"): the one thing of that kind that has an id."""
    bare = fold(name).removeprefix("the ").removeprefix("这个").removeprefix("该")
    kind = kind_of(bare, references)
    if bare not in references.generic or not kind:
        return None
    strong = [c for c in found if c.strong and (c.kind == kind or bare in fold(c.text))]
    return strong[0] if strong and len({c.id for c in strong}) == 1 else None


def of_two_ids(turn: int, start: int, end: int, found: Sequence[Candidate]) -> bool:
    """Whether an antecedent with an id has a rival with another id in the same turn: then a singular is a guess."""
    strong = [c for c in found if c.strong and c.turn == turn]
    return len({c.id for c in strong}) > 1 and any(start < c.end and c.start < end for c in strong)


def of_many(name: str, turn: int, found: Sequence[Candidate], references: References) -> bool:
    """Whether an antecedent is only the kind of several things with ids in its turn ("two orders, A-1 and A-2"): a singular is a guess."""
    bare = fold(name).removeprefix("the ").removesuffix("s")
    generic = bare in references.generic or kind_of(bare, references) is not None
    return generic and len({c.id for c in found if c.strong and c.turn == turn}) > 1


_SEX = dict.fromkeys(("he", "him", "his", "himself", "他", "他的"), "male")
_SEX |= dict.fromkeys(("she", "her", "hers", "herself", "她", "她的"), "female")


def of_other_sex(pronoun: str, name: str, references: References) -> bool:
    """Whether a name is of the other sex than a pronoun ("she" and Peter, 他 and 王女士)."""
    wanted = _SEX.get(fold(pronoun))
    return wanted is not None and references.sex_of(name) not in (None, wanted)


def may_mean(anaphor: Anaphor, name: str, references: References) -> bool:
    """Whether a pronoun may mean something so named: "they" no system, "it" no person, "she" no man."""
    named = kind_of(name, references)
    someone = named == "person" or references.names_people(name)
    if someone and fold(anaphor.text).endswith("们") and not (name.endswith("们") or any(j in name for j in _AND)):
        return False  # 他们 is more than one person
    if anaphor.kind in ("person", "people"):
        return named not in ("order", "system") and not of_other_sex(anaphor.text, name, references)
    return anaphor.kind not in ("thing", "things") or named != "person"
