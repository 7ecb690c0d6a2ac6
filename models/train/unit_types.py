"""Trains the statement types of filter 3 and writes ``models/weights/unit_types.npz``.

    python -m models.train.unit_types [--all]

Trains on the lines of ``tests/data/units.jsonl`` marked ``train`` and prints macro-F1 on those marked ``held``; ``--all`` then
fits all lines. Takes a second; the same lines give the same weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report, f1_score

from models.lexicons import FOLDER
from models.unit_types import BITS, TYPES, WEIGHTS, Cues, flatten, pieces

LINES = FOLDER.parent.parent / "tests" / "data" / "units.jsonl"


def table_of(lines: Sequence[dict[str, Any]], cues: Cues) -> csr_matrix:
    """Feature matrix ``[lines, 2**BITS]``."""
    rows = []
    for line in lines:
        flat = flatten(line["text"])
        rows.append(pieces(flat, cues.seen(flat)))
    columns = np.array([column for row in rows for column in row])
    ends = np.cumsum([0, *(len(row) for row in rows)])
    return csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=(len(rows), 2**BITS))


def fit(lines: Sequence[dict[str, Any]], cues: Cues) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights ``[2**BITS, types]`` and bias ``[types]``."""
    labels = np.array([TYPES.index(line["type"]) for line in lines])
    model = LogisticRegression(C=0.5, max_iter=300, class_weight="balanced").fit(table_of(lines, cues), labels)
    return model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="fit all lines for shipping")
    options = parser.parse_args()
    cues = Cues.load()
    lines = [json.loads(line) for line in LINES.open(encoding="utf-8")]
    train = [line for line in lines if line["half"] == "train"]
    held = [line for line in lines if line["half"] == "held"]
    weights, bias = fit(train, cues)
    guess = (table_of(held, cues) @ weights + bias).argmax(1)
    truth = [TYPES.index(line["type"]) for line in held]
    print(classification_report([TYPES[t] for t in truth], [TYPES[g] for g in guess], zero_division=0))
    print(f"{len(train)} train, {len(held)} held, macro-F1 {f1_score(truth, guess, average='macro'):.4f}")
    for line, g in zip(held, guess, strict=True):
        if TYPES[g] != line["type"]:
            print(f"  {line['type']} read as {TYPES[g]}: {line['text']}")
    if options.all:
        weights, bias = fit(lines, cues)
    np.savez_compressed(WEIGHTS, weights=weights.astype(np.float16), bias=bias)


if __name__ == "__main__":
    main()
