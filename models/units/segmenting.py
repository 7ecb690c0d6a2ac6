"""Which neighbouring statements stay together as one memory unit (E1 merging, E3, E4), within bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from models.lexicons import FOLDER, read_patterns
from models.records import UnitType
from models.units.clauses import Clause
from models.units.token_count import count_tokens
from models.units.unit_types import flatten

LEXICON = FOLDER / "segmenting.toml"
MERGE_ENTROPY = 0.42
"""Statements of different sentences merge only if both lie below this."""
MAX_TOKENS = 48
"""Tokens of a merged unit: so that its summary of 50 can keep all of it."""
SURE = 0.4
"""A type read with less than this does not part statements of one sentence."""
TOLD, RAISED = 8, 0.6
"""An act that is asked for or promised, above this entropy, parts from an account of at least so many tokens before it."""
RAISING = frozenset({"action_request", "question", "commitment", "decision", "complaint"})
FRAGMENT = 4
"""A unit of so few tokens ("From now on,") belongs to what follows in its sentence."""
ACCOUNT = frozenset({"fact", "event"})
LASTING = frozenset({"identity", "preference", "constraint"})
"""Each is kept, looked up and replaced by itself: two kinds of these never make one unit."""
ACTS = frozenset(
    {
        "action_request",
        "commitment",
        "complaint",
        "preference",
        "decision",
        "correction",
        "question",
        "refusal",
        "hypothesis",
    }
)


class Statement(Struct, frozen=True, kw_only=True):
    """A clause or chain of clauses between marks, with what was read in it."""

    text: str
    start: int
    end: int
    clauses: tuple[Clause, ...]
    entropy: float
    type: UnitType
    chance: float
    cues: frozenset[str]
    small_talk: bool
    priority: bool
    backing: bool
    opens_sentence: bool
    after_pause: bool


Patterns = Mapping[str, re.Pattern[str]]


def read_joining(path: Path = LEXICON) -> Patterns:
    """The expressions of ``segmenting.toml``. Raises ResourceError with file and line if one is missing or malformed."""
    begins = ("new_topic", "depends_back", "depends_on", "reported")
    return read_patterns(path, (*begins, "topic_only", "reporting"), begins)


@lru_cache(maxsize=1)
def shipped_joining() -> Patterns:
    """The shipped expressions, read once."""
    return read_joining()


def group(statements: Sequence[Statement], patterns: Patterns | None = None) -> list[tuple[int, int]]:
    """Runs ``(first, last)`` of statements that make one unit; together they are all of them, in order."""
    if not statements:
        return []
    patterns = patterns or shipped_joining()
    runs = [[0, 1]]
    size = count_tokens(statements[0].text)
    for i in range(1, len(statements)):
        more = count_tokens(statements[i].text)
        if size + more <= MAX_TOKENS and joins(statements[runs[-1][0] : i], statements[i], patterns):
            runs[-1][1] = i + 1
            size += more
        else:
            runs.append([i, i + 1])
            size = more
    return [(first, last) for first, last in runs]


def joins(unit: Sequence[Statement], after: Statement, patterns: Patterns) -> bool:
    """Whether a statement belongs to the unit before it."""
    last = unit[-1]
    if after.small_talk or last.small_talk:
        return after.small_talk and last.small_talk
    flat, before = flatten(after.text), flatten(last.text)
    if len(unit) == 1 and not after.opens_sentence and patterns["reporting"].search(before):
        return True  # who demands or says it stays with what is demanded
    if after.priority or any(s.priority for s in unit):
        return _backs(unit, after)
    if after.after_pause or patterns["new_topic"].search(flat):
        return False
    if patterns["topic_only"].search(before) or (len(unit) == 1 and count_tokens(last.text) <= FRAGMENT):
        return not after.opens_sentence
    if after.opens_sentence:
        return after.entropy < MERGE_ENTROPY and all(
            s.entropy < MERGE_ENTROPY and _alike(s.type, after.type) for s in unit
        )
    if patterns["reported"].search(flat):
        return False
    if patterns["depends_on"].search(before) or patterns["depends_back"].search(flat):
        return True
    return _compatible(unit, after)


def _alike(one: UnitType, other: UnitType) -> bool:
    return one == other or (one in ACCOUNT and other in ACCOUNT)


def _backs(unit: Sequence[Statement], after: Statement) -> bool:
    """An authority clause joins only the clause it backs: "…, 这是老板亲自交代的"."""
    if after.opens_sentence or not (after.priority and after.backing):
        return False
    return len(unit) == 1 and not unit[0].small_talk


def _compatible(unit: Sequence[Statement], after: Statement) -> bool:
    """Within a sentence: same kind of act, or one of them only states and adds to the other."""
    kinds = {s.type for s in unit if s.chance >= SURE and s.type in ACTS}
    lasting = {s.type for s in unit if s.chance >= SURE and s.type in LASTING}
    if after.chance >= SURE and after.type in LASTING and lasting - {after.type}:
        return False
    if after.chance < SURE or after.type not in ACTS:
        return True
    if not kinds:
        told = sum(count_tokens(s.text) for s in unit)
        return told < TOLD or after.entropy < RAISED or after.type not in RAISING
    return kinds == {after.type}
