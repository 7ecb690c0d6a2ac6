"""The encoder's graph: integers near float32, the mixed layers, and numbers that know no neighbours. Needs the extra `train`."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest

pytest.importorskip("onnx")
from models.train import encoder_graph

WIDTH, WIDE, HEADS, LAYERS, WORDS = 64, 128, 4, 2, 200


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {
        "embeddings.word_embeddings.weight": rng.normal(0, 1, (WORDS, WIDTH)),
        "embeddings.position_embeddings.weight": rng.normal(0, 0.1, (64, WIDTH)),
        "embeddings.token_type_embeddings.weight": rng.normal(0, 0.1, (2, WIDTH)),
        "mix": np.array([0.25, 0.75]),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        prefix = f"encoder.layer.{number}"
        shapes = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        shapes |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (WIDE, WIDTH)}
        for name, shape in {**shapes, "output.dense": (WIDTH, WIDE)}.items():
            made[f"{prefix}.{name}.weight"] = rng.normal(0, 0.15, shape)
            made[f"{prefix}.{name}.bias"] = rng.normal(0, 0.1, shape[0])
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        made[f"{name}.weight"] = np.exp(rng.normal(0, 0.8, WIDTH))  # some channels far larger than others
        made[f"{name}.bias"] = rng.normal(0, 0.1, WIDTH)
    return {name: value.astype(np.float32) for name, value in made.items()}


def _session(model: bytes) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _ids(rows: int, length: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, WORDS, (rows, length))


@pytest.fixture(scope="module")
def session(weights: dict[str, np.ndarray]) -> ort.InferenceSession:
    return _session(encoder_graph.build(weights, LAYERS, HEADS, calibration=_ids(60, 20, 1).tolist()))


def test_integers_stay_near_float32(session: ort.InferenceSession, weights: dict[str, np.ndarray]) -> None:
    exact = _session(encoder_graph.float_graph(weights, LAYERS, HEADS))
    ids = _ids(5, 13, 2)
    first, last = exact.run(["layer.1", "layer.2"], {"ids": ids})
    states, mixed = session.run(["states", "mixed"], {"ids": ids})
    for found, wanted in ((states, last), (mixed, 0.25 * first + 0.75 * last)):
        cosine = (found * wanted).sum(-1) / np.linalg.norm(found, axis=-1) / np.linalg.norm(wanted, axis=-1)
        assert cosine.min() > 0.99


@pytest.mark.parametrize("rows", [2, 7, 64])
@pytest.mark.parametrize("length", [2, 3, 8, 9, 31])
def test_a_text_does_not_know_its_neighbours(session: ort.InferenceSession, rows: int, length: int) -> None:
    ids = _ids(rows, length, rows)
    together = session.run(["states", "mixed"], {"ids": ids})
    for place in (0, rows // 2, rows - 1):
        for beside, alone in zip(
            together, session.run(["states", "mixed"], {"ids": ids[place : place + 1]}), strict=True
        ):
            assert np.array_equal(beside[place], alone[0])


def test_calibration_is_needed(weights: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        encoder_graph.build(weights, LAYERS, HEADS)
