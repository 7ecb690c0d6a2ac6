"""Cue weights from labelled lines: a grid search of the linear weights, or a small network over the same terms.

``cuestream tune LABELS.jsonl BUNDLES.jsonl [--mlp OUT.npz]``. BUNDLES are those of ``cuestream offline
--set recall.max_cues=20``; a label is ``{"probe_event_id", "relevant_event_ids": [id | [ids…], …]}``. Prints the table
``[cue]`` of lexicons/cue_weights.toml that puts relevant cues first, and what it gains.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from models.cues.cue_mlp import INPUTS, CueMlp, inputs
from models.cues.cue_score import TERMS, Floats, load_weights, strength

FACTORS = (0.0, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
"""What a weight is tried at, as multiples of its present value."""


class Case(Struct, frozen=True):
    """One labelled bundle: terms float[n, 6], the turn's weights [6], relevant bool[n]."""

    terms: Floats
    weights: Floats
    relevant: Floats


def read_cases(labels: Iterable[dict[str, Any]], bundles: Iterable[dict[str, Any]]) -> list[Case]:
    """The bundles that have a label and at least one relevant and one other cue."""
    wanted: dict[str, set[str]] = {}
    for label in labels:
        groups = label.get("relevant_event_ids") or []
        wanted[str(label["probe_event_id"])] = {
            e for group in groups for e in ([group] if isinstance(group, str) else group)
        }
    cases = []
    for bundle in bundles:
        cues, right = bundle.get("cues") or [], wanted.get(str(bundle.get("event_id")), set())
        relevant = np.array([bool(right.intersection(cue["source_event_ids"])) for cue in cues], dtype=np.float64)
        if 0 < relevant.sum() < len(cues):
            terms = np.array([[cue["terms"][name] for name in TERMS] for cue in cues])
            cases.append(Case(terms, np.array([cues[0]["weights"][name] for name in TERMS]), relevant))
    return cases


def quality(cases: Sequence[Case], scores: Sequence[Floats]) -> float:
    """Mean reciprocal rank of the first relevant cue, ties in the order they came."""
    total = 0.0
    for case, score in zip(cases, scores, strict=True):
        order = np.lexsort((np.arange(len(score)), -np.round(score, 6)))
        total += 1.0 / (1.0 + float(np.argmax(case.relevant[order] > 0)))
    return total / max(1, len(cases))


def grid_search(cases: Sequence[Case], rounds: int = 3) -> tuple[Floats, float]:
    """Factors [6] of the present weights, one coordinate after the other, and the quality they reach."""

    def reached(factors: Floats) -> float:
        return quality(cases, [strength(case.terms, case.weights * factors + 1e-12) for case in cases])

    factors = np.ones(len(TERMS))
    best = reached(factors)
    for _ in range(rounds):
        before = best
        for place in range(len(TERMS)):
            for factor in FACTORS:
                tried = factors.copy()
                tried[place] = factor
                found = reached(tried)
                if found > best + 1e-9:
                    best, factors = found, tried
        if best == before:
            break
    return factors, best


def train_network(
    cases: Sequence[Case], hidden: int = 8, rounds: int = 400, rate: float = 0.05, seed: int = 7
) -> CueMlp:
    """A network that tells relevant cues from the others of their bundle: full-batch Adam on the softmax of each bundle."""
    random = np.random.default_rng(seed)
    parameters = [
        random.normal(scale=0.5, size=(INPUTS, hidden)), np.zeros(hidden), random.normal(scale=0.5, size=hidden), np.zeros(()),
    ]  # fmt: skip
    seen = [inputs(case.terms, case.weights) for case in cases]
    first, second = [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters]
    for step in range(1, rounds + 1):
        gradients = [1e-4 * p for p in parameters]
        for case, x in zip(cases, seen, strict=True):
            layer = np.tanh(x @ parameters[0] + parameters[1])
            logits = layer @ parameters[2]
            chances = np.exp(logits - logits.max())
            error = chances / chances.sum() - case.relevant / case.relevant.sum()
            back = np.outer(error, parameters[2]) * (1.0 - layer**2)
            for place, part in enumerate((x.T @ back, back.sum(axis=0), layer.T @ error)):
                gradients[place] = gradients[place] + part / len(cases)
        for place, gradient in enumerate(gradients):
            first[place] = 0.9 * first[place] + 0.1 * gradient
            second[place] = 0.999 * second[place] + 0.001 * gradient**2
            move = (first[place] / (1 - 0.9**step)) / (np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8)
            parameters[place] = parameters[place] - rate * move
    return CueMlp(*parameters)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def tune(labels: Path, bundles: Path, mlp: Path | None = None) -> str | None:
    """What to print: the better table, or that the network was written to `mlp`; None where no bundle has a label."""
    cases = read_cases(_lines(labels), _lines(bundles))
    if not cases:
        return None
    before = quality(cases, [strength(case.terms, case.weights) for case in cases])
    lines = []
    if mlp:
        network = train_network(cases)
        network.save(mlp)
        after = quality(cases, [network.strength(case.terms, case.weights) for case in cases])
        lines.append(f"# written: {mlp}; take it with recall.cue_model")
    else:
        factors, after = grid_search(cases)
        present = structs.asdict(load_weights().cue)
        lines.append("[cue]")
        lines += [f"{name} = {present[name] * factor:.4g}" for name, factor in zip(TERMS, factors, strict=True)]
        lines.append(f"relevance_pressing = {present['relevance_pressing'] * factors[0]:.4g}")
    lines.append(f"# {len(cases)} bundles: mean reciprocal rank {before:.4f} -> {after:.4f}")
    return "\n".join(lines)
