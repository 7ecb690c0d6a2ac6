"""Trains the heads of filter 2:  python -m models.train.affect --train DIR --bench DIR [--encoder DIR] [--cache FILE]

Deterministic: the same data and encoder give the same weights. Prints the figures on what was kept back.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from models.affect_cues import CueLexicon
from models.affect_features import TEXT_BUCKETS, TURN_BUCKETS, SurfaceReader
from models.affect_net import DENSE_GAIN, FINER, GROUPS, OUTPUTS, SHIPPED
from models.encoder import Encoder
from models.records import Speaker
from models.train import affect_data as data
from models.train.affect_data import Example

WIDTH, TAPS, TEXT_WIDTH, TURN_WIDTH = 192, 128, 32, 24
EPOCHS, BATCH, WINDOW, TRAIN_TOKENS = 6, 128, 8192, 96
SERVICE_TEMPERATURE, SERVICE_PENALTY = 0.6, 0.06
OWN_LINES = Path(__file__).parents[2] / "tests" / "data" / "intents.jsonl"


class Net(nn.Module):
    """The trained twin of models.affect_net."""

    def __init__(self, surface: int, size: int) -> None:
        """`surface` dense features, token states of `size` numbers."""
        super().__init__()
        self.text_grams = nn.EmbeddingBag(TEXT_BUCKETS, TEXT_WIDTH, mode="sum")
        self.turn_grams = nn.EmbeddingBag(TURN_BUCKETS, TURN_WIDTH, mode="sum")
        nn.init.normal_(self.text_grams.weight, std=0.05)
        nn.init.normal_(self.turn_grams.weight, std=0.05)
        self.taps = nn.Conv1d(size, TAPS, 3, padding=1)
        self.hidden = nn.Linear(2 * size + 2 * TAPS + surface + TEXT_WIDTH + TURN_WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, sum(OUTPUTS.values()))
        self.drop_state, self.drop = nn.Dropout(0.2), nn.Dropout(0.4)

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits [B, 27] of a batch made by `Table.batch`."""
        text = self.text_grams(batch["text"], batch["text_at"]) / batch["text_n"]
        turn = self.turn_grams(batch["turn"], batch["turn_at"]) / batch["turn_n"]
        found = F.relu(self.taps(self.drop_state(batch["tokens"]).transpose(1, 2))) * batch["mask"][:, None]
        local = self.drop(torch.cat((found.max(2).values, found.sum(2) / batch["mask"].sum(1, keepdim=True)), 1))
        parts = (self.drop_state(batch["state"]), local, batch["dense"], self.drop(text), self.drop(turn))
        inputs = torch.cat(parts, 1)
        return self.out(self.drop(F.relu(self.hidden(inputs))))


