"""Calibrates semantic entropy for an encoder and writes the scales of ``models/lexicons/entropy.toml``.

    python -m models.train.entropy --train DIR [--lines 300]

Encodes many-clause turns of dialogue sets; `smooth` is the 30th percentile of neighbour distances, `middle` the median of
the spreads, `width` half the way from there to the 90th percentile; for shared characters, sharing nothing is the middle. Takes about a second for 100 lines.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.encoder import Encoder
from models.entropy import statement_spans
from models.train.segments import read_set
from models.units.clauses import split_clauses
from models.units.surprise import LEXICON, Scale, spreads, vector_distances, word_distances

SETS = (
    "dialog_zh_xiaomi",
    "dialog_zh_kdconv",
    "acts_zh_crosswoz",
    "acts_en_multiwoz",
    "recall_en_spc",
    "load_en_casino",
)


def turns(folder: Path, most: int) -> list[str]:
    """Turns of 20 to 300 characters with three statements or more, the same number from each set."""
    found: list[str] = []
    for name in SETS:
        here = 0
        for line in read_set(folder, name, 4000):
            text = line.get("text")
            if not isinstance(text, str) or not 20 <= len(text) <= 300:
                continue
            clauses = split_clauses(text)
            if len(statement_spans(text, clauses)) >= 3:
                found.append(text)
                here += 1
            if here >= most // len(SETS):
                break
    return found


def scale_of(distances: Sequence[NDArray[np.float64]]) -> Scale:
    """Smooth distance, and middle and width of the spreads about it."""
    smooth = float(np.percentile(np.concatenate(distances), 30))
    values = [s for row in distances for s in spreads(row, Scale(smooth, 0.0, 1.0)) if s is not None]
    middle, high = float(np.percentile(values, 50)), float(np.percentile(values, 90))
    return Scale(round(smooth, 5), round(middle, 6), round(max((high - middle) / 2, 1e-6), 6))


def measure(
    texts: Sequence[str], distances: Callable[[str, list[tuple[int, int]]], NDArray[np.float64] | None]
) -> Scale:
    """The scale of one kind of distance over the turns."""
    rows = []
    for text in texts:
        clauses = split_clauses(text)
        spans = [(clauses[a].start, clauses[b - 1].end) for a, b in statement_spans(text, clauses)]
        row = distances(text, spans)
        if row is not None and len(row):
            rows.append(row)
    return scale_of(rows)


def write(path: Path, name: str, scale: Scale, encoder: str = "") -> None:
    """Replaces the numbers of one table of the lexicon; comments and the other tables stay."""
    body = f"[{name}]\nsmooth = {scale.smooth}\nmiddle = {scale.middle}\nwidth = {scale.width}\n"
    body += f'encoder = "{encoder}"\n' if encoder else ""
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf"\[{name}\]\n(?:[a-z]+ = [^\n]*\n)+", body, text), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument(
        "--encoder", default=None, help="folder or st:NAME_OR_PATH; by default CUESTREAM_ENCODER or the shipped one"
    )
    parser.add_argument("--out", type=Path, default=LEXICON, help="where the calibrated copy of entropy.toml goes")
    options = parser.parse_args(argv)
    texts = turns(options.train, options.lines)
    encoder = Encoder.load(options.encoder)
    print(f"reading {len(texts)} turns with {encoder.name}", flush=True)
    read = {text: encoder.encode([text])[0] for text in texts}
    by_vector = measure(
        texts, lambda text, spans: vector_distances(np.stack([read[text].span_vector(*span) for span in spans]))
    )
    by_word = measure(texts, lambda text, spans: word_distances([text[a:b] for a, b in spans]))
    usual = round((1 - by_word.smooth) ** 2, 6)  # most clauses share no pair of characters: that is the middle
    by_word = Scale(by_word.smooth, usual, usual)
    if options.out != LEXICON:
        options.out.write_text(LEXICON.read_text(encoding="utf-8"), encoding="utf-8")
    for name, scale, made_for in (("vectors", by_vector, encoder.name), ("words", by_word, "")):
        write(options.out, name, scale, made_for)
        print(f"{name}: {scale} from {len(texts)} turns, encoder {encoder.name}")


if __name__ == "__main__":
    main()
