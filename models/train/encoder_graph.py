"""The encoder as an ONNX graph, built by hand: `ids` int64 [B, n] to `states` float32 [B, n, H] (and `mixed`, the same shape).

The texts of a run all have n tokens: no padding, no mask. Every number of a text is computed from that text alone, whatever B
is: integer products are exact, the rest goes by token or, in the attention, by text.

Linear weights are int8 by output channel. Activations are uint8 with one scale a place, fixed by calibration texts: outlier
channels are first evened out against the weights (SmoothQuant), then the clipping that errs least at the product is taken.
Signed activations would be 50 times slower. Word embeddings are 4-bit blocks of 32, unpacked by plain operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
BLOCK = 32
SAMPLE_ROWS = 2_000
"""Tokens of the calibration texts that the scales are chosen by."""
SMOOTHING = (0.0, 0.5, 0.65, 0.8)
"""How much of a channel's range moves into its weights; 0 leaves it where it is."""
CLIPPING = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25)
"""Shares of the met range that are tried as the range of a scale."""
Weights = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """A linear layer in integers: input / `smooth` -> uint8 by (`scale`, `zero`); `weight` int8 [in, out] by `steps` [out]."""

    weight: np.ndarray
    steps: np.ndarray
    bias: np.ndarray
    scale: np.float32
    zero: np.uint8
    smooth: np.ndarray | None = None


class Builder:
    """Collects nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray | np.generic) -> str:
        """Stores an array under a name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name))
        return name

    def node(self, kind: str, inputs: list[str], domain: str = "", output: str = "", **attributes: Any) -> str:
        """Adds a node of one output."""
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        return name

    def linear(self, x: str, name: str, weight: np.ndarray, bias: np.ndarray) -> str:
        """x times weight [out, in] transposed, plus bias, in float32."""
        product = self.node("MatMul", [x, self.constant(f"{name}.w", weight.T)])
        return self.node("Add", [product, self.constant(f"{name}.b", bias)])

    def quantised(self, x: str, name: str, made: Quantised) -> str:
        """The uint8 form of x for a layer (or several that share it)."""
        if made.smooth is not None:
            x = self.node("Mul", [x, self.constant(f"{name}.smooth", (1 / made.smooth).astype(np.float32))])
        scale, zero = self.constant(f"{name}.as", made.scale), self.constant(f"{name}.az", made.zero)
        return self.node("QuantizeLinear", [x, scale, zero])

    def product(self, x: str, place: str, name: str, made: Quantised) -> str:
        """The layer's float32 output for the uint8 input of `place`."""
        inputs = [
            x, self.constant(f"{name}.q", made.weight), f"{place}.as", self.constant(f"{name}.s", made.steps),
            f"{place}.az", "", self.constant(f"{name}.b", made.bias),
        ]  # fmt: skip
        return self.node("MatMulIntegerToFloat", inputs, MICROSOFT)

    def norm(self, weights: Weights, name: str, x: str, skip: str | None = None, output: str = "") -> str:
        """Layer norm of x, or of x plus skip (SkipLayerNormalization takes five times as long as these two)."""
        scale = [
            self.constant(f"{name}.g", weights[f"{name}.weight"]),
            self.constant(f"{name}.o", weights[f"{name}.bias"]),
        ]
        if skip is not None:
            x = self.node("Add", [x, skip])
        return self.node("LayerNormalization", [x, *scale], output=output, axis=-1, epsilon=1e-12)


