"""Trains the heads of filter 2:  python -m models.train.affect --train DIR --bench DIR [--encoder DIR] [--start FILE]

Reads every line once through the encoder and fits the small net of ``models.affect_net`` on what it saw; with `--start` (the
student.pt of ``models.train.encoder_student``) it goes on from the head that was trained together with the encoder. Deterministic:
the same data and encoder give the same weights. Prints the figures on what was kept back.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor
from torch.nn import functional as F

from models.affect import SERVICE_SHARE
from models.affect_cues import CueLexicon
from models.affect_features import SurfaceReader
from models.affect_net import FINER, GROUPS, SHIPPED, text_state
from models.encoder import Encoder
from models.records import Speaker
from models.train import affect_data as data
from models.train.affect_data import Example
from models.train.student_net import AffectHead
from models.train.user_lines import read_lines

STEPS, RATE, LENGTH = 1200, 1e-3, 1500
PORTIONS = {
    "own": 40, "cped": 60, "intensity_zh": 20, "intensity_en": 20, "feelings": 40, "axes": 20, "acts": 40,
}  # fmt: skip
"""Groups of lines, and how many of each a step takes."""
SHARES = {
    "own": 1.0, "cped": 1.0, "intensity_zh": 1.0, "intensity_en": 0.8, "feelings": 0.6, "axes": 0.4, "acts": 0.3,
}  # fmt: skip
"""Weights of the groups' losses."""
BLOCKS = {"intent": 1.0, "emotion": 0.8, "levels": 1.5, "finer": 0.2, "load": 1.0}
BOUNDS = {
    "intent": (0, 6),
    "emotion": (6, 13),
    "levels": (13, 20),
    "finer": (20, 23),
    "load": (23, 27),
    "service": (27, 33),
}
INSIDE = {"own": 1.0, "acts": 1.0, "cped": 0.0, "intensity_zh": 0.0, "intensity_en": 0.0, "feelings": 0.0}
"""What the gate is to say of each group."""
OWN_LINES = Path(__file__).parents[2] / "tests" / "data" / "intents.jsonl"
TIMES = {"own post": 3, "own felt zh": 2, "own felt en": 2, "own drama": 3, "own talk": 2}
"""How often our own lines beside a large set of their kind are taken: they are few, and labelled with more care."""
_GROUP_OF = {
    "own": "own", "cped": "cped", "intensity_zh": "intensity_zh", "intensity_en": "intensity_en",
    "goemotions": "feelings", "personas": "feelings", "sad": "feelings", "sad joined": "feelings",
    "cpsycoun": "feelings", "user": "own", "casino": "axes", "politeness": "axes", "certainty": "axes",
    "own post": "feelings", "own felt zh": "intensity_zh", "own felt en": "intensity_en", "own drama": "cped",
    "own talk": "own",
}  # fmt: skip


def group_of(source: str) -> str:
    """The group a source belongs to."""
    return _GROUP_OF.get(source, "acts")


def kept_back(example: Example) -> bool:
    """Lines not trained on: the suites' fifth, our test half, and a tenth of our other lines, to set temperatures on."""
    return example.held_out or (example.source.startswith("own") and zlib.crc32(example.group.encode()) % 10 == 0)


def speaker_of(example: Example) -> Speaker:
    """Who says the line."""
    return Speaker(id=example.speaker_id, role=example.role, title=example.title)


class Table(Struct):
    """Lines as arrays: mean and maximum [N, 2, H] of the mixed states, dense features [N, D], mean states of the two earlier
    turns [N, 2, H] (zeros: `spoken` [N, 2] False), targets, and each line's group."""

    examples: list[Example]
    states: np.ndarray
    dense: np.ndarray
    turns: np.ndarray
    spoken: np.ndarray
    targets: dict[str, np.ndarray]
    group: np.ndarray


