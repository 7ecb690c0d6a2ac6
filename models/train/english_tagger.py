"""Trains the English tagger: an averaged structured perceptron, deterministic, some minutes on one core.

``python -m models.train.english_tagger --silver lines.jsonl --bench SUITES --out models/weights/english_tagger.npz``

`--silver` is the output of ``models.train.english_tagger_data``; `--bench` a folder with the suite pii_en (MIT), whose lines are used
with their own and with exchanged names. `--hold-out` leaves every other template of that suite out and prints the score on it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from models.entities.english_tagger import TAGS, Features, Lexicon, legal_transitions, plain, tokenize, viterbi
from models.train.english_tagger_data import GIVEN_ZH, LOCALES, SURNAMES_ZH, Line, Maker, fill, lowered, replaced

SIZE = 1 << 18
EPOCHS = 5
EXCHANGES = 5
MADE = 150


def hashes(words: set[str]) -> np.ndarray:
    """Sorted 32-bit hashes of a word list."""
    return np.array(sorted({crc32(plain(word).encode()) for word in words}), dtype=np.uint32)


def name_lists(silver: list[Line]) -> dict[str, np.ndarray]:
    """First and last names and towns of Faker's providers, everyday words and organisation words of the silver lines."""
    from faker import Faker

    lists: dict[str, set[str]] = {
        "first": set(GIVEN_ZH),
        "last": set(SURNAMES_ZH),
        "place": set(),
        "org": set(),
        "word": set(),
    }
    for locale in LOCALES:
        for provider in Faker(locale).get_providers():
            for attribute in dir(provider):
                key = (
                    "first"
                    if attribute.startswith("first_names")
                    else "last"
                    if attribute.startswith("last_names")
                    else None
                )
                key = "place" if attribute in ("cities", "countries", "city_names", "states") else key
                value = getattr(provider, attribute, None) if key else None
                if key and isinstance(value, dict | list | tuple):
                    lists[key].update(part for item in value for part in str(item).split() if len(part) > 1)
    counts: Counter[str] = Counter()
    for line in silver:
        named = [(start, end) for start, end, _ in line["spans"]]
        for token in tokenize(line["text"]):
            if token.text.islower() and not any(a <= token.start < b for a, b in named):
                counts[token.text] += 1
        for start, end, kind in line["spans"]:
            if kind != "PER":
                lists["org" if kind == "ORG" else "place"].update(re.findall(r"[^\W\d_]{2,}", line["text"][start:end]))
    lists["word"] = {word for word, count in counts.items() if count >= 3}
    return {key: hashes(words) for key, words in lists.items()}


def suite_lines(folder: Path) -> list[Line]:
    """The lines of pii_en with persons and addresses; `template` is the line with everything annotated taken out."""
    cases = {
        row["id"]: row["text"] for row in map(json.loads, (folder / "pii_en" / "cases.jsonl").open(encoding="utf-8"))
    }
    kinds = {"person": "PER", "address": "ADDR"}
    lines = []
    for row in map(json.loads, (folder / "pii_en" / "gold.jsonl").open(encoding="utf-8")):
        text = cases[row["id"]]
        spans = [(e["start"], e["end"], kinds[e["type"]]) for e in row["entities"] if e["type"] in kinds]
        cut = sorted([(e["start"], e["end"]) for e in row["entities"]] + [tuple(span) for span in row["ignore"]])
        template, at = "", 0
        for start, end in cut:
            template, at = template + text[at:start] + "_", max(at, end)
        lines.append(
            {
                "set": "pii_en",
                "text": text,
                "spans": spans,
                "template": re.sub(r"\W+", " ", template + text[at:]).lower(),
            }
        )
    return lines


def gold_tags(line: Line) -> tuple[list[str], list[int]]:
    """Tokens and tag numbers of a labelled line."""
    tokens = tokenize(line["text"])
    tags = [0] * len(tokens)
    for start, end, kind in line["spans"]:
        inside = [at for at, token in enumerate(tokens) if token.start < end and start < token.end]
        for nth, at in enumerate(inside):
            tags[at] = TAGS.index(("B-" if nth == 0 else "I-") + kind)
    return [token.text for token in tokens], tags


