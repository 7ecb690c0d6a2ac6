"""Tuning from labelled lines: the grid finds the term that decides, the network learns it, the files are checked."""

import json
from pathlib import Path

import numpy as np
import pytest

from models.cues.cue_mlp import CueMlp
from models.cues.cue_score import TERMS, strength
from models.errors import ResourceError
from models.train.tune_cues import Case, grid_search, quality, read_cases, train_network, tune


def made_cases(count: int = 40) -> list[Case]:
    """Bundles in which the resolution gap alone tells the relevant cue."""
    random = np.random.default_rng(3)
    cases = []
    for _ in range(count):
        terms = random.uniform(size=(6, len(TERMS)))
        right = int(random.integers(6))
        terms[:, TERMS.index("resolution_gap")] = 0.0
        terms[right, TERMS.index("resolution_gap")] = 1.0
        cases.append(Case(terms, np.array([2.0, 0.4, 0.25, 0.2, 0.15, 0.1]), np.eye(6)[right]))
    return cases


def test_the_grid_raises_the_weight_that_decides() -> None:
    cases = made_cases()
    before = quality(cases, [strength(case.terms, case.weights) for case in cases])
    factors, after = grid_search(cases)
    assert after > before + 0.2
    gap = TERMS.index("resolution_gap")
    assert factors[gap] > factors[TERMS.index("relevance")]


def test_the_network_learns_the_same_and_survives_its_file(tmp_path: Path) -> None:
    cases = made_cases()
    network = train_network(cases)
    scores = [network.strength(case.terms, case.weights) for case in cases]
    assert quality(cases, scores) > 0.95
    network.save(tmp_path / "cues.npz")
    again = CueMlp.load(tmp_path / "cues.npz")
    assert np.allclose(again.strength(cases[0].terms, cases[0].weights), scores[0], atol=1e-4)
    with pytest.raises(ResourceError, match="tune --mlp"):
        CueMlp.load(tmp_path / "none.npz")


def test_labels_meet_bundles(tmp_path: Path) -> None:
    def cue(event: str, gap: float) -> dict[str, object]:
        terms = dict.fromkeys(TERMS, 0.5) | {"resolution_gap": gap}
        return {"source_event_ids": [event], "terms": terms, "weights": dict.fromkeys(TERMS, 1.0)}

    bundles = [{"event_id": f"q{n}", "cues": [cue(f"w{n}", 0.0), cue(f"r{n}", 1.0)]} for n in range(4)]
    labels = [{"probe_event_id": f"q{n}", "relevant_event_ids": [[f"r{n}", "other"]]} for n in range(3)]
    assert len(read_cases(labels, bundles)) == 3
    paths = tmp_path / "labels.jsonl", tmp_path / "bundles.jsonl"
    for path, lines in zip(paths, (labels, bundles), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = tune(*paths)
    assert report is not None and report.startswith("[cue]") and "3 bundles" in report
    trained = tune(*paths, tmp_path / "cues.npz")
    assert trained is not None and (tmp_path / "cues.npz").exists()
    assert tune(paths[0], paths[0]) is None