def read_table(examples: list[Example], encoder: Encoder, reader: SurfaceReader) -> Table:
    """Every line and its turns through the encoder, each distinct text once."""
    surfaces = [reader.read(e.text, speaker=speaker_of(e), context=e.context) for e in examples]
    texts = sorted(
        {e.text[:LENGTH] for e in examples} | {t for s in surfaces for t in s.turns if t}, key=lambda t: (len(t), t)
    )
    place = {text: number for number, text in enumerate(texts)}
    states = np.zeros((len(texts), 2, encoder.dimension), np.float32)
    for begin in range(0, len(texts), 64):
        for number, encoded in enumerate(encoder.encode(texts[begin : begin + 64]), begin):
            states[number] = text_state(encoded)
    spoken = np.array([[bool(text) for text in s.turns] for s in surfaces])
    turns = np.array([[place.get(text, 0) for text in s.turns] for s in surfaces])
    return Table(
        examples, states[[place[e.text[:LENGTH]] for e in examples]], np.stack([s.dense for s in surfaces]),
        states[turns, 0], spoken, targets(examples), np.array([group_of(e.source) for e in examples]),
    )  # fmt: skip


def inputs(head: AffectHead, table: Table, rows: np.ndarray) -> tuple[Tensor, ...]:
    """What the head takes, for some rows: standardised mean and maximum, dense features, the two turns."""
    states = head.standard(torch.from_numpy(table.states[rows]))
    turns = head.standard(torch.from_numpy(table.turns[rows])) * torch.from_numpy(table.spoken[rows])[..., None]
    return states[:, 0], states[:, 1], torch.from_numpy(table.dense[rows]), turns[:, 0], turns[:, 1]


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


def affect_loss(logits: Tensor, target: dict[str, Tensor], classes: dict[str, Tensor], group: str) -> Tensor:
    """Sum of the blocks' mean losses, each over the rows that know its target; service head and gate beside them."""
    total = torch.zeros(())
    for name in ("intent", "emotion"):
        known = target[name] >= 0
        if known.any():
            truth, block = target[name][known], logits[:, slice(*BOUNDS[name])][known]
            total = total + BLOCKS[name] * F.cross_entropy(block, truth, classes.get(name), label_smoothing=0.05)
            if group == "own" and name == "intent":
                service = logits[:, slice(*BOUNDS["service"])][known]
                total = total + F.cross_entropy(service, truth, label_smoothing=0.05)
    for name in ("levels", "finer", "load"):
        known = ~torch.isnan(target[name])
        if known.any():
            block = logits[:, slice(*BOUNDS[name])][known]
            total = total + BLOCKS[name] * F.binary_cross_entropy_with_logits(block, target[name][known])
    if group in INSIDE:
        gate = torch.full((len(logits),), INSIDE[group])
        total = total + 0.2 * F.binary_cross_entropy_with_logits(logits[:, -1], gate)
    return total


def class_weights(targets: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, Tensor]:
    """Weights of intents and emotions among some rows: the inverse of their rate to the power 0.4, mean 1 over the rows."""
    found = {}
    for name, size in (("intent", 6), ("emotion", 7)):
        truth = targets[name][rows]
        counts = np.bincount(truth[truth >= 0], minlength=size) + 1.0
        weight = (counts.sum() / counts) ** 0.4
        found[name] = torch.tensor(weight * counts.sum() / (weight * counts).sum(), dtype=torch.float32)
    return found


