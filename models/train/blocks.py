"""Fits one block of filter 2's output anew and keeps all else:  python -m models.train.blocks intent --out FILE --lines FILE …

The net's hidden layer stays as it is; of the block (intent, emotion or load) the last layer's rows are fitted to the examples with a
penalty on leaving their present values, and of the intents the service head too. So a few hundred lines of one's own are enough,
the other blocks answer as before, and it takes about as long as encoding the lines. `--train`/`--bench` add the licensed sets.
Deterministic.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from models.affect_cues import CueLexicon
from models.affect_features import SurfaceReader
from models.affect_net import OUTPUTS, SHIPPED, AffectNet, text_state
from models.encoder import Encoder
from models.errors import CuestreamError, ResourceError
from models.heads import heads_fit
from models.records import Speaker
from models.train import affect_data as data
from models.train.affect_data import Example
from models.train.user_lines import labels, read_lines

BLOCKS = {"intent": ("intent",), "emotion": ("emotion", "intensity", "finer"), "load": ("load",)}
PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""Tried on a part of the training lines; the larger, the nearer the rows stay to their present values."""
OWN = Path(__file__).parent / "affect_lines.jsonl"
Arrays = dict[str, np.ndarray]


def examples(
    block: str, lines: Path | None, kit: Path | None, bench: Path | None, limit: int, own: int
) -> list[Example]:
    """The user's lines, some of our own, and the licensed sets where their folders are given; those that say something about the block."""
    found = read_lines(lines, block) if lines else []
    ours = data.own(OWN, "train")
    found += sorted(ours, key=lambda e: zlib.crc32(e.text.encode()))[:own]
    if bench:
        found += data.suites(bench)
    if kit:
        found += data.feelings(kit, limit) + data.axes(kit, limit) + data.acts(kit, limit // 2)
        data.pressure(found, CueLexicon.load())
    return [example for example in found if labels(example, block)]


def inputs_of(found: Sequence[Example], net: AffectNet, reader: SurfaceReader, encoder: Encoder) -> np.ndarray:
    """Hidden activations [N, W] of each example; says how far it is."""
    hidden, shown = [], time.monotonic()
    for number, e in enumerate(found, 1):
        surface = reader.read(e.text, speaker=Speaker(id=e.speaker_id, role=e.role, title=e.title), context=e.context)
        state, *turns = (text_state(one) for one in encoder.encode([e.text[:1500], *filter(None, surface.turns)]))
        means = iter(turn[0] for turn in turns)
        hidden.append(net.layers(state, surface, *(next(means) if turn else None for turn in surface.turns)))
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"read {number:,} of {len(found):,} lines", flush=True)
    return np.stack(hidden)


