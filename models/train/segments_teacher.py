"""A larger clause tagger for Chinese, whose guesses on unlabelled text teach the small model of ``segments``.

    python -m models.train.segments_teacher --train DIR --encoder e5-hf --out silver.jsonl [--epochs 3]

Fine-tunes the lower seven layers of multilingual-e5-small (an ordinary BertModel folder) on English discourse units, own
Chinese lines, and treebank clauses at marks; then writes ``{"text","odds":[[offset, probability], …]}`` for Chinese text.
About 40 minutes on one slow core. Same data, one thread: same file.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from models.train.segments import Line, joined, own_lines, read_set

LAYERS, FROZEN, BATCH, RATE, HEAD_RATE = 7, 2, 16, 1e-4, 2e-3
Example = tuple[list[int], list[int]]


class Teacher(torch.nn.Module):
    """The shortened encoder with a two-class head over its token states."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(folder)
        self.encoder.encoder.layer = self.encoder.encoder.layer[:LAYERS]
        self.head = torch.nn.Linear(self.encoder.config.hidden_size, 2)
        for part in (self.encoder.embeddings, *self.encoder.encoder.layer[:FROZEN]):
            for weight in part.parameters():
                weight.requires_grad = False

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Scores ``[texts, tokens, 2]``."""
        return self.head(self.encoder(**batch).last_hidden_state)


def example(teacher: Teacher, line: Line, marks_only: bool) -> Example | None:
    """Token ids and labels of one line: 1 where a clause begins in the token, -100 where nothing is known."""
    text = line["text"]
    body = [i for i, ch in enumerate(text) if ch.isalnum()]
    if not body:
        return None
    read = teacher.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=160)
    truth = {next((i for i in body if i >= start), -1) for start in line["segments"][1:]}
    labels = []
    for start, end in read["offset_mapping"]:
        first = next((i for i in range(start, end) if text[i].isalnum()), None)
        if first is None or first == body[0]:
            labels.append(-100)
            continue
        hit = any(i in truth for i in range(start, end))
        before = text[:first].rstrip()
        labels.append(-100 if marks_only and not hit and before[-1:].isalnum() else int(hit))
    return read["input_ids"], labels


def epoch(teacher: Teacher, folder: Path, chance: random.Random) -> list[Example]:
    """One epoch's examples, shuffled: every English line once, own lines three times in new company."""
    english = [line for line in read_set(folder, "segments_en_gum") if len(line["text"]) < 330][:1300]
    trees = [line for line in read_set(folder, "segments_zh_ud") if len(line["text"]) > 8]
    own = own_lines()
    lines: list[tuple[Line, bool]] = [(line, False) for line in english]
    lines += [(line, True) for line in joined(trees, 3, 0.5)[:600]]
    for _ in range(3):
        chance.shuffle(own)
        lines += [(line, False) for line in joined(own, 3, 0.5)]
    found = [example(teacher, line, marks) for line, marks in lines]
    kept = sorted((e for e in found if e is not None), key=lambda e: len(e[0]) + 8 * chance.random())
    return kept


def batches(examples: Sequence[Example], pad: int, chance: random.Random) -> Iterator[dict[str, torch.Tensor]]:
    """Padded batches of examples of like length, in random order."""
    groups = [examples[i : i + BATCH] for i in range(0, len(examples), BATCH)]
    chance.shuffle(groups)
    for group in groups:
        width = max(len(ids) for ids, _ in group)
        ids = torch.tensor([row + [pad] * (width - len(row)) for row, _ in group])
        labels = torch.tensor([row + [-100] * (width - len(row)) for _, row in group])
        yield {"input_ids": ids, "attention_mask": (ids != pad).long(), "labels": labels}


def train(teacher: Teacher, folder: Path, epochs: int) -> None:
    """AdamW with warm-up and linear decay."""
    chance = random.Random(1)
    body = [weight for weight in teacher.encoder.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": teacher.head.parameters(), "lr": HEAD_RATE}], weight_decay=0.01
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    total = epochs * len(epoch(teacher, folder, random.Random(1))) // BATCH
    step = 0
    for _ in range(epochs):
        teacher.train()
        for batch in batches(epoch(teacher, folder, chance), teacher.tokenizer.pad_token_id, chance):
            labels = batch.pop("labels")
            loss = torch.nn.functional.cross_entropy(
                teacher(**batch).flatten(0, 1), labels.flatten(), ignore_index=-100
            )
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * min(1.0, (step + 1) / 40) * max(0.05, 1 - step / total)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 20 == 0:
                print(f"step {step}/{total} loss {loss.item():.4f}", flush=True)


def unlabelled(folder: Path) -> list[str]:
    """Chinese text for silver labels: treebank sentences in company, knowledge dialogue, counselling, booking."""
    texts = [
        line["text"] for line in joined([t for t in read_set(folder, "segments_zh_ud") if len(t["text"]) > 8], 3, 0.7)
    ]
    texts += [t["text"] for t in read_set(folder, "dialog_zh_kdconv", 2500) if 25 < len(t["text"]) < 160][:900]
    for talk in read_set(folder, "dialog_zh_cpsycoun", 400):
        texts += [turn["text"] for turn in talk["turns"] if 30 < len(turn["text"]) < 160][:2]
    texts += [t["text"] for t in read_set(folder, "acts_zh_crosswoz", 900) if len(t["text"]) > 18][:300]
    return [text for text in dict.fromkeys(texts) if len(text) < 220]


@torch.no_grad()
def label(teacher: Teacher, text: str) -> dict[str, Any]:
    """The boundary odds of one text, those under 3% left out."""
    read = teacher.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=256, return_tensors="pt")
    offsets = read.pop("offset_mapping")[0].numpy()
    chances = torch.softmax(teacher(**read)[0], -1)[:, 1].numpy()
    odds = []
    for (start, end), chance in zip(offsets, chances, strict=True):
        first = next((i for i in range(start, end) if text[i].isalnum()), None)
        if first and chance >= 0.03:
            odds.append([int(first), round(float(chance), 3)])
    return {"text": text, "odds": odds}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    np.random.seed(1)
    teacher = Teacher(options.encoder)
    train(teacher, options.train, options.epochs)
    teacher.eval()
    with options.out.open("w", encoding="utf-8") as out:
        for text in unlabelled(options.train):
            out.write(json.dumps(label(teacher, text), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