def train(table: Table, rows: np.ndarray, head: AffectHead, steps: int, rate: float, seed: int = 0) -> None:
    """Fits the head on the rows in place; a step takes some lines of every group."""
    torch.manual_seed(seed)
    shuffle = np.random.default_rng(seed)
    of_group = {name: rows[table.group[rows] == name] for name in PORTIONS}
    of_group = {name: found for name, found in of_group.items() if len(found)}
    classes = {name: class_weights(table.targets, found) for name, found in of_group.items()}
    orders = {name: np.concatenate([shuffle.permutation(found) for _ in range(1 + steps * PORTIONS[name] // len(found))])
              for name, found in of_group.items()}  # fmt: skip
    optimiser = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(1 - step / steps, 0.01))
    head.train()
    for step in range(steps):
        loss = torch.zeros(())
        for name, order in orders.items():
            chosen = order[step * PORTIONS[name] : (step + 1) * PORTIONS[name]]
            target = {key: torch.from_numpy(values[chosen]) for key, values in table.targets.items()}
            loss = loss + SHARES[name] * affect_loss(head(*inputs(head, table, chosen)), target, classes[name], name)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 500 == 0:
            print(f"step {step} of {steps}: loss {loss.item():.4f}", flush=True)
    head.eval()


def logits_of(head: AffectHead, table: Table, rows: np.ndarray) -> np.ndarray:
    """Logits [len(rows), 34]."""
    with torch.no_grad():
        return head(*inputs(head, table, rows)).numpy()


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


def collect(train_kit: Path, bench: Path, lexicon: CueLexicon, limit: int) -> list[Example]:
    """All examples in a fixed order; the held-out ones and our own test half are marked `held_out`."""
    test = data.own(OWN_LINES, "test")
    for example in test:
        example.held_out = True
    found = data.own(OWN_LINES, "train") + test + data.suites(bench)
    found += data.feelings(train_kit, limit) + data.axes(train_kit, limit) + data.acts(train_kit, limit // 2)
    extra = Path(__file__).parent / "affect_lines.jsonl"
    if extra.exists():
        found += data.own(extra, "train")
    more = Path(__file__).parent / "affect_more.jsonl"
    if more.exists():
        found += [e for e in data.more(more) for _ in range(1 if kept_back(e) else TIMES[e.source])]
    data.pressure(found, lexicon)
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


class Settings(Struct):
    """Temperatures of intent, emotion and service head, and the log-lifts of rare labels."""

    temperature: tuple[float, float, float]
    emotion_lift: np.ndarray
    intent_lift: np.ndarray


def settle(table: Table, head: AffectHead, held: np.ndarray) -> Settings:
    """Temperatures and lifts: on the kept-back lines of CPED, the service head's on the kept-back tenth of our own."""
    source = np.array([e.source for e in table.examples])
    cped = held[source[held] == "cped"]
    felt = cped[table.targets["emotion"][cped] >= 0]
    tenth = held[(source[held] == "own") & ~np.array([table.examples[row].held_out for row in held])]
    logits = logits_of(head, table, cped)[:, :6]
    lift, _f1 = lifted(logits, table.targets["intent"][cped])
    warm = temperature(logits + lift, table.targets["intent"][cped])
    emotion = logits_of(head, table, felt)[:, 6:13]
    cooled = temperature(emotion, table.targets["emotion"][felt])
    emotion_lift, _f1 = lifted(emotion / cooled, table.targets["emotion"][felt])
    service = temperature(logits_of(head, table, tenth)[:, 27:33], table.targets["intent"][tenth])
    return Settings((warm, cooled, service), emotion_lift, lift)


def blended(logits: np.ndarray, settings: Settings) -> np.ndarray:
    """Intent probabilities [N, 6], as models.affect makes them."""
    share = SERVICE_SHARE / (1 + np.exp(-logits[:, 33:]))
    net = softmax((logits[:, :6] + settings.intent_lift) / settings.temperature[0])
    return (1 - share) * net + share * softmax(logits[:, 27:33] / settings.temperature[2])


def report(table: Table, head: AffectHead, held: np.ndarray, settings: Settings) -> dict[str, Any]:
    """Figures on the kept-back rows by source; of our own lines the tenth and the test half apart."""
    figures: dict[str, Any] = {"temperature": settings.temperature}
    source = np.array([e.source for e in table.examples])
    test = np.array([e.held_out for e in table.examples])
    for name, rows in (
        ("own tenth", held[(source[held] == "own") & ~test[held]]),
        ("own test half", held[(source[held] == "own") & test[held]]),
        ("own talk", held[source[held] == "own talk"]),
        ("own drama", held[source[held] == "own drama"]),
        ("cped", held[source[held] == "cped"]),
    ):
        logits, truth = logits_of(head, table, rows), table.targets["intent"][rows]
        probs = blended(logits, settings)
        figures[f"{name} intent"] = round(macro_f1(truth, probs.argmax(1)), 4)
        figures[f"{name} intent by net / service"] = (
            round(macro_f1(truth, logits[:, :6].argmax(1)), 4), round(macro_f1(truth, logits[:, 27:33].argmax(1)), 4),
        )  # fmt: skip
        figures[f"{name} calibration error"] = round(calibration_error(probs, truth), 4)
        felt = table.targets["emotion"][rows] >= 0
        guess = (logits[felt, 6:13] / settings.temperature[1] + settings.emotion_lift).argmax(1)
        figures[f"{name} emotion"] = round(macro_f1(table.targets["emotion"][rows][felt], guess), 4)
        figures[f"{name} gate"] = round(float((1 / (1 + np.exp(-logits[:, 33]))).mean()), 3)
    for name in ("intensity_zh", "intensity_en"):
        rows = held[source[held] == name]
        levels, truth = logits_of(head, table, rows)[:, 13:20], table.targets["levels"][rows]
        values = 1 / (1 + np.exp(-levels))
        known = [k for k in range(1, 7) if not np.isnan(truth[:, k]).any()]
        pairs = [float(np.corrcoef(values[:, k], truth[:, k])[0, 1]) for k in known]
        figures[f"{name} pearson"] = round(float(np.mean(pairs)), 4)
    return figures


def write(out: Path, head: AffectHead, settings: Settings, encoder: str) -> None:
    """The npz of models.affect_net."""
    weights = {
        "shift": head.shift, "scale": head.scale, "turns": head.turns.weight.T, "turns_bias": head.turns.bias,
        "hidden": head.hidden.weight.T, "hidden_bias": head.hidden.bias, "out": head.out.weight.T,
        "out_bias": head.out.bias, "service": head.service.weight.T, "service_bias": head.service.bias,
        "gate": head.gate.weight[0], "gate_bias": head.gate.bias,
    }  # fmt: skip
    plain = {name: weight.detach().numpy() for name, weight in weights.items()}
    small: dict[str, Any] = {n: w.astype(np.float16 if w.ndim == 2 else np.float32) for n, w in plain.items()}
    np.savez_compressed(
        out, **small, temperature=np.array(settings.temperature, np.float32),
        emotion_lift=settings.emotion_lift, intent_lift=settings.intent_lift, encoder=np.array(encoder),
    )  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Trains, prints the figures on what was kept back, writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, default=None)
    parser.add_argument("--start", type=Path, default=None, help="student.pt, whose head is gone on with")
    parser.add_argument("--lines", type=Path, default=None, help="labelled lines of your own (models.train.user_lines)")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--limit", type=int, default=3000)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lexicon = CueLexicon.load()
    reader, encoder = SurfaceReader(lexicon), Encoder.load(args.encoder)
    lines = collect(args.train, args.bench, lexicon, args.limit) + (read_lines(args.lines) if args.lines else [])
    table = read_table(lines, encoder, reader)
    back = np.array([kept_back(e) for e in table.examples])
    held, rows = np.flatnonzero(back), np.flatnonzero(~back)
    print(f"{len(back)} lines, {len(held)} kept back", flush=True)
    head = AffectHead(reader.size, encoder.dimension)
    if args.start:
        stored = torch.load(args.start)["student"]
        head.load_state_dict({n.removeprefix("affect."): v for n, v in stored.items() if n.startswith("affect.")})
        head.eval()
        print("as it came:", report(table, head, held, settle(table, head, held)), flush=True)
    else:
        states = table.states[rows, 0]
        head.shift.copy_(torch.from_numpy(states.mean(0)))
        head.scale.copy_(torch.from_numpy(1 / (states.std(0) + 1e-4)))
    train(table, rows, head, args.steps, args.rate)
    settings = settle(table, head, held)
    print(report(table, head, held, settings))
    write(args.out, head, settings, encoder.name)


if __name__ == "__main__":
    main()
