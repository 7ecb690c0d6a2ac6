"""Makes the shipped encoder out of a trained student:

    python -m models.train.encoder_export --student DIR/student.pt --teacher DIR --train DIR [--out DIR]

Quantises the student with scales calibrated on whole utterances, then fits its two heads by ridge regression from its own (int8)
mean states to the teacher's `passage` and `query` vectors, and prints the centred cosines on texts kept back from that fit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from models.encoder import SHIPPED, Encoder, unit
from models.train import encoder_graph
from models.train.encoder import pack, ridge
from models.train.student_data import fresh, teacher_weights
from models.train.student_net import HIDDEN, LAYERS, Student, Weights

VERSION, CALIBRATION, FITTED, KEPT_BACK = "e5-student-zhen-6", 1000, 5000, 500


def student_weights(path: Path, teacher: Path) -> tuple[Weights, Tokenizer]:
    """The student's arrays by BERT's names, with `mix`, and the tokenizer."""
    weights, made = teacher_weights(teacher)
    stored = torch.load(path)["student"]
    dense = stored["affect.hidden.weight"].shape[1] - 2 * HIDDEN - len(stored["affect.turns.bias"])
    student = Student(weights, LAYERS, dense)
    student.load_state_dict(stored)
    made.no_truncation()
    return student.weights(), made


def centred(rows: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Unit rows [N, H] after the mean is taken off."""
    found = rows - mean
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def export(path: Path, teacher_folder: Path, train: Path, out: Path) -> None:
    """Writes the encoder's folder `out` from the checkpoint `path`; `train` is the training kit, whose texts fit the heads."""
    weights, made = student_weights(path, teacher_folder)
    corpus = fresh(train, 1500)[: FITTED + KEPT_BACK]
    sample = [made.encode(text).ids[:256] for text in corpus[:CALIBRATION]]
    model = encoder_graph.build(weights, len(LAYERS), calibration=sample)
    nothing = {"passage": np.eye(HIDDEN), "query": np.eye(HIDDEN)}
    zeros = {"passage_bias": np.zeros(HIDDEN), "query_bias": np.zeros(HIDDEN)}
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder), VERSION, model, made, nothing | zeros)
        student, teacher = Encoder.load(folder), Encoder.load(teacher_folder)
    pooled = np.stack([found.pooled for found in student.encode(corpus)]).astype(np.float64)
    wanted = teacher.encode(corpus)
    heads = {}
    for name in ("passage", "query"):
        truth = np.stack([getattr(found, name) for found in wanted]).astype(np.float64)
        matrix, bias = ridge(pooled[:FITTED], truth[:FITTED])
        heads[name], heads[f"{name}_bias"] = matrix, bias
        guess = np.stack([unit(row) for row in pooled[FITTED:] @ matrix + bias])
        mean = truth[:FITTED].mean(0)
        kept = (centred(guess, mean) * centred(truth[FITTED:], mean)).sum(1)
        print(f"{name}: centred cosine with the teacher's on {len(kept)} texts kept back {kept.mean():.4f}", flush=True)
    pack(out, VERSION, model, made, heads)
    size = sum((out / name).stat().st_size for name in ("encoder.onnx", "heads.npz", "tokenizer.json", "encoder.json"))
    print(f"wrote {out}, {size / 1e6:.1f} MB")


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--student", type=Path, required=True)
    parser.add_argument(
        "--teacher", type=Path, required=True, help="folder of the twelve-layer encoder (models.train.encoder)"
    )
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args(argv)
    export(args.student, args.teacher, args.train, args.out)


if __name__ == "__main__":
    main()
