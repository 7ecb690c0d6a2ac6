"""Trains the shipped encoder, a student of six layers:  python -m models.train.encoder_student --train DIR --bench DIR --out DIR

The student starts from some of the teacher's layers (embeddings and first layer frozen) and learns at once, end to end:

* without a prefix at its input, the teacher's token states, and through two linear heads the centred `passage: ` and
  `query: ` vectors and their similarities within the step;
* filter 2's intent, emotion, levels and load, read from a learned mix of its layers' outputs, so that the last layer's states,
  which recall uses, need not bend;
* where clauses begin, read from the same mix token by token.

Deterministic and counted in steps. About an hour of one core with bf16 instructions. Checkpoints go to --out/student.pt; when the
last step is done, ``models.train.encoder_export`` makes --out a folder that Encoder.load takes. Without `--teacher`, the folder of
the twelve-layer encoder is made first (``models.train.encoder``), in --out/teacher.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.nn import functional as F

from models.affect_net import GROUPS
from models.train import encoder
from models.train.affect import SHARES, affect_loss, class_weights, kept_back, macro_f1
from models.train.encoder_export import export
from models.train.student_data import (
    GROUPS as QUOTAS,
)
from models.train.student_data import (
    Item,
    Table,
    Texts,
    affect_items,
    chunks,
    fresh,
    portions,
    segment_items,
    teacher_weights,
)
from models.train.student_net import HIDDEN, LAYERS, Batch, Body, Student, Weights

TEACHER_LAYERS, MIDDLE, FRESH_TOKENS, RATE, HEAD_RATE = 12, 6, 900, 4e-4, 1e-3
DISTIL, TASKS = 3.0, 0.4
"""Weights of the two kinds of loss: gradients of the tasks stay below the distillation's."""


class Sizes(Struct):
    """Fixed numbers measured on the teacher: scale of its states' errors [H], mean vectors of both kinds [H]."""

    state_weight: Tensor
    passage_mean: Tensor
    query_mean: Tensor


class Encoded(Struct):
    """What one step's texts gave: by text number the place in the stacked rows and the first token; standardised mean and maximum
    of the mixed states [N, H]; all mixed states [T, H]; and the distillation loss."""

    place: dict[int, int]
    begin: dict[int, int]
    mean: Tensor
    highest: Tensor
    mixed: Tensor
    loss: Tensor


