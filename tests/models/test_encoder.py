"""The encoder: spans, long and odd texts, independence of neighbours, damaged files."""

from __future__ import annotations

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.encoder import SHIPPED, WINDOW, Encoded, Encoder, unit
from models.errors import ResourceError

LINES = [
    "我的订单怎么还没到？",
    "We will deliver it on Friday morning.",
    "好",
    "ok",
    "",
    " ",
    "😀😀",
    "订单 OD-88921 的 refund 什么时候到账？",
    "a" * 300,
    "的" * 500,
]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


def test_every_text_has_unit_vectors(encoder: Encoder) -> None:
    for encoded in encoder.encode(LINES):
        assert encoded.passage.shape == encoded.query.shape == (encoder.dimension,)
        assert np.isclose(np.linalg.norm(encoded.passage), 1, atol=1e-5)
        assert np.isclose(np.linalg.norm(encoded.query), 1, atol=1e-5)
        assert encoded.states.shape == (len(encoded.offsets), encoder.dimension)
        assert np.isfinite(encoded.states).all()


@pytest.mark.parametrize("size", [2, 64])
def test_numbers_do_not_depend_on_neighbours(encoder: Encoder, size: int) -> None:
    texts = [f"{LINES[i % len(LINES)]}{i}" for i in range(size)]
    together = encoder.encode(texts)
    for text, beside in zip(texts, together, strict=True):
        alone = encoder.encode([text])[0]
        assert np.array_equal(alone.states, beside.states)
        assert np.array_equal(alone.passage, beside.passage)
        assert np.array_equal(alone.query, beside.query)


def test_every_length_is_the_same_alone_and_beside_others(encoder: Encoder) -> None:
    texts = ["的" * count for count in (*range(1, 18), WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 600)]
    clauses = "，".join(f"第{number}项已经确认" for number in range(300))
    texts += [clauses, " ".join(f"item {number} is done," for number in range(300)), "", "好"]
    together = encoder.encode(texts)
    ahead = [pending.result() for pending in encoder.encode_ahead(texts[::-1])][::-1]
    for text, beside, later in zip(texts, together, ahead, strict=True):
        (alone,) = encoder.encode([text])
        for other in (beside, later):
            assert np.array_equal(alone.states, other.states) and np.array_equal(alone.mixed, other.mixed)
            assert np.array_equal(alone.passage, other.passage) and np.array_equal(alone.query, other.query)
        assert len(alone.states) == len(alone.offsets)


def test_threads_ask_at_once(encoder: Encoder) -> None:
    texts = [f"{line}{number}" for number in range(8) for line in LINES[:6]]
    wanted = [encoded.passage for encoded in encoder.encode(texts)]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [p.result().passage for p in encoder.encode_ahead(texts)], range(8)):
            assert all(np.array_equal(one, two) for one, two in zip(found, wanted, strict=True))


def test_mixed_states_of_a_span(encoder: Encoder) -> None:
    (encoded,) = encoder.encode(["好的收到。另外我要退款"])
    assert encoded.mixed.shape == encoded.states.shape
    assert np.allclose(encoded.mixed_mean(0, 5), encoded.mixed[encoded.offsets[:, 0] < 5].mean(0))
    (empty,) = encoder.encode([""])
    assert not empty.mixed_mean(0, 1).any()


def test_offsets_are_characters_of_the_text(encoder: Encoder) -> None:
    text = "Ｈｅｌｌｏ，订单OD-88921在哪里？"
    encoded = encoder.encode([text])[0]
    assert (encoded.offsets[:, 0] <= encoded.offsets[:, 1]).all()
    assert encoded.offsets.max() <= len(text)
    assert any(text[a:b] == "订单" for a, b in encoded.offsets)


