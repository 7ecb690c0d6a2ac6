"""Trains the clause boundary models of filter 3 and writes ``models/weights/segments_zh.npz`` and ``segments_en.npz``.

    python -m models.train.segments --train DIR [--silver FILE] [--bench DIR]

`DIR` is the training kit (``segments_*`` and dialogue sets), `--silver` lines ``{"text","odds":[[offset, p], …]}`` labelled by a
larger tagger (``models/train/segments_teacher.py``), `--bench` prints the score on a suite's development half. Takes
seconds; the same data gives the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from models.clause_features import BITS, features, gap_kind, tokenize
from models.clauses import WEIGHTS
from models.lexicons import FOLDER

OWN = FOLDER.parent.parent / "tests" / "data" / "segments_zh.txt"
Line = dict[str, Any]
Fit = tuple[NDArray[np.float32], float]
Rows = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
THRESHOLDS = {"zh": (0.45, 0.35), "en": (0.4, 0.35)}
"""Boundary probability in texts with marks (set on the development half), and in texts without."""
KEEP = 0.006
"""Weights smaller than this are dropped: they move no decision and would only fill the file."""


def read_set(folder: Path, name: str, most: int | None = None) -> list[Line]:
    """Lines of one set in a fixed shuffled order."""
    path = next(folder.glob(f"{name}.jsonl*"))
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    found = [json.loads(line) for line in text.splitlines() if line]
    random.Random(1).shuffle(found)
    return found[:most]


def read_marked(path: Path) -> list[Line]:
    """Own lines, in which "|" stands before every clause but the first."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            parts = line.split("|")
            starts = [sum(map(len, parts[:i])) for i in range(len(parts))]
            found.append({"text": "".join(parts), "segments": starts})
    return found


def joined(lines: Sequence[Line], most: int, share: float = 0.6) -> list[Line]:
    """Some lines glued to their followers, so that sentence ends inside a text are seen."""
    chance = random.Random(3)
    out, at = [], 0
    while at < len(lines):
        size = chance.randint(2, most) if chance.random() < share else 1
        text, starts = "", []
        for line in lines[at : at + size]:
            text += " " if text and text.isascii() else ""
            starts += [start + len(text) for start in line["segments"]]
            text += line["text"]
        out.append({"text": text, "segments": starts})
        at += size
    return out


def stripped(lines: Iterable[Line]) -> list[Line]:
    """The lines as a recogniser writes them: lower case, no marks."""
    out = []
    for line in lines:
        text, place = "", []
        spaced = line["text"].isascii()
        for ch in line["text"]:
            place.append(len(text))
            if ch.isalnum() or ch in "'’":
                text += ch.lower()
            elif spaced and not text.endswith(" "):
                text += " "
        starts = [place[s] if s < len(place) else len(text) for s in line["segments"]]
        out.append({"text": text, "segments": starts})
    return out


def rows_of(
    lines: Iterable[Line], weight: float, domain: str = "unit", marks_only: bool = False, no_brackets: bool = False
) -> Rows:
    """Features, labels and weights of every word after the first; `marks_only`: just those after a mark; `no_brackets`:
    none beside a bracket or quote, where the source does not cut as discourse units do."""
    xs, ys, ws = [], [], []
    for line in lines:
        tokens = tokenize(line["text"])
        if len(tokens.words) < 2:
            continue
        starts = np.array(tokens.starts)
        label = np.zeros(len(starts))
        if "odds" in line:
            for offset, chance in line["odds"]:
                at = int(np.searchsorted(starts, offset))
                if at < len(starts):
                    label[at] = max(label[at], chance)
        else:
            places = np.searchsorted(starts, line["segments"][1:])
            label[places[places < len(starts)]] = 1.0
        kinds = [gap_kind(gap) for gap in tokens.gaps]
        keep = np.array(
            [i > 0 and not (marks_only and not k) and not (no_brackets and k in (6, 7)) for i, k in enumerate(kinds)]
        )
        xs.append(features(tokens, domain)[keep])
        ys.append(label[keep])
        ws.append(np.full(int(keep.sum()), weight))
    return np.concatenate(xs), np.concatenate(ys), np.concatenate(ws)


