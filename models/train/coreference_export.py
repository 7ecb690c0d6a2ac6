"""Writes the trained reference network as the files that ship: int8 graph, int8 piece table, float heads.

python -m models.train.coreference_export STATE --encoder e5-hf --out models/weights
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from models.train.coreference_net import EditNet


class Encoder(nn.Module):
    """Word embeddings to word states."""

    def __init__(self, net: EditNet) -> None:
        super().__init__()
        self.bert = net.bert

    def forward(self, embedded: Tensor) -> Tensor:
        """``[1, L, H] -> [1, L, H]``."""
        return self.bert(inputs_embeds=embedded).last_hidden_state


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from safetensors.torch import load_file

    given = torch.load(args.state, weights_only=False)
    whole = load_file(str(args.encoder / "model.safetensors"))
    table = next(v for k, v in whole.items() if k.endswith("word_embeddings.weight"))[given["rows"]].float()
    net = EditNet(table, given["layers"])
    net.load_state_dict(given["net"], strict=False)
    net.eval()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain.onnx"
        length = torch.export.Dim("length", min=3, max=400)
        torch.onnx.export(
            Encoder(net), (torch.zeros(1, 40, table.shape[1]),), str(plain), input_names=["embedded"],
            output_names=["states"], dynamic_shapes=({1: length},), dynamo=True, external_data=False,
        )  # fmt: skip
        quantize_dynamic(
            str(plain), str(args.out / "coreference.onnx"), per_channel=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gemm"],
        )  # fmt: skip
    arrays = {k: v.numpy() for k, v in net.state_dict().items() if not k.startswith(("bert.", "table."))}
    heads = {k.removesuffix(".weight") if _is_embedding(net, k) else k: v for k, v in arrays.items()}
    scale = (table.abs().amax(1) / 127).clamp(min=1e-8).numpy()
    np.savez_compressed(
        args.out / "coreference.npz", table=np.round(table.numpy() / scale[:, None]).astype(np.int8),
        table_scale=scale.astype(np.float32), pieces=np.array("\n".join(given["vocabulary"])),
        piece_scores=np.array(list(given["vocabulary"].values()), dtype=np.float32), **heads,
    )  # fmt: skip


def _is_embedding(net: EditNet, key: str) -> bool:
    return isinstance(getattr(net, key.split(".")[0], None), nn.Embedding)


if __name__ == "__main__":
    main()
