"""Trains the clause boundary models of filter 3: ``segments_net.npz``, ``segments_zh.npz`` and ``segments_en.npz``.

    python -m models.train.segments --train DIR [--encoder DIR] [--out DIR] [--only net|words] [--silver FILE] [--bench DIR]

`--train` is the training kit (``segments_*`` and dialogue sets), `--encoder` the encoder whose token states the net reads (the
shipped one by default), `--out` the folder of the weights, `--silver` lines ``{"text","odds":[[offset, p], …]}`` labelled by a
larger tagger (``models/train/segments_teacher.py``), `--bench` prints scores on the suites' development halves by source. Share
and limits are chosen on lines held out: own Chinese ones and every twelfth English one. The word models take
seconds, the net some minutes of one core; the same data gives the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from models.encoder import Encoder
from models.lexicons import FOLDER
from models.train import segments_net
from models.units.boundary_net import STYLES, BoundaryNet, places_of
from models.units.clause_features import BITS, features, gap_kind, tokenize
from models.units.clauses import WEIGHTS, BoundaryModel, WordModels, word_odds

OWN = FOLDER.parent.parent / "tests" / "data" / "segments_zh.txt"
MORE = Path(__file__).parent / "segments_lines_zh.txt"
HELD = Path(__file__).parent / "segments_held_zh.txt"
"""Own Chinese lines: those the tests read too, the rest, and those that nothing learns from."""
Line = dict[str, Any]
Fit = tuple[NDArray[np.float32], float]
Rows = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
LANGUAGES = ("zh", "en")
SHARES = (0.3, 0.5, 0.7, 0.85, 1.0)
"""How much the net may weigh beside the word models; the lines held out choose."""
EVEN = 0.5
"""The probability from which a boundary is likelier than none."""
KEPT = 12
"""Of the English discourse units, each so-manieth is held out."""
BARE_LESS = {"zh": 0.2, "en": 0.05}
"""By how much the limit is lower in texts without marks."""
KEEP = 0.006
"""Weights smaller than this are dropped: they move no decision and would only fill the file."""


def read_set(folder: Path, name: str, most: int | None = None) -> list[Line]:
    """Lines of one set in a fixed shuffled order."""
    path = next(folder.glob(f"{name}.jsonl*"))
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    found = [json.loads(line) for line in text.splitlines() if line]
    random.Random(1).shuffle(found)
    return found[:most]


def read_marked(path: Path) -> list[Line]:
    """Own lines, in which "|" stands before every clause but the first."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            parts = line.split("|")
            starts = [sum(map(len, parts[:i])) for i in range(len(parts))]
            found.append({"text": "".join(parts), "segments": starts})
    return found


def own_lines() -> list[Line]:
    """All own Chinese lines but those held out."""
    return read_marked(OWN) + read_marked(MORE)


def english_units(folder: Path, *, held: bool = False) -> list[Line]:
    """English discourse units but those held out, or these."""
    return [line for i, line in enumerate(read_set(folder, "segments_en_gum")) if (i % KEPT == 0) == held]


def joined(lines: Sequence[Line], most: int, share: float = 0.6) -> list[Line]:
    """Some lines glued to their followers, so that sentence ends inside a text are seen."""
    chance = random.Random(3)
    out, at = [], 0
    while at < len(lines):
        size = chance.randint(2, most) if chance.random() < share else 1
        text, starts = "", []
        for line in lines[at : at + size]:
            text += " " if text and text.isascii() else ""
            starts += [start + len(text) for start in line["segments"]]
            text += line["text"]
        out.append({"text": text, "segments": starts})
        at += size
    return out


def stripped(lines: Iterable[Line]) -> list[Line]:
    """The lines as a recogniser writes them: lower case, no marks."""
    out = []
    for line in lines:
        text, place = "", []
        spaced = line["text"].isascii()
        for ch in line["text"]:
            place.append(len(text))
            if ch.isalnum() or ch in "'’":
                text += ch.lower()
            elif spaced and not text.endswith(" "):
                text += " "
        starts = [place[s] if s < len(place) else len(text) for s in line["segments"]]
        out.append({"text": text, "segments": starts})
    return out