class Perceptron:
    """Weights [size, tags] and transitions, with the sums that averaging needs."""

    def __init__(self) -> None:
        shape = (SIZE, len(TAGS))
        self.weights, self.summed = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self.transitions = np.zeros((len(TAGS) + 1, len(TAGS)), np.float64)
        self.transitions_summed = np.zeros_like(self.transitions)
        self.legal = legal_transitions()
        self.step = 1

    def learn(self, rows: np.ndarray, gold: list[int]) -> bool:
        """One line: predicts, and moves the weights where that was wrong. Wrong "no name" weighs no more than wrong name."""
        guess = viterbi(self.weights[rows].sum(axis=1).astype(np.float64), self.transitions + self.legal)
        self.step += 1
        if guess == gold:
            return False
        last_gold = last_guess = len(TAGS)
        for at, (right, wrong) in enumerate(zip(gold, guess, strict=True)):
            if right != wrong:
                for tag, change in ((right, 1.0), (wrong, -1.0)):
                    self.weights[rows[at], tag] += change
                    self.summed[rows[at], tag] += change * self.step
            for table_step, change, pair in (
                (self.step, 1.0, (last_gold, right)),
                (self.step, -1.0, (last_guess, wrong)),
            ):
                self.transitions[pair] += change
                self.transitions_summed[pair] += change * table_step
            last_gold, last_guess = right, wrong
        return True

    def averaged(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the weights over all steps."""
        return self.weights - self.summed / self.step, self.transitions - self.transitions_summed / self.step


def training_lines(silver: list[Line], suite: list[Line], seed: int) -> list[Line]:
    """All lines of one training run, shuffled."""
    maker = Maker(seed)
    templates = (Path(__file__).parent / "english_tagger_templates.txt").read_text(encoding="utf-8").splitlines()
    lines = list(silver)
    for line in silver:
        if any(kind == "PER" for _, _, kind in line["spans"]) and maker.random.random() < 0.5:
            lines.append(replaced(line["text"], line["spans"], maker))
    for template in templates:
        if template and not template.startswith("#"):
            lines += [fill(template.replace("\\n", "\n"), maker) for _ in range(MADE if "{" in template else 5)]
    for line in suite:
        lines += [line, line, *(replaced(line["text"], line["spans"], maker) for _ in range(EXCHANGES))]
    lines += [lowered(line) for line in lines if maker.random.random() < 0.12]
    maker.random.shuffle(lines)
    return lines


def train(lines: list[Line], lexicon: Lexicon, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Averaged weights and transitions after `EPOCHS` passes."""
    features = Features(lexicon, SIZE)
    data = [(features(words).astype(np.int32), tags) for words, tags in map(gold_tags, lines) if words]
    model, order = Perceptron(), random.Random(seed)
    for epoch in range(EPOCHS):
        order.shuffle(data)
        wrong = sum(model.learn(rows, tags) for rows, tags in data)
        print(f"epoch {epoch}: {wrong} of {len(data)} lines wrong", flush=True)
    return model.averaged()


def save(path: Path, weights: np.ndarray, transitions: np.ndarray, lists: dict[str, np.ndarray]) -> None:
    """Writes the weights as int8 with one scale."""
    limit = float(np.quantile(np.abs(weights[weights != 0]), 0.9995))
    scale = limit / 127
    small = np.clip(np.rint(weights / scale), -127, 127).astype(np.int8)
    arrays: dict[str, Any] = {
        "weights": small,
        "scale": np.float32(scale),
        "transitions": transitions.astype(np.float32),
        **lists,
    }
    np.savez_compressed(path, **arrays)


def main() -> None:
    """Trains, and with `--hold-out` reports on the templates left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--silver", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hold-out", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    silver = [json.loads(line) for line in arguments.silver.open(encoding="utf-8")]
    suite = suite_lines(arguments.bench)
    held = [line for line in suite if arguments.hold_out and crc32(line["template"].encode()) % 2]
    suite = [line for line in suite if line not in held]
    lists = name_lists(silver)
    weights, transitions = train(training_lines(silver, suite, arguments.seed), Lexicon(lists), arguments.seed)
    save(arguments.out, weights, transitions, lists)
    if held:
        report(arguments.out, held)


def report(path: Path, lines: list[Line]) -> None:
    """Prints precision, recall and F1 by kind on lines; a find counts if it shares half of the union with a gold span."""
    from models.entities.english_tagger import EnglishTagger

    tagger = EnglishTagger.load(path)
    for kind in ("PER", "ADDR"):
        hit = found = wanted = 0
        for line in lines:
            gold = [(a, b) for a, b, k in line["spans"] if k == kind]
            guess = [(span.start, span.end) for span in tagger.find(line["text"]) if span.kind == kind]
            found, wanted = found + len(guess), wanted + len(gold)
            hit += sum(any(2 * (min(b, d) - max(a, c)) >= max(b, d) - min(a, c) for c, d in guess) for a, b in gold)
        p, r = hit / max(found, 1), hit / max(wanted, 1)
        print(f"{kind}: P {p:.3f} R {r:.3f} F1 {2 * p * r / max(p + r, 1e-9):.3f} of {wanted}")


if __name__ == "__main__":
    main()
