"""The reference network's layers as an ONNX graph, built by hand: `embedded` to `states`, both float32 [1, n, H].

One utterance a run and no padding, so no mask. Linear weights int8 by output channel, activations int8 over the run's words
(`DynamicQuantizeMatMul`). Attention from plain products and layer norm without its fused skip: the runtime's fused nodes are slower here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


class _Builder:
    """Collects nodes and constants."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: object) -> str:
        return self.nodes_of(kind, inputs, 1, domain, **attributes)[0]

    def nodes_of(self, kind: str, inputs: list[str], outputs: int, domain: str = "", **attributes: object) -> list[str]:
        names = [f"{kind}_{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names

    def linear(self, x: str, name: str) -> str:
        """x times the weight [out, in] transposed, plus the bias."""
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        scale = np.abs(weight).max(1) / 127
        int8 = np.clip(np.round(weight.T / scale), -127, 127).astype(np.int8)
        inputs = [
            x, self.constant(f"{name}.q", int8), self.constant(f"{name}.s", scale.astype(np.float32)),
            self.constant(f"{name}.z", np.zeros(len(scale), np.int8)), self.constant(f"{name}.b", bias),
        ]  # fmt: skip
        return self.node("DynamicQuantizeMatMul", inputs, MICROSOFT)

    def norm(self, name: str, x: str, skip: str) -> str:
        """Layer norm of x plus skip."""
        scale = [self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self.node("LayerNormalization", [self.node("Add", [x, skip]), *scale], axis=-1, epsilon=1e-12)

    def attention(self, x: str) -> str:
        """[n, 3 H] (queries, keys, values; queries already scaled) to [n, H]."""
        split = self.node("Transpose", [self.node("Reshape", [x, "shape.split"])], perm=[1, 2, 0, 3])
        q, k, v = self.nodes_of("Split", [split], 3, axis=0, num_outputs=3)
        scores = self.node("MatMul", [q, self.node("Transpose", [k], perm=[0, 1, 3, 2])])
        y = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), v])
        return self.node("Reshape", [self.node("Transpose", [y], perm=[0, 2, 1, 3]), "shape.join"])

    def layer(self, prefix: str, x: str) -> str:
        """One transformer layer."""
        y = self.linear(self.attention(self.linear(x, f"{prefix}.qkv")), f"{prefix}.out")
        x = self.norm(f"{prefix}.norm1", x, y)
        y = self.node("Gelu", [self.linear(x, f"{prefix}.up")], MICROSOFT)
        return self.norm(f"{prefix}.norm2", x, self.linear(y, f"{prefix}.down"))


def build(weights: Mapping[str, np.ndarray], heads: int = 12) -> bytes:
    """The serialised model of an ``EditNet``'s weights (float32, by their names there)."""
    weights = dict(weights)
    layers = len({k.split(".")[1] for k in weights if k.startswith("layers.")})
    hidden = weights["places"].shape[1]
    size = hidden // heads
    for n in range(layers):
        for part in ("weight", "bias"):
            scaled = weights[f"layers.{n}.qkv.{part}"].copy()
            scaled[:hidden] *= size**-0.5
            weights[f"layers.{n}.qkv.{part}"] = scaled
    builder = _Builder(weights)
    builder.constant("shape.split", np.array([-1, 3, heads, size], np.int64))
    builder.constant("shape.join", np.array([-1, hidden], np.int64))
    length = builder.node("Shape", ["embedded"], start=1, end=2)
    places = builder.node(
        "Slice",
        [builder.constant("places", weights["places"]), builder.constant("zero", np.array([0], np.int64)), length],
    )
    x = builder.norm("norm", builder.node("Squeeze", ["embedded", "zero"]), places)
    for n in range(layers):
        x = builder.layer(f"layers.{n}", x)
    builder.nodes.append(helper.make_node("Unsqueeze", [x, "zero"], ["states"]))
    graph = helper.make_graph(
        builder.nodes, "coreference", [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, [1, "n", hidden])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, "n", hidden])], builder.constants,
    )  # fmt: skip
    sets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return bytes(helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString())