class Table:
    """All examples as arrays: states [N, 768] (scaled), dense [N, D], n-gram lists and targets with NaN for unknown."""

    def __init__(self, examples: list[Example], encoder: Encoder, reader: SurfaceReader, cache: Path | None) -> None:
        self.examples = examples
        self.encoder = encoder.name
        tokens, pooled = encoded_texts(examples, encoder, cache)
        self.tokens = [tokens[e.text] for e in examples]
        highest = np.stack([t.max(0) if len(t) else pooled[e.text] for t, e in zip(self.tokens, examples, strict=True)])
        states = np.concatenate((np.stack([pooled[e.text] for e in examples]), highest), 1).astype(np.float32)
        some = np.concatenate(self.tokens[:: max(len(examples) // 4000, 1)]).astype(np.float32)
        self.token_shift, self.token_scale = some.mean(0), 1 / (some.std(0) + 1e-4)
        self.size = len(self.token_shift)
        self.shift = states.mean(0)
        self.scale = 1 / (states.std(0) + 1e-4)
        self.states = (states - self.shift) * self.scale
        surfaces = [
            reader.read(e.text, speaker=Speaker(id=e.speaker_id, role=e.role, title=e.title), context=e.context)
            for e in examples
        ]
        self.dense = np.stack([s.dense for s in surfaces])
        self.text = [s.text_grams for s in surfaces]
        self.turn = [s.turn_grams for s in surfaces]
        self.targets = targets(examples)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The rows as tensors."""
        made: dict[str, torch.Tensor] = {
            "state": torch.from_numpy(self.states[rows]),
            "dense": torch.from_numpy(self.dense[rows]),
        }
        parts = [self.tokens[row][:TRAIN_TOKENS] for row in rows]
        longest = max(1, *map(len, parts))
        tokens = np.zeros((len(rows), longest, self.size), np.float32)
        mask = np.zeros((len(rows), longest), np.float32)
        for place, part in enumerate(parts):
            tokens[place, : len(part)] = (part.astype(np.float32) - self.token_shift) * self.token_scale
            mask[place, : max(len(part), 1)] = 1
        made["tokens"], made["mask"] = torch.from_numpy(tokens), torch.from_numpy(mask)
        for name, lists in (("text", self.text), ("turn", self.turn)):
            bags = [lists[row] for row in rows]
            lengths = np.array([len(bag) for bag in bags])
            made[name] = torch.from_numpy(np.concatenate(bags))
            made[f"{name}_at"] = torch.from_numpy(np.concatenate(([0], lengths.cumsum()[:-1])))
            made[f"{name}_n"] = torch.from_numpy(np.sqrt(np.maximum(lengths, 1))[:, None].astype(np.float32))
        for name, values in self.targets.items():
            made[name] = torch.from_numpy(values[rows])
        return made


def encoded_texts(
    examples: list[Example], encoder: Encoder, cache: Path | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Token states float16 [n, 384] and mean state of each text; kept in `cache` (npz) for the next run."""
    tokens: dict[str, np.ndarray] = {}
    pooled: dict[str, np.ndarray] = {}
    if cache and cache.exists():
        with np.load(cache, allow_pickle=True) as stored:
            if str(stored["name"]) == encoder.name:
                texts, ends, flat = stored["texts"].tolist(), stored["ends"], stored["tokens"]
                tokens = {t: flat[ends[i] : ends[i + 1]] for i, t in enumerate(texts)}
                pooled = dict(zip(texts, stored["pooled"], strict=True))
    missing = sorted({e.text for e in examples} - tokens.keys())
    for number, text in enumerate(missing):
        encoded = encoder.encode([text[:1500]])[0]
        tokens[text], pooled[text] = encoded.states[:160].astype(np.float16), encoded.pooled.astype(np.float16)
        if number % 5000 == 4999:
            print(f"encoded {number + 1} of {len(missing)}", flush=True)
    if cache and missing:
        texts = sorted(tokens)
        ends = np.concatenate(([0], np.cumsum([len(tokens[text]) for text in texts])))
        flat = np.concatenate([tokens[text] for text in texts])
        means = np.stack([pooled[text] for text in texts])
        np.savez(cache, name=encoder.name, texts=np.array(texts, object), ends=ends, tokens=flat, pooled=means)
    return tokens, pooled


def targets(examples: list[Example]) -> dict[str, np.ndarray]:
    """Targets by block, -1 or NaN where a source says nothing, and each line's weight."""
    count = len(examples)
    made: dict[str, np.ndarray] = {
        "intent": np.full(count, -1, np.int64), "emotion": np.full(count, -1, np.int64),
        "levels": np.full((count, 7), np.nan, np.float32), "finer": np.full((count, 3), np.nan, np.float32),
        "load": np.full((count, 4), np.nan, np.float32), "weight": np.ones(count, np.float32),
    }  # fmt: skip
    for row, e in enumerate(examples):
        made["weight"][row] = e.weight
        if e.intent:
            made["intent"][row] = data.INTENT_NUMBER[e.intent]
        if e.emotion:
            made["emotion"][row] = GROUPS.index(e.emotion)
        if e.levels:
            made["levels"][row] = [np.nan if value is None else value for value in e.levels]
        for group, value in e.finer.items():
            if group in FINER:
                made["finer"][row, list(FINER).index(group)] = value
        made["load"][row] = [np.nan if value is None else value for value in e.load]
    return made


def loss_of(logits: torch.Tensor, batch: dict[str, torch.Tensor], classes: dict[str, torch.Tensor]) -> torch.Tensor:
    """Weighted sum of the blocks' losses, each over the rows that know its target."""
    intent, emotion, levels, finer, load = logits.split(list(OUTPUTS.values()), 1)
    total = logits.new_zeros(())
    weight = batch["weight"]
    for block, name, share in ((intent, "intent", 1.0), (emotion, "emotion", 0.7)):
        known = batch[name] >= 0
        if known.any():
            each = F.cross_entropy(
                block[known], batch[name][known], classes[name], reduction="none", label_smoothing=0.05
            )
            total = total + share * (each * weight[known]).sum() / len(weight)
    for block, name, share in ((levels, "levels", 1.0), (finer, "finer", 0.2), (load, "load", 1.0)):
        known = ~torch.isnan(batch[name])
        if known.any():
            each = F.binary_cross_entropy_with_logits(block[known], batch[name][known], reduction="none")
            total = total + share * (each * weight[:, None].expand_as(known)[known]).sum() / len(weight)
    return total


def train(table: Table, rows: np.ndarray, surface: int, seed: int = 0) -> Net:
    """A net trained on the rows."""
    torch.manual_seed(seed)
    shuffle = np.random.default_rng(seed)
    net = Net(surface, table.size)
    classes = {}
    for name, size in (("intent", 6), ("emotion", 7)):
        known = table.targets[name][rows]
        mass = np.bincount(known[known >= 0], table.targets["weight"][rows][known >= 0], size) + 1
        classes[name] = torch.tensor((mass.sum() / mass / size) ** 0.4, dtype=torch.float32)
    grams = [*net.text_grams.parameters(), *net.turn_grams.parameters()]
    rest = [*net.taps.parameters(), *net.hidden.parameters(), *net.out.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": grams, "lr": 8e-3, "weight_decay": 0.01}, {"params": rest, "lr": 1.5e-3, "weight_decay": 0.05}]
    )
    steps = EPOCHS * (len(rows) // BATCH + len(rows) // WINDOW + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(1 - step / steps, 0.01))
    for epoch in range(EPOCHS):
        net.train()
        batches = by_length(table, shuffle.permutation(rows), shuffle)
        seen = 0.0
        for chosen in batches:
            batch = table.batch(chosen)
            loss = loss_of(net(batch), batch, classes)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            seen += loss.item()
        print(f"epoch {epoch + 1}/{EPOCHS} loss {seen / len(batches):.4f}", flush=True)
    return net.eval()


def by_length(table: Table, order: np.ndarray, shuffle: np.random.Generator) -> list[np.ndarray]:
    """Batches of rows of like length, in random order: little padding."""
    batches = []
    for begin in range(0, len(order), WINDOW):
        window = order[begin : begin + WINDOW]
        window = window[np.argsort([len(table.tokens[row]) for row in window], kind="stable")]
        batches += [window[at : at + BATCH] for at in range(0, len(window), BATCH)]
    return [batches[place] for place in shuffle.permutation(len(batches))]


def logits_of(net: Net, table: Table, rows: np.ndarray) -> np.ndarray:
    """Logits [len(rows), 27]."""
    with torch.no_grad():
        parts = [net(table.batch(rows[begin : begin + 64])).numpy() for begin in range(0, len(rows), 64)]
    return np.concatenate(parts)


def direct_inputs(table: Table, rows: np.ndarray) -> np.ndarray:
    """Scaled states and dense features [N, 768 + D]: what the two linear heads see."""
    return np.concatenate((table.states[rows], DENSE_GAIN * table.dense[rows]), 1).astype(np.float32)


def linear_head(inputs: np.ndarray, truth: np.ndarray, classes: int, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Multinomial logistic regression: matrix [in, classes] and bias [classes]."""
    x, y = torch.from_numpy(inputs), torch.from_numpy(truth)
    matrix = torch.zeros(inputs.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimiser = torch.optim.LBFGS([matrix, bias], max_iter=80, history_size=20, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(x @ matrix + bias, y) + penalty * (matrix**2).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return matrix.detach().numpy(), bias.detach().numpy()


def service_heads(table: Table, kept: np.ndarray) -> dict[str, np.ndarray]:
    """The service head from our own lines and the gate: ours and the service sets against TV talk and posts."""
    source = np.array([e.source for e in table.examples])
    ours = np.flatnonzero((source == "own") & ~kept)
    service, service_bias = linear_head(direct_inputs(table, ours), table.targets["intent"][ours], 6, SERVICE_PENALTY)
    inside = np.flatnonzero(np.char.startswith(source.astype(str), "acts_") & ~kept)[::6]
    outside = np.flatnonzero(np.isin(source, ["cped", "intensity_zh", "intensity_en", "goemotions"]) & ~kept)[::6]
    rows = np.concatenate((np.repeat(ours, 2), inside, outside))
    truth = np.concatenate((np.ones(2 * len(ours) + len(inside), np.int64), np.zeros(len(outside), np.int64)))
    gate, gate_bias = linear_head(direct_inputs(table, rows), truth, 2, 1e-3)
    return {
        "service": service, "service_bias": service_bias,
        "gate": gate[:, 1] - gate[:, 0], "gate_bias": (gate_bias[1:] - gate_bias[:1]),
    }  # fmt: skip


def macro_f1(truth: np.ndarray, guess: np.ndarray) -> float:
    """Mean F1 over the labels that occur in the truth."""
    scores = []
    for label in np.unique(truth):
        hit = ((truth == label) & (guess == label)).sum()
        scores.append(2 * hit / max((truth == label).sum() + (guess == label).sum(), 1))
    return float(np.mean(scores))


def lifted(logits: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, float]:
    """The power of the inverse class rate, among a few, that gives the best macro-F1, as log-lifts; and that F1."""
    rates = np.bincount(truth, minlength=logits.shape[1]) / len(truth)
    rates = np.where(rates > 0, rates, rates[rates > 0].min())
    best = (np.zeros(logits.shape[1], np.float32), -1.0)
    for power in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8):
        lift = (-power * np.log(rates / rates.max())).astype(np.float32)
        score = macro_f1(truth, (logits + lift).argmax(1))
        if score > best[1]:
            best = (lift, score)
    return best


def temperature(logits: np.ndarray, truth: np.ndarray) -> float:
    """The temperature of least negative log-likelihood, on a grid."""
    grid = np.arange(0.5, 3.01, 0.1)

    def loss(value: float) -> float:
        scaled = logits / value
        top = scaled.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(scaled - top).sum(1)) + top[:, 0] - scaled[np.arange(len(truth)), truth]))

    return float(min(grid, key=loss))


def calibration_error(probs: np.ndarray, truth: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error of the top probability over ten equal bins."""
    top, right = probs.max(1), probs.argmax(1) == truth
    place = np.minimum((top * bins).astype(int), bins - 1)
    parts = [(place == b) for b in range(bins)]
    return float(sum(p.mean() * abs(top[p].mean() - right[p].mean()) for p in parts if p.any()))


def collect(train_kit: Path, bench: Path, lexicon: CueLexicon, limit: int, lines: Path | None = None) -> list[Example]:
    """All examples in a fixed order, a user's own `lines` among them; the held-out ones and our own test half are marked `held_out`."""
    test = data.own(OWN_LINES, "test")
    for example in test:
        example.held_out = True
    found = data.own(OWN_LINES, "train") + test + data.suites(bench)
    found += data.feelings(train_kit, limit) + data.axes(train_kit, limit) + data.acts(train_kit, limit // 2)
    extra = Path(__file__).parent / "affect_lines.jsonl"
    if extra.exists():
        found += data.own(extra, "train")
    if lines is not None:
        from models.train.user_lines import read_lines

        found += read_lines(lines)
    data.pressure(found, lexicon)
    return found


def report(table: Table, logits: np.ndarray, rows: np.ndarray, temp: float) -> dict[str, Any]:
    """Figures on the kept-back rows by source."""
    figures: dict[str, Any] = {}
    source = np.array([table.examples[row].source for row in rows])
    for name in ("own", "cped"):
        pick = (source == name) & (table.targets["intent"][rows] >= 0)
        truth, block = table.targets["intent"][rows][pick], logits[pick, :6]
        probs = np.exp(block / temp) / np.exp(block / temp).sum(1, keepdims=True)
        figures[f"{name} intent"] = round(macro_f1(truth, block.argmax(1)), 4)
        figures[f"{name} intent ece"] = round(calibration_error(probs, truth), 4)
    for name in ("intensity_zh", "intensity_en"):
        pick = source == name
        levels, truth = logits[pick, 13:20], table.targets["levels"][rows][pick]
        values = 1 / (1 + np.exp(-levels))
        known = [k for k in range(1, 7) if not np.isnan(truth[:, k]).any()]
        figures[f"{name} pearson"] = round(
            float(np.mean([np.corrcoef(values[:, k], truth[:, k])[0, 1] for k in known])), 4
        )
    return figures


def main(argv: Sequence[str] | None = None) -> None:
    """Trains, prints the figures on what was kept back, writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument(
        "--encoder", default=None, help="folder or st:NAME_OR_PATH; by default CUESTREAM_ENCODER or the shipped one"
    )
    parser.add_argument(
        "--lines", type=Path, default=None, help="own labelled lines (models.train.user_lines) beside the sets"
    )
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--limit", type=int, default=8000)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    lexicon = CueLexicon.load()
    reader = SurfaceReader(lexicon)
    table = Table(
        collect(args.train, args.bench, lexicon, args.limit, args.lines), Encoder.load(args.encoder), reader, args.cache
    )
    kept = np.array([e.held_out for e in table.examples])
    print(f"{len(kept)} examples, {kept.sum()} kept back", flush=True)
    net = train(table, np.flatnonzero(~kept), reader.size)
    rows = np.flatnonzero(kept)
    logits = logits_of(net, table, rows)
    write(args.out, net, table, rows, logits)


def write(out: Path, net: Net, table: Table, rows: np.ndarray, logits: np.ndarray) -> None:
    """The npz of models.affect_net, with temperatures and lifts set on the kept-back CPED lines."""
    cped = np.array([table.examples[row].source == "cped" for row in rows])
    known = cped & (table.targets["intent"][rows] >= 0)
    felt = cped & (table.targets["emotion"][rows] >= 0)
    temp = temperature(logits[known, :6], table.targets["intent"][rows][known])
    felt_temp = temperature(logits[felt, 6:13], table.targets["emotion"][rows][felt])
    lift, emotion_f1 = lifted(logits[felt, 6:13] / felt_temp, table.targets["emotion"][rows][felt])
    figures = report(table, logits, rows, temp)
    print({**figures, "cped emotion": round(emotion_f1, 4), "temperatures": (temp, felt_temp)})
    weights = {
        "state_scale": table.scale, "state_shift": table.shift,
        "token_scale": table.token_scale, "token_shift": table.token_shift,
        "taps": net.taps.weight.permute(1, 2, 0).reshape(table.size, 3 * TAPS), "taps_bias": net.taps.bias,
        "text_grams": net.text_grams.weight, "turn_grams": net.turn_grams.weight,
        "hidden": net.hidden.weight.T, "hidden_bias": net.hidden.bias,
        "out": net.out.weight.T, "out_bias": net.out.bias,
    }  # fmt: skip
    kept = np.zeros(len(table.examples), bool)
    kept[rows] = True
    weights |= service_heads(table, kept)
    plain = {n: w.detach().numpy() if isinstance(w, torch.Tensor) else w for n, w in weights.items()}
    np.savez_compressed(
        out,
        **{n: w.astype(np.float16 if w.ndim == 2 else np.float32) for n, w in plain.items()},
        temperature=np.array([temp, felt_temp, SERVICE_TEMPERATURE], np.float32),
        emotion_lift=lift,
        intent_lift=np.zeros(6, np.float32),
        encoder=np.array(table.encoder),
    )


if __name__ == "__main__":
    main()