def embedding(builder: Builder, table: np.ndarray) -> str:
    """Looks `ids` up in a [V, H] table held in 4-bit blocks of 32: channels of the first half in the low nibbles."""
    rows, width = table.shape
    blocks = table.reshape(rows, width // BLOCK, BLOCK)
    place = np.abs(blocks).argmax(-1, keepdims=True)
    scale = np.take_along_axis(blocks, place, -1)[..., 0] / -8
    scale[scale == 0] = 1e-12
    nibbles = (np.clip(np.round(blocks / scale[..., None]), -8, 7) + 8).astype(np.uint8).reshape(rows, width)
    packed = nibbles[:, : width // 2] | (nibbles[:, width // 2 :] << 4)
    bytes_ = builder.node("Gather", [builder.constant("word", packed), "ids"])
    low = builder.node("BitwiseAnd", [bytes_, builder.constant("low", np.uint8(15))])
    high = builder.node("BitShift", [bytes_, builder.constant("four", np.uint8(4))], direction="RIGHT")
    both = builder.node("Cast", [builder.node("Concat", [low, high], axis=-1)], to=TensorProto.FLOAT)
    centred = builder.node("Sub", [both, builder.constant("eight", np.float32(8))])
    split = builder.constant("blocks", np.array([0, 0, width // BLOCK, BLOCK], np.int64))
    scales = builder.node("Gather", [builder.constant("word.s", scale.astype(np.float32)), "ids"])
    last = builder.constant("last", np.array([3], np.int64))
    values = builder.node("Mul", [builder.node("Reshape", [centred, split]), builder.node("Unsqueeze", [scales, last])])
    return builder.node("Reshape", [values, builder.constant("joined", np.array([0, 0, width], np.int64))])


def start(builder: Builder, weights: Weights, output: str = "") -> str:
    """Word, place and type embeddings of `ids`, normalised."""
    x = embedding(builder, weights["embeddings.word_embeddings.weight"])
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = builder.node("Shape", ["ids"], start=1, end=2)
    zero = builder.constant("zero", np.array([0], np.int64))
    x = builder.node("Add", [x, builder.node("Slice", [builder.constant("pos", places), zero, length])])
    return builder.norm(weights, "embeddings.LayerNorm", x, output=output)


def float_graph(weights: Weights, layers: int, heads: int = 12, inner: bool = False) -> bytes:
    """The same network in float32: outputs `layer.1` … `layer.L` [B, n, H]; with `inner` the inputs of all linear layers too."""
    builder = Builder()
    x = start(builder, weights)
    outputs = []
    for number in range(layers):
        prefix = f"encoder.layer.{number}"
        q, k, v = (builder.linear(x, n, weights[f"{n}.weight"], weights[f"{n}.bias"]) for n in _projections(prefix))
        y = builder.node("MultiHeadAttention", [q, k, v], MICROSOFT, num_heads=heads)
        inputs = [x, y]
        name = f"{prefix}.attention.output"
        y = builder.linear(y, name, weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"])
        x = builder.norm(weights, f"{name}.LayerNorm", y, x)
        name = f"{prefix}.intermediate.dense"
        y = builder.node("Gelu", [builder.linear(x, name, weights[f"{name}.weight"], weights[f"{name}.bias"])])
        inputs += [x, y]
        name = f"{prefix}.output"
        y = builder.linear(y, name, weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"])
        x = builder.norm(weights, f"{name}.LayerNorm", y, x, output=f"layer.{number + 1}")
        outputs += [*inputs, x] if inner else [x]
    return _model(builder, outputs)


def build(
    weights: Weights,
    layers: int,
    heads: int = 12,
    calibration: Sequence[Sequence[int]] = (),
) -> bytes:
    """The serialised model of BERT weights by their usual names (float32, [out, in]).

    `calibration` are token ids, sentence marks included, of a thousand or so texts of the kind that will be read. Where
    `weights` has "mix" (float [L], a weight for the output of each layer), the model also gives `mixed`, the weighted sum.
    """
    if not calibration:
        raise ValueError("calibration texts are needed to fix the activation scales")
    sites = samples(weights, layers, heads, calibration)
    mix = weights.get("mix")
    builder = Builder()
    x = start(builder, weights)
    mixed = ""
    for number in range(layers):
        last = number == layers - 1
        x = _layer(builder, weights, f"encoder.layer.{number}", x, heads, next(sites), "states" if last else "")
        if mix is not None and mix[number] != 0:
            part = builder.node("Mul", [x, builder.constant(f"mix.{number}", np.float32(mix[number]))])
            mixed = builder.node("Add", [mixed, part]) if mixed else part
    if mix is None:
        return _model(builder, ["states"])
    builder.node("Identity", [mixed], output="mixed")
    return _model(builder, ["states", "mixed"])


def _projections(prefix: str) -> list[str]:
    return [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]


def _layer(
    builder: Builder, weights: Weights, prefix: str, x: str, heads: int, sample: list[np.ndarray], output: str
) -> str:
    """One transformer layer in integers; `sample` are rows of the inputs of its four products."""
    names = _projections(prefix)
    w = [weights[f"{n}.weight"] for n in names]
    b = [weights[f"{n}.bias"] for n in names]
    # the attention is linear in each value channel: what evens its output out goes into the value weights, at no cost
    name = f"{prefix}.attention.output"
    out = quantise(weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"], sample[1])
    if out.smooth is not None:
        w[2], b[2] = w[2] / out.smooth[:, None], b[2] / out.smooth
    joined = quantise(np.concatenate(w), np.concatenate(b), sample[0])
    eight = builder.quantised(x, prefix, joined)
    width = len(b[0])
    parts = [
        builder.product(eight, prefix, n, _columns(joined, place * width, (place + 1) * width))
        for place, n in enumerate(names)
    ]
    y = builder.node("MultiHeadAttention", parts, MICROSOFT, num_heads=heads)
    eight = builder.quantised(y, name, Quantised(out.weight, out.steps, out.bias, out.scale, out.zero))
    x = builder.norm(weights, f"{name}.LayerNorm", builder.product(eight, name, name, out), x)
    name = f"{prefix}.intermediate.dense"
    up = quantise(weights[f"{name}.weight"], weights[f"{name}.bias"], sample[2])
    y = builder.node("Gelu", [builder.product(builder.quantised(x, name, up), name, name, up)])
    name = f"{prefix}.output"
    down = quantise(weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"], sample[3], smoothing=(0.0,))
    y = builder.product(builder.quantised(y, name, down), name, name, down)
    return builder.norm(weights, f"{name}.LayerNorm", y, x, output=output)


def _columns(made: Quantised, begin: int, end: int) -> Quantised:
    part = slice(begin, end)
    return Quantised(made.weight[:, part], made.steps[part], made.bias[part], made.scale, made.zero, made.smooth)


def quantise(
    weight: np.ndarray, bias: np.ndarray, rows: np.ndarray, smoothing: Sequence[float] = SMOOTHING
) -> Quantised:
    """The integer form of a layer that errs least on `rows` [N, in]; the mean error that is left goes into the bias."""
    exact = rows @ weight.T
    top = np.maximum(np.abs(rows).max(0), 1e-6)
    best: tuple[float, Quantised] | None = None
    for power in smoothing:
        smooth = None
        if power:
            smooth = top**power / np.maximum(np.abs(weight).max(0), 1e-6) ** (1 - power)
            smooth = (smooth / np.exp(np.log(smooth).mean())).astype(np.float32)
        found = _tried(weight, bias, rows, exact, smooth, CLIPPING[0])
        best = found if best is None or found[0] < best[0] else best
    assert best is not None
    for share in CLIPPING[1:]:
        found = _tried(weight, bias, rows, exact, best[1].smooth, share)
        best = found if found[0] < best[0] else best
    return best[1]


def _tried(
    weight: np.ndarray, bias: np.ndarray, rows: np.ndarray, exact: np.ndarray, smooth: np.ndarray | None, share: float
) -> tuple[float, Quantised]:
    """The layer quantised one way, and its mean squared error on the rows."""
    inputs = rows if smooth is None else rows / smooth
    matrix = weight if smooth is None else weight * smooth
    steps = (np.maximum(np.abs(matrix).max(1), 1e-12) / 127).astype(np.float32)
    int8 = np.clip(np.round(matrix.T / steps), -127, 127).astype(np.int8)
    low, high = min(float(inputs.min()), 0.0), max(float(inputs.max()), 0.0)
    scale = np.float32(max((high - low) * share / 255, 1e-9))
    zero = np.uint8(np.clip(np.round(-low * share / scale), 0, 255))
    eight = np.clip(np.round(inputs / scale) + float(zero), 0, 255) - float(zero)
    gap = exact - (eight.astype(np.float32) @ int8.astype(np.float32)) * (scale * steps)
    offset = gap.mean(0)
    error = float(((gap - offset) ** 2).mean())
    return error, Quantised(int8, steps, (bias + offset).astype(np.float32), scale, zero, smooth)


def samples(
    weights: Weights, layers: int, heads: int, calibration: Sequence[Sequence[int]]
) -> Iterator[list[np.ndarray]]:
    """For each layer, rows [<= SAMPLE_ROWS, in] of the inputs of its four products, spread over the calibration texts."""
    model = float_graph(weights, layers, heads, inner=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    every = max(1, sum(map(len, calibration)) // SAMPLE_ROWS)
    found: list[list[np.ndarray]] = [[] for _ in range(5 * layers)]
    at = 0
    for ids in calibration:
        taken = np.arange(-at % every, len(ids), every)
        at += len(ids)
        if len(taken):
            for place, output in enumerate(session.run(None, {"ids": np.array([ids], np.int64)})):
                if place % 5 != 4:
                    found[place].append(output[0, taken])
    for number in range(layers):
        yield [np.concatenate(found[5 * number + place])[:SAMPLE_ROWS] for place in range(4)]


def _model(builder: Builder, outputs: list[str]) -> bytes:
    shape = ["b", "n", None]
    graph = helper.make_graph(
        builder.nodes, "encoder", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "n"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs], builder.constants,
    )  # fmt: skip
    sets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()