def loss_of(block: str, logits: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Mean loss over the rows that know their target, NaN where unknown."""
    if block in ("intent", "emotion"):
        known = ~torch.isnan(truth)
        each = F.cross_entropy(logits[known], truth[known].long(), reduction="none", label_smoothing=0.05)
        return (each * weight[known]).sum() / weight[known].sum().clamp(min=1e-6)
    known = ~torch.isnan(truth)
    each = F.binary_cross_entropy_with_logits(logits[known], truth[known], reduction="none")
    wide = weight[:, None].expand_as(known)[known]
    return (each * wide).sum() / wide.sum().clamp(min=1e-6)


def refit(
    block: str,
    inputs: np.ndarray,
    truth: np.ndarray,
    weight: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    penalty: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Matrix [in, out] and bias [out] of least loss plus `penalty` times the mean squared departure from `start`."""
    x, y, w = (torch.from_numpy(np.ascontiguousarray(a, np.float32)) for a in (inputs, truth, weight))
    anchor, bias_anchor = (torch.from_numpy(np.ascontiguousarray(a, np.float32)) for a in start)
    matrix, bias = anchor.clone().requires_grad_(), bias_anchor.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([matrix, bias], max_iter=60, history_size=12, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        away = ((matrix - anchor) ** 2).sum() + ((bias - bias_anchor) ** 2).sum()
        loss = loss_of(block, x @ matrix + bias, y, w) + penalty * away
        loss.backward()
        return loss

    optimiser.step(closure)
    return matrix.detach().numpy(), bias.detach().numpy()


def targets(found: Sequence[Example]) -> dict[str, np.ndarray]:
    """Targets by output block, NaN where a line says nothing."""
    from models.train.affect import targets as known

    made = known(list(found))
    return {
        "intent": np.where(made["intent"] < 0, np.nan, made["intent"]).astype(np.float32),
        "emotion": np.where(made["emotion"] < 0, np.nan, made["emotion"]).astype(np.float32),
        "intensity": made["levels"], "finer": made["finer"], "load": made["load"], "weight": made["weight"],
    }  # fmt: skip


def fit_block(
    stored: Arrays, name: str, hidden: np.ndarray, wanted: dict[str, np.ndarray], train: np.ndarray, inner: np.ndarray
) -> float:
    """Replaces the columns of one output block in `stored`; returns the penalty that did best on `inner`."""
    bounds = np.cumsum([0, *OUTPUTS.values()])
    columns = slice(*bounds[list(OUTPUTS).index(name) :][:2])
    start = stored["out"][:, columns].astype(np.float32), stored["out_bias"][columns].astype(np.float32)
    best, matrix, bias = best_fit(name, hidden, wanted[name], wanted["weight"], train, inner, start)
    for key, value in (("out", matrix), ("out_bias", bias)):
        changed = stored[key].copy()
        changed[..., columns] = value
        stored[key] = changed
    return best


def best_fit(
    block: str,
    inputs: np.ndarray,
    truth: np.ndarray,
    weight: np.ndarray,
    train: np.ndarray,
    inner: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
) -> tuple[float, np.ndarray, np.ndarray]:
    """The fit on all training rows with the penalty that did best on `inner` when fitted on the others."""
    outer = np.setdiff1d(train, inner)
    rated: list[tuple[float, float]] = []
    for penalty in PENALTIES:
        matrix, bias = refit(block, inputs[outer], truth[outer], weight[outer], start, penalty)
        logits = torch.from_numpy((inputs[inner] @ matrix + bias).astype(np.float32))
        loss = loss_of(
            block,
            logits,
            torch.from_numpy(truth[inner].astype(np.float32)),
            torch.from_numpy(weight[inner].astype(np.float32)),
        )
        rated.append((float(loss), penalty))
    best = min(rated)[1]
    return (best, *refit(block, inputs[train], truth[train], weight[train], start, best))


def figures(
    block: str, net: AffectNet, found: Sequence[Example], hidden: np.ndarray, rows: np.ndarray
) -> dict[str, float]:
    """What the block is worth on some rows: macro-F1 of the label as filter 2 gives it (before the rules), or the mean error."""
    from models.affect import blended
    from models.train.affect import macro_f1

    wanted = targets([found[row] for row in rows])
    outs = [net.answer(hidden[row]) for row in rows]
    if block == "load":
        guess = 1 / (1 + np.exp(-np.stack([out["load"] for out in outs])))
        return {"mean absolute error": round(float(np.nanmean(np.abs(guess - wanted["load"]))), 4)}
    truth = wanted[block]
    known = ~np.isnan(truth)
    if block == "intent":
        guess = np.array([int(np.argmax(blended(out, net.weights["temperature"], net.weights["intent_lift"]))) for out in outs])  # fmt: skip
    else:
        guess = np.array([int((out["emotion"] / net.weights["temperature"][1] + net.weights["emotion_lift"]).argmax()) for out in outs])  # fmt: skip
    return {
        "macro-F1": round(macro_f1(truth[known].astype(int), guess[known]), 4),
        "right": round(float((truth == guess)[known].mean()), 4),
    }


def save(path: Path, stored: Arrays) -> None:
    """Writes the weights in one step: a worker that looks meanwhile sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
        arrays: dict[str, Any] = dict(stored)
        np.savez_compressed(file, **arrays)
    made = Path(file.name)
    made.chmod(0o644)
    made.replace(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Fits the block, prints what it was worth before and after on the lines kept back, writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("block", choices=sorted(BLOCKS))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lines", type=Path, default=None)
    parser.add_argument("--train", type=Path, default=None)
    parser.add_argument("--bench", type=Path, default=None)
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--base", type=Path, default=SHIPPED, help="the weights to start from")
    parser.add_argument("--limit", type=int, default=4000, help="lines taken of each large set")
    parser.add_argument("--own", type=int, default=1500, help="lines taken of our own: they keep what was known")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    try:
        run(args)
    except CuestreamError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def run(args: argparse.Namespace) -> None:
    """The command, its arguments read."""
    reader = SurfaceReader(CueLexicon.load())
    net = AffectNet.load(args.base, surface_size=reader.size)
    encoder = Encoder.load(args.encoder)
    heads_fit(net.encoder, encoder.name, args.base.name, "cuestream train affect --train DIR --bench DIR --out DIR")
    found = examples(args.block, args.lines, args.train, args.bench, args.limit, args.own)
    kept = np.array([e.held_out for e in found])
    part = np.array([zlib.crc32(e.text.encode("utf-8", "replace")) // 7 % 5 for e in found])
    train, rows = np.flatnonzero(~kept), np.flatnonzero(kept)
    print(f"{args.block}: {len(found):,} lines, {len(rows):,} kept back; encoder {encoder.name}", flush=True)
    hidden = inputs_of(found, net, reader, encoder)
    with np.load(args.base) as file:
        stored: Arrays = {name: file[name] for name in file.files}
    wanted, inner = targets(found), np.flatnonzero(~kept & (part == 0))
    if len(inner) < 5 or len(train) - len(inner) < 20:
        raise ResourceError(
            f"{len(train)} lines are too few to fit anything: 40 are the least, a few hundred do some good"
        )
    for name in BLOCKS[args.block]:
        print(f"  {name}: penalty {fit_block(stored, name, hidden, wanted, train, inner)}", flush=True)
    if args.block == "intent":
        ours = np.array([e.source in ("own", "user") for e in found])
        start = stored["service"].astype(np.float32), stored["service_bias"].astype(np.float32)
        mine = np.flatnonzero(ours & ~kept)
        _, stored["service"], stored["service_bias"] = best_fit("intent", hidden, wanted["intent"], wanted["weight"], mine, np.intersect1d(mine, inner), start)  # fmt: skip
    with np.load(args.base) as file:
        stored = {name: value.astype(file[name].dtype) for name, value in stored.items()}
    stored["encoder"] = np.array(encoder.name)
    save(args.out, stored)
    after = AffectNet.load(args.out, surface_size=reader.size)
    compare(args.block, net, after, found, hidden, rows)
    print(f"wrote {args.out}")


def compare(
    block: str,
    before: AffectNet,
    after: AffectNet,
    found: Sequence[Example],
    hidden: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Prints the figures on the kept-back lines of each source."""
    sources: dict[str, list[int]] = {}
    for row in rows:
        sources.setdefault(found[row].source, []).append(int(row))
    if not sources:
        print("no line was kept back: there is no figure to give")
    for source, mine in sorted(sources.items()):
        picked = np.array(mine)
        old: dict[str, Any] = figures(block, before, found, hidden, picked)
        new = figures(block, after, found, hidden, picked)
        told = ", ".join(f"{name} {old[name]:.3f} -> {new[name]:.3f}" for name in old)
        print(f"  kept back, {source} ({len(mine):,} lines): {told}")


if __name__ == "__main__":
    sys.exit(main())
