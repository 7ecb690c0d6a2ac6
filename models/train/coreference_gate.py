"""Trains the gate in front of the reference network and adds it to ``coreference.npz``.

    python -m models.train.coreference_gate --train DIR --weights models/weights

It learns what the finished filter does without a gate on turns of ordinary dialogue that hold no referring word: whether it
inserts anything. A fifth of the dialogues, by hash of the turn before, sets the threshold.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from models.context import Turn, turns_from_context
from models.coreference import CoreferenceModel
from models.entities.finder import find_entities
from models.records import Speaker
from models.references.case import ReferenceCase
from models.references.gate import BUCKETS, ReferenceGate, buckets
from models.references.job import ReferenceJob
from models.train.coreference_sets import LINES, REWRITE, read_lines

DIALOGUES = (
    "dialog_zh_kdconv", "recall_zh_xpersona", "acts_zh_crosswoz", "acts_zh_multiwoz", "dialog_zh_evermem",
    "dialog_zh_cpsycoun", "acts_en_multiwoz", "dialog_en_star", "dialog_en_tm4", "recall_en_spc", "dialog_en_evermem",
    *REWRITE,
)  # fmt: skip
EACH, TURNS = 700, 6
"""Turns taken of each set, and turns before them that are read."""

RECALL = 0.99
EPOCHS, BATCH, RATE, DECAY = 4, 256, 2e-3, 1e-6


def dialogue_turns(train: Path, name: str) -> Iterator[dict[str, Any]]:
    """Utterances of a set with the turns before them."""
    for record in read_lines(train / f"{name}.jsonl"):
        if "turns" in record:
            turns = [t for t in record["turns"] if t.get("text")]
            for i in range(1, len(turns)):
                yield {"speaker": "A", **turns[i], "context": turns[max(0, i - TURNS) : i]}
        elif record.get("context"):
            yield {"speaker": "A", **record, "context": record["context"][-TURNS:]}


def samples(train: Path) -> Iterator[dict[str, Any]]:
    """At most ``EACH`` turns of each set, spread over it, and our own lines."""
    for name in DIALOGUES:
        turns = list(dialogue_turns(train, name))
        yield from turns[:: max(1, len(turns) // EACH)]
    for record in read_lines(LINES):
        yield {"speaker": "customer", **record}


def observed(model: CoreferenceModel, record: dict[str, Any]) -> tuple[list[int], bool, str] | None:
    """Features, whether the network changes something, and the turn before; None where it is not asked or always asked."""
    read: list[Turn] = [
        Turn(speaker_id=t.speaker_id, role=t.role, text=t.text, entities=find_entities(t.text, None))
        for t in turns_from_context(record["context"])
    ]
    speaker = Speaker(id=record["speaker"], role="customer")
    text = record["text"]
    case = ReferenceCase(model.net, model.references, text, speaker, read, "", find_entities(text, None))
    if not read or model.references.anaphors(text, case.words) or model.references.is_stock(case.words):
        return None
    changes, _ = ReferenceJob(case, model.thresholds).run()
    return buckets(case.layout), bool(changes), read[-1].text


def fit(rows: Sequence[Sequence[int]], labels: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    """Weights and bias of a logistic model over sets of buckets."""
    torch.manual_seed(seed)
    bag = torch.nn.EmbeddingBag(BUCKETS + 1, 1, mode="sum", padding_idx=BUCKETS)
    torch.nn.init.zeros_(bag.weight)
    bias = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([*bag.parameters(), bias], lr=RATE)
    longest = max(map(len, rows))
    table = torch.full((len(rows), longest), BUCKETS)
    for i, row in enumerate(rows):
        table[i, : len(row)] = torch.tensor(row)
    wanted = torch.from_numpy(labels).float()
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(rows)).split(BATCH):
            score = bag(table[chosen])[:, 0] + bias
            loss = F.binary_cross_entropy_with_logits(score, wanted[chosen]) + DECAY * bag.weight.square().sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return bag.weight.detach()[:BUCKETS, 0].numpy().copy(), float(bias.detach())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = CoreferenceModel.load(args.weights)
    model.net.gate = ReferenceGate(np.zeros(BUCKETS, np.float32), 0.0, 0.0)
    seen = [s for s in (observed(model, r) for r in samples(args.train)) if s is not None]
    rows, labels = [s[0] for s in seen], np.array([s[1] for s in seen])
    held = np.array([zlib.crc32(s[2].encode()) % 5 == 0 for s in seen])
    weights, bias = fit([r for r, h in zip(rows, held, strict=True) if not h], labels[~held], args.seed)
    scale = float(np.abs(weights).max()) / 127
    stored = np.round(weights / scale).astype(np.int8)
    scores = np.array([bias + scale * float(stored[r].sum()) for r in rows])
    least = float(np.quantile(scores[held & labels], 1 - RECALL))
    threshold = 1 / (1 + np.exp(-least))
    skipped = float((scores[held & ~labels] < least).mean())
    print(f"{len(seen)} turns, {labels.mean():.3f} changed; held out {held.sum()}; threshold {threshold:.4f} "
          f"lets {(scores[held] >= least).mean():.3f} through, skips {skipped:.3f} of what stays")  # fmt: skip
    path = args.weights / "coreference.npz"
    with np.load(path, allow_pickle=False) as given:
        arrays = {k: given[k] for k in given.files if not k.startswith("gate")}
    np.savez_compressed(path, gate=stored, gate_terms=np.array([scale, bias, threshold], np.float32), **arrays)


if __name__ == "__main__":
    main()
