"""Which of the institution's rules bear on a turn: in force, permitted, the narrowest that fits, then the nearest (V3).

Dates come before similarity: a rule that is not in force on the turn's day is never compared with the turn at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime

from models.cues.background import commonness
from models.cues.cue_score import CosineNorm, Floats
from models.cues.terms import terms
from models.records import Affect, Rule, TaskView

NEAR = 0.12
"""Cosine of weighted terms from which a rule is near enough to the turn."""

SAME_POLICY = 0.4
"""Share of terms in common from which two rules of one category and scope are versions of one policy."""

_RARE = 4e-4


def rules_for(
    turn: Affect, rules: Mapping[str, Rule], *, task: TaskView | None = None, limit: int = 3,
    query_vector: Floats | None = None, vectors: Mapping[str, Floats] | None = None, norm: CosineNorm | None = None,
) -> list[str]:  # fmt: skip
    """The texts of the rules that bear on a turn, nearest first, at most `limit`.

    `rules` are those of the turn's tenant by rule id. With `query_vector`, `vectors` (by rule id, of the rule texts) and
    `norm`, meaning counts beside words. Bears on all persons of the tenant; a scope fits when the turn or its task says it.
    """
    said = turn.resolved_text
    if task is not None:
        said = " ".join([said, *task.critical_entities.values()])
    in_force = [rule for rule in rules.values() if rule.clearance <= turn.clearance and is_in_force(rule, turn.ts)]
    fitting = [rule for rule in newest_versions(in_force) if fits(rule, said)]
    query = _weighted(terms(turn.resolved_text))
    scored: list[tuple[float, Rule]] = []
    for rule in fitting:
        near = _cosine(query, _weighted(terms(rule.text)))
        if query_vector is not None and norm is not None and vectors is not None and rule.rule_id in vectors:
            meaning = (float(query_vector @ vectors[rule.rule_id]) - norm.mean) / norm.deviation
            near += 0.05 * max(0.0, meaning - 1.0)
        if near >= NEAR:
            scored.append((round(near, 4), rule))
    scored.sort(key=lambda item: (-item[0], item[1].rule_id))
    kept = _narrowest([rule for _, rule in scored])
    return [rule.text for rule in kept[:limit]]


def is_in_force(rule: Rule, now: datetime) -> bool:
    """Whether the rule holds at a moment: from `effective_from` on, until just before `effective_to`."""
    began = rule.effective_from is None or rule.effective_from <= now
    return began and (rule.effective_to is None or now < rule.effective_to)


def newest_versions(in_force: Iterable[Rule]) -> list[Rule]:
    """Without rules that another one in force supersedes, and of overlapping versions of a policy only the newest."""
    rules = sorted(in_force, key=lambda rule: (_began(rule), rule.ts, rule.rule_id), reverse=True)
    superseded = {rule.supersedes for rule in rules if rule.supersedes}
    kept: list[tuple[Rule, frozenset[str]]] = []
    for rule in rules:
        words = frozenset(terms(rule.text))
        older = any(_one_policy(rule, words, other, theirs) for other, theirs in kept)
        if rule.rule_id not in superseded and not older:
            kept.append((rule, words))
    return [rule for rule, _ in kept]


def fits(rule: Rule, said: str) -> bool:
    """Whether every part of the rule's scope is named in what was said; an empty scope always fits."""
    found = said.casefold()
    words = set(terms(said))
    return all(value.casefold() in found or set(terms(value)) <= words for value in rule.scope.values() if value)


def _narrowest(nearest_first: list[Rule]) -> list[Rule]:
    """Without rules that a narrower one of the same category beats."""
    return [
        rule
        for rule in nearest_first
        if not any(
            other.category == rule.category and rule.scope.items() < other.scope.items()
            for other in nearest_first
            if rule.category
        )
    ]


def _began(rule: Rule) -> float:
    return rule.effective_from.timestamp() if rule.effective_from else -math.inf


def _one_policy(rule: Rule, words: frozenset[str], other: Rule, theirs: frozenset[str]) -> bool:
    if not rule.category or rule.category != other.category or rule.scope != other.scope:
        return False
    return len(words & theirs) >= SAME_POLICY * len(words | theirs)


def _weighted(found: list[str]) -> dict[str, float]:
    common = commonness()
    return {term: -math.log(common.get(term, _RARE) + 1e-4) for term in found}


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    shared = sum(weight * b[term] for term, weight in a.items() if term in b)
    norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return shared / norm if norm else 0.0
