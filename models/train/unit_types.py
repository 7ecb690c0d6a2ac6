"""Trains the statement types of filter 3 and writes ``models/weights/unit_types.npz``.

    python -m models.train.unit_types [--all] [--encoder FOLDER]

Trains on the lines of ``tests/data/units.jsonl`` marked ``train`` and on ``unit_lines.jsonl`` beside this file, and prints
macro-F1 on those marked ``held``; ``--all`` then fits all lines. Takes a minute or two; the same lines give the same weights.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from models.encoder import Encoder
from models.lexicons import FOLDER
from models.units.unit_types import BITS, CLASSES, WEIGHTS, Cues, flatten, pieces, span_evidence

ROUNDS = 1
"""How often each line is also read between others."""
VECTOR_SHARE = 0.2
"""Weight of the standardised vector beside the words."""
LINES = FOLDER.parent.parent / "tests" / "data" / "units.jsonl"
MORE_LINES = Path(__file__).with_name("unit_lines.jsonl")
"""Training lines only, without `half`: the held lines of ``LINES`` stay what they were."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The labelled lines of a file. Raises ValueError for a line without text or of an unknown type."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.open(encoding="utf-8")]
    for number, line in enumerate(lines, 1):
        if line.get("type") not in CLASSES or not line.get("text"):
            raise ValueError(f"{path.name}:{number}: no text, or unknown type {line.get('type')!r}")
    return lines


def table_of(lines: Sequence[dict[str, Any]], cues: Cues) -> csr_matrix:
    """Feature matrix ``[lines, 2**BITS]``."""
    rows = []
    for line in lines:
        flat = flatten(line["text"])
        rows.append(pieces(flat, cues.seen(flat)))
    columns = np.array([column for row in rows for column in row])
    ends = np.cumsum([0, *(len(row) for row in rows)])
    return csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=(len(rows), 2**BITS))


def vectors_of(lines: Sequence[dict[str, Any]], encoder: Encoder) -> NDArray[np.float32]:
    """Span vectors ``[lines, H]`` of the whole texts, each text standing alone."""
    return np.stack([span_evidence(encoder.encode([line["text"]])[0], 0, len(line["text"])) for line in lines])


def vectors_in_company(lines: Sequence[dict[str, Any]], encoder: Encoder, seed: int) -> NDArray[np.float32]:
    """The same, each between two lines of its language: token states know their neighbours, as they will in use."""
    chance = random.Random(seed)
    by_language = {lang: [line["text"] for line in lines if line["lang"] == lang] for lang in ("zh", "en")}
    found = []
    for line in lines:
        others = by_language[line["lang"]]
        mark = "。" if line["lang"] == "zh" else ". "
        before = chance.choice(others) + mark if chance.random() < 0.7 else ""
        after = mark + chance.choice(others) if chance.random() < 0.7 else ""
        encoded = encoder.encode([before + line["text"] + after])[0]
        found.append(span_evidence(encoded, len(before), len(before) + len(line["text"])))
    return np.stack(found)


def fit(
    table: csr_matrix, labels: NDArray[np.int64], strength: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights ``[columns, types]`` and bias ``[types]`` of a balanced logistic regression."""
    model = LogisticRegression(C=strength, max_iter=500, class_weight="balanced").fit(table, labels)
    return model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)


def fit_both(lines: Sequence[dict[str, Any]], cues: Cues, encoder: Encoder) -> dict[str, NDArray[np.float32]]:
    """The arrays of ``unit_types.npz``: the head over words, and the head over words and vector."""
    labels = np.array([CLASSES.index(line["type"]) for line in lines])
    table = table_of(lines, cues)
    weights, bias = fit(table, labels, 0.3)
    vectors = np.concatenate(
        [vectors_of(lines, encoder), *(vectors_in_company(lines, encoder, k) for k in range(ROUNDS))]
    )
    center, size = vectors.mean(axis=0), float(vectors.std(axis=0).mean())
    scaled = csr_matrix((vectors - center) * (VECTOR_SHARE / size))
    repeated = vstack([table] * (ROUNDS + 1))
    both, both_bias = fit(hstack([repeated, scaled]).tocsr(), np.tile(labels, ROUNDS + 1), 0.5 / (ROUNDS + 1))
    return {
        "weights": weights,
        "bias": bias,
        "vector_weights": both[: 2**BITS],
        "vector_bias": both_bias,
        "turn": both[2**BITS :] * (VECTOR_SHARE / size),
        "center": center,
    }


def macro_f1(
    lines: Sequence[dict[str, Any]], parts: dict[str, NDArray[np.float32]], cues: Cues, encoder: Encoder
) -> None:
    """Prints the figures of both heads on these lines, and the misread ones."""
    truth = [line["type"] for line in lines]
    table = table_of(lines, cues)
    by_word = (table @ parts["weights"] + parts["bias"]).argmax(1)
    guesses = {"words": by_word}
    for name, vectors in (
        ("words and vector", vectors_of(lines, encoder)),
        ("words and vector, in company", vectors_in_company(lines, encoder, 99)),
    ):
        turned = (vectors - parts["center"]) @ parts["turn"]
        guesses[name] = (table @ parts["vector_weights"] + parts["vector_bias"] + turned).argmax(1)
    for name, guess in guesses.items():
        read = [CLASSES[g] for g in guess]
        print(f"{name}: {len(lines)} held lines, macro-F1 {f1_score(truth, read, average='macro'):.4f}")
    by_both = guesses["words and vector, in company"]
    for line, g in zip(lines, by_both, strict=True):
        if CLASSES[g] != line["type"]:
            print(f"  {line['type']} read as {CLASSES[g]}: {line['text']}")


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="fit all lines for shipping")
    parser.add_argument("--encoder", help="encoder folder or st:NAME_OR_PATH; the shipped one if absent")
    parser.add_argument("--without", action="store_true", help="leave unit_lines.jsonl out, to compare")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args(argv)
    cues, encoder = Cues.load(), Encoder.load(options.encoder)
    lines = read_lines(LINES)
    more = [] if options.without else read_lines(MORE_LINES)
    train = [line for line in lines if line["half"] == "train"] + more
    parts = fit_both(train, cues, encoder)
    macro_f1([line for line in lines if line["half"] == "held"], parts, cues, encoder)
    if options.all:
        parts = fit_both(lines + more, cues, encoder)
    small: dict[str, Any] = {
        name: value.astype(np.float16 if value.ndim == 2 else np.float32) for name, value in parts.items()
    }
    np.savez_compressed(options.out, **small, encoder=np.array(encoder.name))
    print(f"written for {len(lines) + len(more) if options.all else len(train)} lines and encoder {encoder.name}")


if __name__ == "__main__":
    main()
