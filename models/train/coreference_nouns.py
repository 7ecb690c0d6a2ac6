"""Fits the weights of `models.references.same_text` and prints them: own texts that the network has not learned.

python -m models.train.coreference_nouns --weights models/weights
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from models.references.edit_net import lay_out
from models.references.mentions import References
from models.references.net import ReferenceNet
from models.references.same_text import NAMES, WEIGHTS, candidates, features
from models.train.coreference_sets import POINTERS, held, read_lines

STEPS, RATE, DECAY = 300, 0.05, 0.05
"""``DECAY`` pulls the weights to those that stand in `same_text`."""
Case = tuple[np.ndarray, np.ndarray]


def cases(net: ReferenceNet, references: References, learned: bool = False) -> list[Case]:
    """Features of the nouns around each pronoun, and which of them it means."""
    found: list[Case] = []
    for record in read_lines(POINTERS):
        if record["lang"] != "zh" or held(record) == learned:
            continue
        layout = lay_out(record["text"], "customer", record["context"], references.window[0])
        reading = net.read(layout)
        anaphors = {a.start: a for a in references.anaphors(record["text"], layout.words)}
        for mention in record["mentions"]:
            anaphor, meant = anaphors.get(mention["start"]), mention["antecedent"]
            if anaphor is None or not meant or meant["turn"] >= 0:
                continue
            weights = reading.pointer(anaphor.first, anaphor.last)
            nouns = candidates(anaphor, record["text"], layout, weights, references)
            right = np.array([a < meant["end"] and meant["start"] < b for a, b in nouns])
            if right.any() and not right.all():
                rows = [features(a, b, anaphor, record["text"], layout, weights, references) for a, b in nouns]
                found.append((np.array(rows, dtype=np.float32), right))
    return found


def accuracy(given: list[Case], weights: np.ndarray) -> float:
    """How often the best noun is a right one."""
    return float(np.mean([right[(rows @ weights).argmax()] for rows, right in given]))


def fit(given: list[Case], start: np.ndarray) -> np.ndarray:
    """Weights under which the right nouns are probable, not far from ``start``."""
    weights = torch.tensor(start, dtype=torch.float32, requires_grad=True)
    prior = torch.tensor(start, dtype=torch.float32)
    batch = [(torch.from_numpy(rows), torch.from_numpy(right)) for rows, right in given]
    optimiser = torch.optim.Adam([weights], lr=RATE)
    for _ in range(STEPS):
        loss = DECAY * (weights - prior).square().sum()
        for rows, right in batch:
            scores = rows @ weights
            loss = loss + (scores.logsumexp(0) - scores[right].logsumexp(0)) / len(batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    result: np.ndarray = weights.detach().numpy()
    return result


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(7)
    given = cases(ReferenceNet.load(args.weights), References.load())
    start = np.array(WEIGHTS, dtype=np.float32)
    folds = [[c for i, c in enumerate(given) if i % 5 == k] for k in range(5)]
    others = [[c for i, c in enumerate(given) if i % 5 != k] for k in range(5)]
    crossed = sum(accuracy(fold, fit(rest, start)) * len(fold) for fold, rest in zip(folds, others, strict=True)) / len(
        given
    )
    fitted = fit(given, start)
    print(
        f"{len(given)} pronouns: {accuracy(given, start):.3f} as they stand, {crossed:.3f} fitted on the other four fifths"
    )
    print(dict(zip(NAMES, np.round(fitted, 2).tolist(), strict=True)))


if __name__ == "__main__":
    main()