class Trainer:
    """Student, teacher and data of one run."""

    def __init__(
        self, student: Student, teacher: Body, heads: Weights, made: Texts, table: Table, items: list[Item]
    ) -> None:
        self.student, self.teacher, self.made, self.table = student, teacher, made, table
        self.vectors = {name: torch.tensor(array) for name, array in heads.items()}
        self.dense = torch.from_numpy(table.dense)
        self.targets = {name: torch.from_numpy(values) for name, values in table.targets.items()}
        self.known: dict[int, Tensor] = {}
        self.labelled = {number for item in items for number in (item.text, item.other, item.own)}
        self.classes = {
            group: class_weights(table.targets, np.array([item.row for item in items if item.group == group]))
            for group in SHARES
        }
        self.sizes = Sizes(torch.ones(HIDDEN), torch.zeros(HIDDEN), torch.zeros(HIDDEN))

    def measure(self, numbers: Sequence[int]) -> None:
        """Sets the fixed numbers from a sample of texts, and the heads of the student to the teacher's."""
        batch = Batch([self.made.ids[number] for number in numbers])
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            last = self.teacher.read(batch)[-1].float()
            blend = self.student.mixed(self.student.body.rest(self.student.body.first(batch), batch))
        inside = batch.mask.bool()
        spread = last[inside].var(0)
        self.sizes.state_weight = 1 / (spread + 0.25 * spread.mean()) / HIDDEN
        self.student.affect.shift.copy_(blend[inside].mean(0))
        self.student.affect.scale.copy_(1 / (blend[inside].std(0) + 1e-4))
        mean = batch.pooled(last)
        self.sizes.passage_mean = self.vector(mean, "passage").mean(0)
        self.sizes.query_mean = self.vector(mean, "query").mean(0)
        for name, head in self.student.heads.items():
            head.weight.data = self.vectors[name].T.clone()
            head.bias.data = self.vectors[f"{name}_bias"].clone()

    def vector(self, mean: Tensor, name: str) -> Tensor:
        """The teacher's unit vectors [B, H] of one kind from its mean states."""
        return F.normalize(mean @ self.vectors[name] + self.vectors[f"{name}_bias"], dim=1)

    def encode(self, numbers: Sequence[int], middle: float) -> Encoded:
        """Runs student and teacher over the texts. `middle` weighs the loss of the middle states of texts new to it."""
        batch = Batch([self.made.ids[number] for number in numbers])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            first = self.student.body.first(batch)
            outputs = self.student.body.rest(first, batch)
        truth, half, new = self.truth(numbers, batch)
        last = outputs[-1].float()
        loss = (((last - truth) ** 2 * self.sizes.state_weight).sum(-1) * batch.mask).sum() / batch.mask.sum()
        if middle > 0 and new.any():
            centre = outputs[len(outputs) // 2].float()
            each = ((centre - half) ** 2 * self.sizes.state_weight).sum(-1) * new
            loss = loss + middle * each.sum() / new.sum()
        mixed = self.student.affect.standard(self.student.mixed(outputs))
        loss = loss + self.vector_loss(batch.pooled(last), batch.pooled(truth))
        place = {numbers[row]: at for at, row in enumerate(batch.order)}
        begin = {numbers[row]: start for row, (start, _end) in zip(batch.order, batch.spans, strict=True)}
        return Encoded(place, begin, batch.pooled(mixed, inner=True), batch.highest(mixed), mixed, loss)

    def truth(self, numbers: Sequence[int], batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """The teacher's last and middle states [T, H] and a mask [T] of the tokens whose middle states are there: those of
        texts it reads now. The last states of labelled texts are kept for their next use."""
        last, half = torch.zeros(len(batch.ids), HIDDEN), torch.zeros(len(batch.ids), HIDDEN)
        new = torch.zeros(len(batch.ids))
        spans = {numbers[row]: span for row, span in zip(batch.order, batch.spans, strict=True)}
        unread = [number for number in numbers if number not in self.known]
        for number in numbers:
            if number in self.known:
                last[slice(*spans[number])] = self.known[number].float()
        if unread:
            part = Batch([self.made.ids[number] for number in unread])
            outputs = self.teacher.read(part)
            for row, (start, end) in zip(part.order, part.spans, strict=True):
                number = unread[row]
                there = slice(*spans[number])
                last[there], half[there], new[there] = (
                    outputs[-1][start:end].float(),
                    outputs[MIDDLE][start:end].float(),
                    1,
                )
                if number in self.labelled:
                    self.known[number] = last[there].half()
        return last, half, new

    def vector_loss(self, mean: Tensor, truth: Tensor) -> Tensor:
        """Distance of the centred vectors of both kinds, and of the similarities of all queries and passages."""
        total = torch.zeros(())
        made, wanted = {}, {}
        for name, centre in (("passage", self.sizes.passage_mean), ("query", self.sizes.query_mean)):
            made[name] = F.normalize(F.normalize(self.student.heads[name](mean), dim=1) - centre, dim=1)
            wanted[name] = F.normalize(self.vector(truth, name) - centre, dim=1)
            total = total + 2.5 * (1 - (made[name] * wanted[name]).sum(1)).mean()
        return total + 10 * F.mse_loss(made["query"] @ made["passage"].T, wanted["query"] @ wanted["passage"].T)

    def affect(self, items: Sequence[Item], found: Encoded) -> Tensor:
        """Logits [N, 34] of labelled lines whose texts were encoded."""
        none = len(found.mean)
        means = torch.cat((found.mean, torch.zeros(1, HIDDEN)))
        rows = [found.place[item.text] for item in items]
        other, own = ([found.place.get(number, none) for number in side] for side in _turns(items))
        dense = self.dense[[item.row for item in items]]
        return self.student.affect(found.mean[rows], found.highest[rows], dense, means[other], means[own])

    def task_loss(self, group: str, items: Sequence[Item], found: Encoded) -> Tensor:
        """Loss of one group's portion."""
        if group == "segments":
            return self.segment_loss(items, found)
        rows = [item.row for item in items]
        target = {name: values[rows] for name, values in self.targets.items()}
        return SHARES[group] * affect_loss(self.affect(items, found), target, self.classes.get(group, {}), group)

    def segment_loss(self, items: Sequence[Item], found: Encoded) -> Tensor:
        """Mean loss of the tokens that know whether a clause begins."""
        places, styles, truths = [], [], []
        for item in items:
            known = [place for place, cut in enumerate(item.cuts) if not math.isnan(cut)]
            places += [found.begin[item.text] + place for place in known]
            truths += [item.cuts[place] for place in known]
            styles += [item.style] * len(known)
        where = torch.tensor(places)
        logits = self.student.segments(found.mixed[where], found.mixed[where - 1])
        chosen = logits[torch.arange(len(styles)), torch.tensor(styles)]
        return 2 * F.binary_cross_entropy_with_logits(chosen, torch.tensor(truths))


def _turns(items: Sequence[Item]) -> tuple[list[int], list[int]]:
    return [item.other for item in items], [item.own for item in items]


def fresh_portions(numbers: Sequence[int], made: Texts) -> Iterator[list[int]]:
    """Texts for distillation alone, about FRESH_TOKENS tokens at a time, in their order, again and again."""
    portion: list[int] = []
    tokens = 0
    while True:
        for number in numbers:
            portion.append(number)
            tokens += len(made.ids[number])
            if tokens >= FRESH_TOKENS:
                yield portion
                portion, tokens = [], 0


def evaluate(trainer: Trainer, items: Sequence[Item], sample: Sequence[int]) -> dict[str, float]:
    """Figures on lines kept back, and the mean centred cosine of the vectors with the teacher's on `sample`."""
    trainer.student.eval()
    figures: dict[str, float] = {}
    with torch.no_grad():
        logits = predicted(trainer, items)
        for group in ("cped", "own"):
            rows = [place for place, item in enumerate(items) if item.group == group]
            where = [items[place].row for place in rows]
            for name, low in (("intent", 0), ("emotion", 6)):
                truth = trainer.table.targets[name][where]
                guess = logits[rows, low : low + (6 if name == "intent" else len(GROUPS))].argmax(1)
                figures[f"{group} {name}"] = macro_f1(truth[truth >= 0], guess[truth >= 0])
            if group == "own":
                figures["own service"] = macro_f1(trainer.table.targets["intent"][where], logits[rows, 27:33].argmax(1))
        for group in ("intensity_zh", "intensity_en"):
            rows = [place for place, item in enumerate(items) if item.group == group]
            truth = trainer.table.targets["levels"][[items[place].row for place in rows]]
            made = 1 / (1 + np.exp(-logits[rows, 13:20]))
            columns = [k for k in range(1, 7) if not np.isnan(truth[:, k]).any()]
            figures[group] = float(np.mean([np.corrcoef(made[:, k], truth[:, k])[0, 1] for k in columns]))
        batch = Batch([trainer.made.ids[number] for number in sample])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            first = trainer.student.body.first(batch)
            made_mean = batch.pooled(trainer.student.body.rest(first, batch)[-1].float())
        true_mean = batch.pooled(trainer.teacher.read(batch)[-1].float())
        for name, centre in (("passage", trainer.sizes.passage_mean), ("query", trainer.sizes.query_mean)):
            made_unit = F.normalize(F.normalize(trainer.student.heads[name](made_mean), dim=1) - centre, dim=1)
            true_unit = F.normalize(trainer.vector(true_mean, name) - centre, dim=1)
            figures[f"cos {name}"] = float((made_unit * true_unit).sum(1).mean())
    trainer.student.train()
    return {name: round(value, 4) for name, value in figures.items()}


def predicted(trainer: Trainer, items: Sequence[Item]) -> np.ndarray:
    """Logits [N, 34] of labelled lines, without dropout where the student is in `eval`."""
    found = torch.zeros(len(items), 34)
    order = sorted(range(len(items)), key=lambda place: len(trainer.made.ids[items[place].text]))
    means: dict[int, Tensor] = {}
    tops: dict[int, Tensor] = {}
    numbers = sorted(
        {n for item in items for n in (item.text, item.other, item.own) if n >= 0},
        key=lambda number: len(trainer.made.ids[number]),
    )
    for begin in range(0, len(numbers), 200):
        part_numbers = numbers[begin : begin + 200]
        batch = Batch([trainer.made.ids[number] for number in part_numbers])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = trainer.student.body.rest(trainer.student.body.first(batch), batch)
        mixed = trainer.student.affect.standard(trainer.student.mixed(outputs))
        for row, mean, top in zip(batch.order, batch.pooled(mixed, inner=True), batch.highest(mixed), strict=True):
            means[part_numbers[row]], tops[part_numbers[row]] = mean, top
    zero = torch.zeros(HIDDEN)
    for begin in range(0, len(order), 256):
        part = order[begin : begin + 256]
        chosen = [items[place] for place in part]
        found[part] = trainer.student.affect(
            torch.stack([means[item.text] for item in chosen]),
            torch.stack([tops[item.text] for item in chosen]),
            trainer.dense[[item.row for item in chosen]],
            *(torch.stack([means.get(number, zero) for number in side]) for side in _turns(chosen)),
        )
    return found.numpy()


def train(trainer: Trainer, items: list[Item], other: Sequence[int], steps: range, total: int, out: Path) -> None:
    """Runs the steps; the figures on the lines kept back every 400, a checkpoint every 100."""
    torch.manual_seed(steps.start)
    shuffle = np.random.default_rng(steps.start)
    examples = trainer.table.examples
    held = [item for item in items if item.row >= 0 and kept_back(examples[item.row]) and item.group in SHARES]
    kept_rows = {item.row for item in held}
    sources = {
        group: portions(
            chunks([i for i in items if i.group == group and (i.row < 0 or i.row not in kept_rows)], examples),
            trainer.made, quota, shuffle,
        )
        for group, quota in QUOTAS.items()
    }  # fmt: skip
    sample, learned = other[:300], fresh_portions(other[300 + steps.start * 45 :], trainer.made)
    student = trainer.student
    body = [p for p in student.body.parameters() if p.requires_grad]
    known = {id(p) for p in body} | {id(student.mix)}
    rest = [p for p in student.parameters() if p.requires_grad and id(p) not in known]
    optimiser = torch.optim.AdamW(
        [
            {"params": body, "base": RATE, "weight_decay": 0.01},
            {"params": rest, "base": HEAD_RATE, "weight_decay": 0.05},
            {"params": [student.mix], "base": 1e-2, "weight_decay": 0.0},
        ],
        lr=RATE, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    state = out / "optimiser.pt"
    if steps.start and state.exists():
        optimiser.load_state_dict(torch.load(state))
    begun = time.monotonic()
    seen: dict[str, float] = {}
    tokens = 0
    for step in steps:
        share = step / total
        for entry in optimiser.param_groups:
            entry["lr"] = (
                entry["base"] * min(1.0, (step - steps.start + 1) / (10 if steps.start else 100)) * max(0.02, 1 - share)
            )
        parts = {group: next(source) for group, source in sources.items()}
        numbers = {n for part in parts.values() for item in part for n in (item.text, item.other, item.own) if n >= 0}
        numbers.update(next(learned))
        tokens += sum(len(trainer.made.ids[number]) for number in numbers)
        found = trainer.encode(sorted(numbers), 0.5 * max(0.0, 1 - 2.5 * share))
        losses = {group: trainer.task_loss(group, part, found) for group, part in parts.items()}
        loss = DISTIL * found.loss + TASKS * torch.stack(list(losses.values())).sum()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 2.0)
        optimiser.step()
        for name, value in {"distil": found.loss, **losses}.items():
            seen[name] = 0.98 * seen.get(name, value.item()) + 0.02 * value.item()
        if step % 50 == 0:
            line = " ".join(f"{name} {value:.3f}" for name, value in seen.items())
            print(f"{time.monotonic() - begun:.0f} s step {step} of {total}, {tokens} tokens: {line}", flush=True)
        if (step + 1) % 400 == 0 or step + 1 == steps.stop:
            print(json.dumps(evaluate(trainer, held, sample)), flush=True)
            print("mix", torch.softmax(student.mix, 0).tolist(), flush=True)
        if (step + 1) % 100 == 0 or step + 1 == steps.stop:
            torch.save({"student": student.state_dict(), "sizes": vars_of(trainer.sizes)}, out / "student.pt")
            torch.save(optimiser.state_dict(), state)


def vars_of(sizes: Sizes) -> dict[str, Tensor]:
    """The fixed numbers by name."""
    return {name: getattr(sizes, name) for name in ("state_weight", "passage_mean", "query_mean")}


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--teacher", type=Path, default=None, help="folder of the twelve-layer encoder: pieces and heads"
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--stop", type=int, default=None, help="stop after this step; a later run goes on from there")
    parser.add_argument("--resume", type=int, default=0, help="the step at which --out/student.pt was written")
    parser.add_argument("--limit", type=int, default=8000)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    args.out.mkdir(parents=True, exist_ok=True)
    teacher_folder = args.teacher or args.out / "teacher"
    if args.teacher is None and not (teacher_folder / "encoder.json").exists():
        encoder.main(["--train", str(args.train), "--bench", str(args.bench), "--out", str(teacher_folder)])
    weights, tokenizer = teacher_weights(teacher_folder)
    made = Texts(tokenizer)
    table, items = affect_items(args.train, args.bench, made, args.limit)
    items += segment_items(args.train, made)
    other = sorted(set(made.add(fresh(args.train, 7000))))
    shuffled = np.random.default_rng(1).permutation(len(other))
    other = [other[place] for place in shuffled]
    print(f"{len(items)} labelled lines, {len(other)} texts, {len(made.ids)} distinct", flush=True)
    with np.load(teacher_folder / "heads.npz") as stored:
        heads = {name: stored[name].astype(np.float32) for name in stored.files}
    student = Student(weights, LAYERS, table.dense.shape[1])
    teacher = Body(weights, range(TEACHER_LAYERS)).frozen_half()
    trainer = Trainer(student, teacher, heads, made, table, items)
    trainer.measure(other[:400])
    if args.resume:
        stored_state = torch.load(args.out / "student.pt")
        student.load_state_dict(stored_state["student"])
        trainer.sizes = Sizes(**stored_state["sizes"])
    train(trainer, items, other, range(args.resume, args.stop or args.steps), args.steps, args.out)
    if args.stop is None:
        export(args.out / "student.pt", teacher_folder, args.train, args.out)


if __name__ == "__main__":
    main()