def test_a_span_has_its_own_vector(encoder: Encoder) -> None:
    text = "好的收到！关于接口文档，麻烦补充下错误码说明，另外测试账号权限我们已开通，谢谢！"
    encoded = encoder.encode([text])[0]
    ask, done = text.index("麻烦"), text.index("另外")
    first, second = encoded.span_vector(ask, done), encoded.span_vector(done, len(text))
    assert np.isclose(np.linalg.norm(first), 1, atol=1e-5)
    assert float(first @ second) < 0.999
    index = encoded.span_passage(ask, done)
    question = encoder.encode(["错误码说明补充了吗"])[0].query
    assert float(index @ question) > float(encoded.span_passage(done, len(text)) @ question)
    assert np.array_equal(encoded.span_mean(900, 901), encoded.pooled)


def test_a_question_finds_its_answer_in_both_languages(encoder: Encoder) -> None:
    answers = [
        "您的快递明天上午送到。",
        "The refund was sent to your card.",
        "今天午饭吃了面条。",
        "He plays the violin.",
    ]
    stored = np.stack([e.passage for e in encoder.encode(answers)])
    for question, best in (("包裹几点能送来？", 0), ("When do I get my money back?", 1)):
        assert int((stored @ encoder.encode([question])[0].query).argmax()) == best


def test_a_long_text_is_read_in_windows(encoder: Encoder) -> None:
    text = "第三季度的报表今天交。" * 120
    encoded = encoder.encode([text])[0]
    assert len(encoded.states) > WINDOW
    assert encoded.offsets[-1, 1] == len(text)
    assert np.isclose(np.linalg.norm(encoded.passage), 1, atol=1e-5)


def test_a_megabyte_and_odd_characters_are_read(encoder: Encoder) -> None:
    for text in ("9" * 100_000, "\ud800\udfff", "\x00\u202e", "的" * 20_000):
        encoded = encoder.encode([text])[0]
        assert isinstance(encoded, Encoded) and np.isfinite(encoded.passage).all()


def test_the_same_text_gives_the_same_bytes(encoder: Encoder) -> None:
    again = Encoder.load()
    for one, two in zip(encoder.encode(LINES), again.encode(LINES), strict=True):
        assert one.states.tobytes() == two.states.tobytes()
    assert again.name == encoder.name


@pytest.mark.parametrize("name", ["encoder.onnx", "heads.npz", "tokenizer.json", "encoder.json"])
def test_a_cut_or_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "encoder"
    shutil.copytree(SHIPPED, folder)
    path = folder / name
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ResourceError, match=name):
        Encoder.load(folder)
    path.unlink()
    with pytest.raises(ResourceError, match=name):
        Encoder.load(folder)


def _changed(folder: Path, name: str, blob: bytes) -> Path:
    """A copy of the shipped encoder with another file in it that its manifest agrees to."""
    shutil.copytree(SHIPPED, folder)
    manifest = json.loads((folder / "encoder.json").read_bytes())
    (folder / name).write_bytes(blob)
    manifest["files"][name] = hashlib.sha256(blob).hexdigest()
    (folder / "encoder.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize(("name", "value"), [("passage", np.full((384, 384), np.nan)), ("query", np.zeros((384, 8)))])
def test_heads_that_are_not_numbers_or_of_another_shape_are_named(tmp_path: Path, name: str, value: Any) -> None:
    with np.load(SHIPPED / "heads.npz") as stored:
        heads = {**stored, name: value}
    made = BytesIO()
    np.savez(made, **heads)
    with pytest.raises(ResourceError, match=r"heads\.npz"):
        Encoder.load(_changed(tmp_path / "encoder", "heads.npz", made.getvalue()))


def test_another_network_is_named(tmp_path: Path) -> None:
    blob = (SHIPPED.parent / "coreference.onnx").read_bytes()
    with pytest.raises(ResourceError, match=r"encoder\.onnx"):
        Encoder.load(_changed(tmp_path / "encoder", "encoder.onnx", blob))


def test_a_zero_vector_stays_zero() -> None:
    assert not unit(np.zeros(4, np.float32)).any()