def fit(parts: Sequence[Rows], strength: float) -> Fit:
    """Weights ``[2**BITS]`` and bias of a logistic regression; soft labels count on both sides."""
    x = np.concatenate([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    w = np.concatenate([part[2] for part in parts])
    soft = (y > 0) & (y < 1)
    x = np.concatenate([x, x[soft]])
    hard = np.concatenate([(y > 0).astype(int), np.zeros(int(soft.sum()), int)])
    w = np.concatenate([np.where(soft, w * y, w), (w * (1 - y))[soft]])
    count, width = x.shape
    table = csr_matrix(
        (np.ones(count * width, np.float32), x.ravel(), np.arange(0, count * width + 1, width)), shape=(count, 2**BITS)
    )
    model = LogisticRegression(C=strength, max_iter=80, tol=1e-3)
    model.fit(table, hard, sample_weight=w)
    weights = model.coef_[0].astype(np.float32)
    weights[np.abs(weights) < KEEP] = 0.0
    return weights, float(model.intercept_[0])


def save(name: str, clauses: Fit, apart: Fit, threshold: float, bare: float) -> None:
    """Writes one language's model."""
    numbers = np.array([clauses[1], threshold, bare, apart[1]], np.float64)
    arrays: dict[str, Any] = {"weights": clauses[0].astype(np.float16), "apart_weights": apart[0].astype(np.float16)}
    np.savez_compressed(WEIGHTS / f"{name}.npz", numbers=numbers, **arrays)


def chat_lines(folder: Path, names: Sequence[str], most: int) -> list[Line]:
    """Chat turns whose own marks say where clauses begin: for unpunctuated speech."""
    out = []
    for name in names:
        for line in read_set(folder, name, most):
            text = line.get("text")
            if isinstance(text, str) and 8 < len(text) < 120:
                cuts = [
                    i + 1 for i, ch in enumerate(text[:-1]) if ch in "，。！？；,.!?;" and not text[i + 1].isdigit()
                ]
                if cuts:
                    out.append({"text": text, "segments": [0, *cuts]})
    return out


def chinese(folder: Path, silver: Sequence[Line]) -> tuple[Fit, Fit]:
    """Chinese: clauses from own lines, treebank clauses at marks and silver lines; statements of unmarked chat."""
    own = read_marked(OWN)
    trees = [line for line in read_set(folder, "segments_zh_ud") if len(line["text"]) > 8]
    parts = [
        rows_of(joined(own, 3), 5.0),
        rows_of(joined(trees, 3), 0.1, marks_only=True, no_brackets=True),
        rows_of(stripped(own), 0.5),
    ]
    if silver:
        parts.append(rows_of(silver, 0.5, no_brackets=True))
    chat = stripped(chat_lines(folder, ("acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_kdconv"), 4000))
    return fit(parts, 0.05), fit([rows_of(chat, 1.0)], 0.3)


def english(folder: Path) -> tuple[Fit, Fit]:
    """English: discourse units with and without marks, meeting acts; statements of unmarked service turns and chat."""
    units = read_set(folder, "segments_en_gum")
    parts = [
        rows_of(units, 1.0),
        rows_of(stripped(units), 0.4),
        rows_of(read_set(folder, "segments_en_ewt"), 0.2, "tree"),
        rows_of(read_set(folder, "segments_en_ami", 5000), 0.2, "act"),
    ]
    turns = [
        rows_of(read_set(folder, "segments_en_multidogo"), 1.0),
        rows_of(stripped(read_set(folder, "segments_en_ami", 4000)), 0.3),
        rows_of(stripped(chat_lines(folder, ("recall_en_spc", "acts_en_multiwoz"), 3000)), 0.3),
    ]
    return fit(parts, 0.3), fit(turns, 0.3)


def score(bench: Path, language: str, fitted: Fit) -> None:
    """Prints precision, recall and F1 on the development half by threshold."""
    weights, bias = fitted
    folder = bench / f"segments_{language}"
    cases = {case["id"]: case["text"] for case in map(json.loads, (folder / "cases.jsonl").open(encoding="utf-8"))}
    golds = [json.loads(line) for line in (folder / "gold.jsonl").open(encoding="utf-8")]
    for limit in (0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        hits = found = wanted = 0
        for gold in golds:
            text = cases[gold["id"]]
            tokens = tokenize(text)
            chances = 1 / (1 + np.exp(-(weights[features(tokens)].sum(1) + bias)))
            guess = _body_starts(text, [s for s, p in zip(tokens.starts[1:], chances[1:], strict=True) if p > limit])
            truth = _body_starts(text, gold["boundaries"])
            hits, found, wanted = hits + len(truth & guess), found + len(guess), wanted + len(truth)
        print(f"{language} > {limit}: P {hits / found:.3f} R {hits / wanted:.3f} F1 {2 * hits / (found + wanted):.4f}")


def _body_starts(text: str, offsets: Iterable[int]) -> set[int]:
    body = [i for i, ch in enumerate(text) if ch.isalnum()]
    places = (next((i for i in body if i >= offset), None) for offset in offsets)
    return {place for place in places if place is not None and place != body[0]}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--silver", type=Path)
    parser.add_argument("--bench", type=Path)
    options = parser.parse_args()
    silver: list[Line] = []
    if options.silver:
        silver = [json.loads(line) for line in options.silver.open(encoding="utf-8")]
    for language, (clauses, apart) in (("zh", chinese(options.train, silver)), ("en", english(options.train))):
        save(f"segments_{language}", clauses, apart, *THRESHOLDS[language])
        print(language, "weights that count:", int((clauses[0] != 0).sum()), int((apart[0] != 0).sum()))
        if options.bench:
            score(options.bench, language, clauses)


if __name__ == "__main__":
    main()