def rows_of(
    lines: Iterable[Line], weight: float, domain: str = "unit", marks_only: bool = False, no_brackets: bool = False
) -> Rows:
    """Features, labels and weights of every word after the first; `marks_only`: just those after a mark; `no_brackets`:
    none beside a bracket or quote, where the source does not cut as discourse units do."""
    xs, ys, ws = [], [], []
    for line in lines:
        tokens = tokenize(line["text"])
        if len(tokens.words) < 2:
            continue
        starts = np.array(tokens.starts)
        label = np.zeros(len(starts))
        if "odds" in line:
            for offset, chance in line["odds"]:
                at = int(np.searchsorted(starts, offset))
                if at < len(starts):
                    label[at] = max(label[at], chance)
        else:
            places = np.searchsorted(starts, line["segments"][1:])
            label[places[places < len(starts)]] = 1.0
        kinds = [gap_kind(gap) for gap in tokens.gaps]
        keep = np.array(
            [i > 0 and not (marks_only and not k) and not (no_brackets and k in (6, 7)) for i, k in enumerate(kinds)]
        )
        xs.append(features(tokens, domain)[keep])
        ys.append(label[keep])
        ws.append(np.full(int(keep.sum()), weight))
    return np.concatenate(xs), np.concatenate(ys), np.concatenate(ws)


