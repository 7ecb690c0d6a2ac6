"""Trains the clause net over an encoder's token states (``models/units/boundary_net.py``); called by ``models.train.segments``.

Every line is read once by the encoder as it stands; the net learns on its mixed states, several styles of cutting at once
(own Chinese lines, discourse units, treebank clauses, dialogue acts, statements of unmarked speech), each with outputs of its own.
Deterministic on one thread.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec import Struct
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.encoder import Encoder
from models.units.boundary_net import KINDS, PIECES, STYLES, BoundaryNet, inputs_of, places_of
from models.units.clause_features import gap_kind

Line = dict[str, Any]
WIDTH, PROJECTED, CHANNELS = 5, 64, 96
EPOCHS, BATCH_TOKENS, RATE, DECAY = 7, 900, 2e-3, 0.05
LIMITS, SHARE = (0.7, 0.5, 0.4, 0.35), 0.5
"""Probabilities from which a clause begins (zh, zh without marks, en, en without), and the net's part in it, until they are tuned."""
DROP_STATES, DROP_PIECES, DROP_HIDDEN = 0.25, 0.35, 0.25


class Example(Struct):
    """One line as the net sees it: states float16 [n, H], kinds and pieces [n], and by place its token, whether it lies inside
    the token, the truth 0..1 and the weight."""

    states: NDArray[np.float16]
    kinds: NDArray[np.intp]
    pieces: NDArray[np.intp]
    tokens: NDArray[np.intp]
    inside: NDArray[np.intp]
    truth: NDArray[np.float32]
    weight: NDArray[np.float32]
    style: int


class Source(Struct, kw_only=True):
    """Lines of one style. `marks_only`: only places after a mark are known; `no_brackets`: none beside brackets and quotes;
    lines may hold ``odds`` [[offset, probability], …] in the place of ``segments``."""

    lines: Sequence[Line]
    style: str
    weight: float = 1.0
    marks_only: bool = False
    no_brackets: bool = False


def examples(encoder: Encoder, sources: Iterable[Source]) -> list[Example]:
    """Every line of the sources, read by the encoder."""
    found = []
    for source in sources:
        for begin in range(0, len(source.lines), 64):
            lines = source.lines[begin : begin + 64]
            for line, encoded in zip(lines, encoder.encode([line["text"] for line in lines]), strict=True):
                made = _example(line, encoded.text, encoded.offsets, encoded.mixed, source)
                if made is not None:
                    found.append(made)
        print(f"{source.style}: {len(source.lines)} lines", flush=True)
    return found


def _example(
    line: Line, text: str, offsets: NDArray[np.int32], mixed: NDArray[np.float32], source: Source
) -> Example | None:
    places = places_of(text, offsets)
    if len(places.starts) < 2:
        return None
    starts = np.array(places.starts)
    truth, weight = np.zeros(len(starts), np.float32), np.full(len(starts), source.weight, np.float32)
    soft = line.get("odds")
    wanted = soft if soft is not None else [(offset, 1.0) for offset in line["segments"][1:]]
    for offset, chance in wanted:
        at = int(np.searchsorted(starts, offset))
        if at < len(starts):
            truth[at] = max(truth[at], chance)
    kinds = np.array([gap_kind(gap) for gap in places.gaps])
    if source.marks_only:
        weight[(kinds == 0) & (truth == 0)] = 0
    if source.no_brackets:
        weight[np.isin(kinds, (6, 7))] = 0
    weight[0] = 0
    kinds_by_token, pieces = inputs_of(text, offsets, places)
    return Example(
        states=mixed.astype(np.float16),
        kinds=kinds_by_token,
        pieces=pieces,
        tokens=np.array(places.tokens),
        inside=np.array(places.inside, np.intp),
        truth=truth,
        weight=weight,
        style=STYLES.index(source.style),
    )


