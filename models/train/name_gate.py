"""Trains the gate before the Chinese tagger: per-character logistic regression on what LAC says, some minutes on one core.

``python -m models.train.name_gate --kit TRAIN_FOLDER --out models/weights/name_gate.npz`` reads the Chinese sets of the kit (share-alike
ones left out), tags them with LAC, trains on nine tenths and sets the threshold on the last tenth, so that `RECALL` of its texts with a name open the gate.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np

from models.entities.chinese_words import NAMED, lac
from models.entities.name_gate import NameGate, windows
from models.privacy.chinese_names import MIN_CERTAINTY
from models.text import narrow, simplify

SETS = {
    "acts_zh_crosswoz": 4000, "acts_zh_multiwoz": 4000, "acts_zh_crsa": 1500, "dialog_zh_crsa": 700, "dialog_zh_evermem": 1500, "dialog_zh_kdconv": 5000,
    "dialog_zh_xiaomi": 3000, "recall_zh_kvpi": 6000, "recall_zh_xpersona": 3000, "recall_zh_memorybank": 99, "dialog_zh_cpsycoun": 3000,
    "emotion_zh_empatheticpersonas": 1000, "rewrite_zh_kdconv": 3000, "recall_zh_indialog": 2000,
}  # fmt: skip
SIZE = 1 << 17
EPOCHS = 6
BATCH = 256
RATE = 0.25
RECALL = 0.995


def texts(kit: Path) -> Iterator[str]:
    """Distinct texts of the sets, in the order of their hash."""
    for name, count in SETS.items():
        path = kit / f"{name}.jsonl"
        found: set[str] = set()
        with path.open(encoding="utf-8") if path.exists() else gzip.open(f"{path}.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                rows = [row] if row.get("text") else row.get("turns", [])
                found.update(simplify(narrow(item["text"].strip())) for item in [*rows, *row.get("context", [])[-1:]])
        usable = (text for text in found if 2 <= len(text) <= 120)
        yield from sorted(usable, key=lambda text: crc32(text.encode("utf-8", "replace")))[:count]


def labels(text: str) -> np.ndarray:
    """For each character, whether LAC puts it into a person, place or organisation of two characters or more."""
    marks = np.zeros(len(text), dtype=np.float32)
    for word in lac().tag(text):
        if word.tag in NAMED and word.p >= MIN_CERTAINTY and len(word.text) > 1:
            marks[word.start : word.end] = 1
    return marks


def train(rows: np.ndarray, marks: np.ndarray, seed: int = 3) -> np.ndarray:
    """Weights by Adagrad on batches of characters, in an order fixed by the seed."""
    weights, squares = np.zeros(SIZE, np.float32), np.full(SIZE, 1e-2, np.float32)
    order = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        loss = 0.0
        for batch in np.array_split(order.permutation(len(rows)), max(1, len(rows) // BATCH)):
            x, y = rows[batch], marks[batch]
            p = 1 / (1 + np.exp(-weights[x].sum(axis=1)))
            loss -= float(np.log(np.where(y > 0, p, 1 - p) + 1e-7).sum())
            gradient = np.bincount(x.ravel(), np.repeat(p - y, x.shape[1]), minlength=SIZE) / 16
            touched = np.unique(x)
            g = gradient[touched].astype(np.float32)
            squares[touched] += g * g
            weights[touched] -= RATE * g / np.sqrt(squares[touched])
        print(f"epoch {epoch}: loss {loss / len(rows):.4f}", flush=True)
    return weights


def main() -> None:
    """Tags, trains, sets the threshold, and reports how many texts the gate lets pass unasked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    lines = [(text, labels(text)) for text in texts(arguments.kit)]
    held = [line for line in lines if crc32(line[0].encode("utf-8", "replace")) % 10 == 0]
    kept = [line for line in lines if crc32(line[0].encode("utf-8", "replace")) % 10]
    print(f"{len(lines)} texts, {sum(bool(marks.any()) for _, marks in lines)} with a name", flush=True)
    rows = np.concatenate([windows(text, SIZE - 1).T.astype(np.int32) for text, _ in kept])
    weights = train(rows, np.concatenate([marks for _, marks in kept]))
    scale = float(np.quantile(np.abs(weights[weights != 0]), 0.9999)) / 127
    small = np.clip(np.rint(weights / scale), -127, 127).astype(np.int8)
    gate = NameGate(small, 1.0, 0.0)
    with_name = np.array(sorted(gate.score(text) for text, marks in held if marks.any()))
    without = np.array([gate.score(text) for text, marks in held if not marks.any()])
    threshold = float(with_name[int((1 - RECALL) * len(with_name))])
    print(
        f"held out: {len(with_name)} with a name, {len(without)} without; closed for {float((without < threshold).mean()):.3f} of those without"
    )
    np.savez_compressed(arguments.out, weights=small, scale=np.float32(scale), threshold=np.float32(threshold * scale))


if __name__ == "__main__":
    main()