def fit(parts: Sequence[Rows], strength: float) -> Fit:
    """Weights ``[2**BITS]`` and bias of a logistic regression; soft labels count on both sides."""
    x = np.concatenate([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    w = np.concatenate([part[2] for part in parts])
    soft = (y > 0) & (y < 1)
    x = np.concatenate([x, x[soft]])
    hard = np.concatenate([(y > 0).astype(int), np.zeros(int(soft.sum()), int)])
    w = np.concatenate([np.where(soft, w * y, w), (w * (1 - y))[soft]])
    count, width = x.shape
    table = csr_matrix(
        (np.ones(count * width, np.float32), x.ravel(), np.arange(0, count * width + 1, width)), shape=(count, 2**BITS)
    )
    model = LogisticRegression(C=strength, max_iter=80, tol=1e-3)
    model.fit(table, hard, sample_weight=w)
    weights = model.coef_[0].astype(np.float32)
    weights[np.abs(weights) < KEEP] = 0.0
    return weights, float(model.intercept_[0])


def save(path: Path, clauses: Fit, apart: Fit, threshold: float, bare: float) -> None:
    """Writes one language's word model."""
    numbers = np.array([clauses[1], threshold, bare, apart[1]], np.float64)
    arrays: dict[str, Any] = {"weights": clauses[0].astype(np.float16), "apart_weights": apart[0].astype(np.float16)}
    np.savez_compressed(path, numbers=numbers, **arrays)


def chat_lines(folder: Path, names: Sequence[str], most: int) -> list[Line]:
    """Chat turns whose own marks say where clauses begin: for unpunctuated speech."""
    out = []
    for name in names:
        for line in read_set(folder, name, most):
            text = line.get("text")
            if isinstance(text, str) and 8 < len(text) < 120:
                cuts = [
                    i + 1 for i, ch in enumerate(text[:-1]) if ch in "，。！？；,.!?;" and not text[i + 1].isdigit()
                ]
                if cuts:
                    out.append({"text": text, "segments": [0, *cuts]})
    return out


def chinese(folder: Path, silver: Sequence[Line]) -> tuple[Fit, Fit]:
    """Chinese: clauses from own lines, treebank clauses at marks and silver lines; statements of unmarked chat."""
    own = own_lines()
    trees = [line for line in read_set(folder, "segments_zh_ud") if len(line["text"]) > 8]
    parts = [
        rows_of(joined(own, 3), 5.0),
        rows_of(joined(trees, 3), 0.1, marks_only=True, no_brackets=True),
        rows_of(stripped(own), 0.5),
    ]
    if silver:
        parts.append(rows_of(silver, 0.5, no_brackets=True))
    chat = stripped(chat_lines(folder, ("acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_kdconv"), 4000))
    return fit(parts, 0.05), fit([rows_of(chat, 1.0)], 0.3)


def english(folder: Path) -> tuple[Fit, Fit]:
    """English: discourse units with and without marks, meeting acts; statements of unmarked service turns and chat."""
    units = english_units(folder)
    parts = [
        rows_of(units, 1.0),
        rows_of(stripped(units), 0.4),
        rows_of(read_set(folder, "segments_en_ewt"), 0.2, "tree"),
        rows_of(read_set(folder, "segments_en_ami", 5000), 0.2, "act"),
    ]
    turns = [
        rows_of(read_set(folder, "segments_en_multidogo"), 1.0),
        rows_of(stripped(read_set(folder, "segments_en_ami", 4000)), 0.3),
        rows_of(stripped(chat_lines(folder, ("recall_en_spc", "acts_en_multiwoz"), 3000)), 0.3),
    ]
    return fit(parts, 0.3), fit(turns, 0.3)


def net_sources(folder: Path, silver: Sequence[Line]) -> list[segments_net.Source]:
    """What the net learns from: all styles at once, own Chinese lines and English discourse units also without their marks."""
    own, units = own_lines(), english_units(folder)
    trees = [line for line in read_set(folder, "segments_zh_ud") if len(line["text"]) > 8]
    talk = stripped(chat_lines(folder, ("acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_kdconv"), 800))
    talk += stripped(chat_lines(folder, ("recall_en_spc", "acts_en_multiwoz"), 600))
    talk += read_set(folder, "segments_en_multidogo") + stripped(read_set(folder, "segments_en_ami", 800))
    source = segments_net.Source
    found = [
        source(lines=[*own, *joined(own, 3)], style="unit_zh"),
        source(lines=stripped(own), style="unit_zh", weight=0.4),
        source(lines=joined(trees, 3)[:900], style="tree_zh", weight=0.3, marks_only=True, no_brackets=True),
        source(lines=units, style="unit_en"),
        source(lines=stripped(units[:700]), style="unit_en", weight=0.4),
        source(lines=read_set(folder, "segments_en_ewt", 1200), style="tree_en", weight=0.3),
        source(lines=read_set(folder, "segments_en_ami", 1200), style="act_en", weight=0.3),
        source(lines=talk, style="apart"),
    ]
    if silver:
        found.append(source(lines=silver, style="unit_zh", weight=0.5, no_brackets=True))
    return found


class Scored(Struct):
    """One line: its source, the places where a clause may begin, log odds there by model [places], the truth, and that part
    of it that follows no mark."""

    source: str
    places: NDArray[np.int64]
    net: NDArray[np.float32]
    words: NDArray[np.float32]
    truth: set[int]
    unmarked: set[int]

    def found(self, share: float, limit: float) -> set[int]:
        """Boundaries with so much of the net and from so high a probability."""
        odds = share * self.net + (1 - share) * self.words
        return set(self.places[1:][odds[1:] > np.log(limit / (1 - limit))].tolist())


Models = tuple[WordModels, Encoder | None, BoundaryNet | None]
"""The word models, and (or words read alone) the encoder and the net."""


def read_suite(bench: Path, language: str, models: Models) -> list[Scored]:
    """The lines of a suite's development half."""
    folder = bench / f"segments_{language}"
    cases = {case["id"]: case["text"] for case in map(json.loads, (folder / "cases.jsonl").open(encoding="utf-8"))}
    gold = map(json.loads, (folder / "gold.jsonl").open(encoding="utf-8"))
    return [
        _scored(cases[line["id"]], line["boundaries"], str(line.get("category", "")), language, models) for line in gold
    ]


def read_held(folder: Path, language: str, models: Models) -> list[Scored]:
    """The lines that nothing learned from."""
    lines = read_marked(HELD) if language == "zh" else english_units(folder, held=True)
    return [_scored(line["text"], line["segments"], "held", language, models) for line in lines if line["text"].strip()]


def _scored(text: str, offsets: Iterable[int], source: str, language: str, models: Models) -> Scored:
    words, encoder, net = models
    if encoder is not None and net is not None:
        (encoded,) = encoder.encode([text])
        places = places_of(text, encoded.offsets)
        starts, odds = places.starts, net.odds(encoded, places)[:, STYLES.index(f"unit_{language}")]
    else:
        starts = tokenize(text).starts
        odds = np.zeros(len(starts), np.float32)
    by_word = word_odds(text, starts, words)[:, 0]
    truth = _body_starts(text, offsets)
    unmarked = {place for place in truth if text[:place].rstrip()[-1:].isalnum()}
    return Scored(source, np.array(starts), odds, by_word, truth, unmarked)


LIMITS = tuple(round(0.25 + 0.05 * step, 2) for step in range(13))


def figures(lines: Sequence[Scored], share: float, limit: float, rate: float = 1.0) -> tuple[float, float, float]:
    """Precision, recall and F1; a true boundary that follows no mark counts as `rate` of one."""
    hits = wanted = 0.0
    false = 0
    for line in lines:
        guess = line.found(share, limit)
        right = line.truth & guess
        hits += len(right) - (1 - rate) * len(right & line.unmarked)
        wanted += len(line.truth) - (1 - rate) * len(line.unmarked)
        false += len(guess) - len(right)
    found = hits + false
    return hits / max(found, 1), hits / max(wanted, 1), 2 * hits / max(found + wanted, 1)


def unmarked_ratio(lines: Sequence[Scored]) -> float:
    """Boundaries that follow no mark, to those that follow one."""
    unmarked = sum(len(line.unmarked) for line in lines)
    return unmarked / max(sum(len(line.truth) for line in lines) - unmarked, 1)


def best_limit(lines: Sequence[Scored], share: float, rate: float = 1.0) -> float:
    """The limit of the highest F1."""
    return max(LIMITS, key=lambda limit: figures(lines, share, limit, rate)[2])


def report(name: str, lines: Sequence[Scored], share: float, limit: float) -> None:
    """Prints figures, whole and by source."""
    rows = [("all", lines)]
    rows += [
        (source, [line for line in lines if line.source == source]) for source in sorted({x.source for x in lines})
    ]
    for source, part in rows:
        p, r, f = figures(part, share, limit)
        print(f"{name}, net {share:.2f} > {limit}, {source}: P {p:.3f} R {r:.3f} F1 {f:.4f}", flush=True)


def chosen(held: dict[str, list[Scored]], *, net: bool) -> tuple[float, list[float]]:
    """The share and the limits (zh, zh without marks, en, en without) that do best on the lines held out; texts without marks
    take less. With a net, only the Chinese lines choose, and the English limit stands at `EVEN`: the encoder has learned from
    the English units, so its states are surer of those than of new text.

    Own Chinese lines are dense with clauses that no mark parts: their boundaries without a mark are weighted down to the part
    that these have in running text, for which the English units stand.
    """
    rate = unmarked_ratio(held["en"]) / max(unmarked_ratio(held["zh"]), 1e-9)
    tries = [(share, best_limit(held["zh"], share, rate)) for share in (SHARES if net else (0.0,))]
    share, chinese_limit = max(tries, key=lambda pair: figures(held["zh"], pair[0], pair[1], rate)[2])
    english_limit = EVEN if net else best_limit(held["en"], share)
    return share, [
        chinese_limit, chinese_limit - BARE_LESS["zh"], english_limit, english_limit - BARE_LESS["en"]
    ]  # fmt: skip


def _body_starts(text: str, offsets: Iterable[int]) -> set[int]:
    body = [i for i, ch in enumerate(text) if ch.isalnum()]
    places = (next((i for i in body if i >= offset), None) for offset in offsets)
    return {place for place in places if place is not None and place != body[0]}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--encoder")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--only", choices=("net", "words"))
    parser.add_argument("--silver", type=Path)
    parser.add_argument("--bench", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    silver: list[Line] = []
    if options.silver:
        silver = [json.loads(line) for line in options.silver.open(encoding="utf-8")]
    files = [options.out / f"segments_{language}.npz" for language in LANGUAGES]
    if options.only != "net":
        fits = (chinese(options.train, silver), english(options.train))
        for file, fitted in zip(files, fits, strict=True):
            save(file, *fitted, 0.5, 0.5)
        models: Models = (_words(files), None, None)
        _, limits = chosen({name: read_held(options.train, name, models) for name in LANGUAGES}, net=False)
        for file, fitted, (marked, bare) in zip(files, fits, (limits[:2], limits[2:]), strict=True):
            save(file, *fitted, marked, bare)
        _print_figures(options, models, 0.0, limits)
    if options.only != "words":
        encoder = Encoder.load(options.encoder)
        data = segments_net.examples(encoder, net_sources(options.train, silver))
        net = segments_net.fit(data, encoder.name)
        models = (_words(files), encoder, net)
        share, limits = chosen({name: read_held(options.train, name, models) for name in LANGUAGES}, net=True)
        numbers = {"share": np.array([share], np.float32), "limits": np.array(limits, np.float32)}
        segments_net.save(BoundaryNet({**net.weights, **numbers}, net.encoder), options.out / "segments_net.npz")
        _print_figures(options, models, share, limits)
        print("written:", options.out / "segments_net.npz", "share", share, "limits", limits)


def _words(files: Sequence[Path]) -> WordModels:
    """The word models of the folder, the shipped one where it has none."""
    chinese, english = (BoundaryModel.load(file if file.exists() else WEIGHTS / file.name) for file in files)
    return chinese, english


def _print_figures(options: argparse.Namespace, models: Models, share: float, limits: Sequence[float]) -> None:
    for language, limit in zip(LANGUAGES, limits[::2], strict=True):
        report(language, read_held(options.train, language, models), share, limit)
        if options.bench:
            report(language, read_suite(options.bench, language, models), share, limit)


if __name__ == "__main__":
    main()