class Net(nn.Module):
    """The torch twin of ``BoundaryNet``; states are scaled by a fixed mean and deviation, which `arrays` folds into the weights."""

    def __init__(self, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)
        self.project = nn.Linear(len(mean), PROJECTED)
        self.marks, self.pieces = nn.Embedding(KINDS, PROJECTED), nn.Embedding(PIECES, PROJECTED)
        nn.init.normal_(self.marks.weight, std=0.1)
        nn.init.normal_(self.pieces.weight, std=0.05)
        self.taps, self.out = nn.Linear(WIDTH * PROJECTED, CHANNELS), nn.Linear(CHANNELS, 2 * len(STYLES))

    def forward(self, states: Tensor, kinds: Tensor, pieces: Tensor, real: Tensor) -> Tensor:
        """Log odds [T, 2, styles] of texts laid end to end, each followed by rows that are not `real` (float [T], 0 there)."""
        scaled = F.dropout((states - self.mean) / self.deviation, DROP_STATES, self.training)
        letters = F.dropout(self.pieces(pieces), DROP_PIECES, self.training)
        first = F.relu(self.project(scaled) + self.marks(kinds) + letters) * real[:, None]
        side = WIDTH // 2
        padded = F.pad(first, (0, 0, side, side))
        windows = torch.cat([padded[k : k + len(first)] for k in range(WIDTH)], 1)
        hidden = F.dropout(F.relu(self.taps(windows)), DROP_HIDDEN, self.training)
        return self.out(hidden).view(-1, 2, len(STYLES))

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights by the names of ``BoundaryNet``."""
        project = self.project.weight.T / self.deviation[:, None]
        found = {
            "project": project, "project_bias": self.project.bias - self.mean @ project, "marks": self.marks.weight,
            "pieces": self.pieces.weight, "taps": self.taps.weight.T, "taps_bias": self.taps.bias,
            "out": self.out.weight.T, "out_bias": self.out.bias,
        }  # fmt: skip
        return {name: tensor.detach().numpy().astype(np.float32) for name, tensor in found.items()}


def _batches(data: Sequence[Example], chance: random.Random) -> list[list[Example]]:
    order = list(data)
    chance.shuffle(order)
    found: list[list[Example]] = [[]]
    size = 0
    for example in order:
        if size > BATCH_TOKENS:
            found.append([])
            size = 0
        found[-1].append(example)
        size += len(example.states)
    return found


def fit(data: Sequence[Example], encoder: str) -> BoundaryNet:
    """The net after `EPOCHS` passes, with `LIMITS` and `SHARE`."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    chance = random.Random(1)
    sample = np.concatenate([example.states for example in data[:: max(1, len(data) // 1500)]]).astype(np.float32)
    net = Net(torch.from_numpy(sample.mean(0)), torch.from_numpy(sample.std(0) + 1e-4))
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * len(_batches(data, random.Random(1)))
    step = 0
    net.train()
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in _batches(data, chance):
            loss = _loss(net, batch)
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (step + 1) / 60) * max(0.02, 1 - step / steps)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            total += loss.item()
        print(f"epoch {epoch + 1}/{EPOCHS} loss {total * EPOCHS / steps:.4f}", flush=True)
    net.eval()
    limits = {"limits": np.array(LIMITS, np.float32), "share": np.array([SHARE], np.float32)}
    return BoundaryNet({**net.arrays(), **limits}, encoder)


def _loss(net: Net, batch: Sequence[Example]) -> Tensor:
    side = WIDTH // 2
    lengths = [len(example.states) + side for example in batch]
    begins = np.cumsum([0, *lengths[:-1]])
    total = sum(lengths)
    states = np.zeros((total, batch[0].states.shape[1]), np.float32)
    kinds, pieces, real = np.zeros(total, np.int64), np.zeros(total, np.int64), np.zeros(total, np.float32)
    for example, begin in zip(batch, begins, strict=True):
        rows = slice(begin, begin + len(example.states))
        states[rows], kinds[rows], pieces[rows], real[rows] = example.states, example.kinds, example.pieces, 1.0
    odds = net(torch.from_numpy(states), torch.from_numpy(kinds), torch.from_numpy(pieces), torch.from_numpy(real))
    tokens = np.concatenate([example.tokens + begin for example, begin in zip(batch, begins, strict=True)])
    inside = np.concatenate([example.inside for example in batch])
    styles = np.concatenate([np.full(len(example.tokens), example.style) for example in batch])
    truth = torch.from_numpy(np.concatenate([example.truth for example in batch]))
    weight = torch.from_numpy(np.concatenate([example.weight for example in batch]))
    found = odds[torch.from_numpy(tokens), torch.from_numpy(inside), torch.from_numpy(styles)]
    return (F.binary_cross_entropy_with_logits(found, truth, reduction="none") * weight).sum() / weight.sum()


def save(net: BoundaryNet, path: Path) -> None:
    """Writes a ``segments_net.npz``, in half precision."""
    arrays: dict[str, Any] = {name: array.astype(np.float16) for name, array in net.weights.items()}
    np.savez_compressed(path, encoder=np.array(net.encoder), **arrays)
