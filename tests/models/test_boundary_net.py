"""The clause net: places by token, agreement with its torch twin's arrays, bad weights and bad states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.encoder import Encoded, Encoder, Heads
from models.errors import ResourceError
from models.records import Pause
from models.units.boundary_net import STYLES, BoundaryNet, places_of
from models.units.clauses import WEIGHTS, shipped_net, split_clauses

SHIPPED = WEIGHTS / "segments_net.npz"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


def words_at(text: str, encoded: Encoded) -> list[str]:
    places = places_of(text, encoded.offsets)
    return [text[a:b] for a, b in zip(places.starts, [*places.starts[1:], len(text)], strict=True)]


def parts(text: str, encoder: Encoder, pauses: list[Pause] | None = None) -> list[str]:
    (encoded,) = encoder.encode([text])
    return [text[c.start : c.end] for c in split_clauses(text, pauses or [], encoded, shipped_net())]


def made(text: str, states: np.ndarray) -> Encoded:
    zero = np.zeros((states.shape[1],) * 2, np.float32)
    offsets = np.array([(i, i + 1) for i in range(len(text))], np.int32)
    return Encoded(text, offsets, states, states[0], states[0], states[0], Heads(zero, zero[0], zero, zero[0]))


def test_places_are_words_and_what_follows_de(encoder: Encoder) -> None:
    text = "I don't pay 1,250.50 for he-man."
    (encoded,) = encoder.encode([text])
    assert words_at(text, encoded) == ["I ", "don't ", "pay ", "1,250.50 ", "for ", "he-man."]
    chinese = "住在楼上的人来了，我不去。"
    (read,) = encoder.encode([chinese])
    places = places_of(chinese, read.offsets)
    assert places.starts[0] == 0
    assert places.starts == sorted(set(places.starts))
    assert chinese.index("人来") in places.starts
    assert places.gaps[places.starts.index(chinese.index("我不"))] == ","


def test_clauses_from_states(encoder: Encoder) -> None:
    assert parts("水管漏了，赶紧派人来。", encoder) == ["水管漏了，", "赶紧派人来。"]
    assert parts("The pump broke, but we fixed it.", encoder) == ["The pump broke,", "but we fixed it."]
    assert len(parts("我买了苹果、香蕉和梨。", encoder)) == 1
    assert len(parts("first item\nsecond item", encoder)) == 2


def test_speech_without_marks(encoder: Encoder) -> None:
    found = parts("我上午去了医院但是医生不在所以想改到下周", encoder)
    assert any(part.startswith("但是") for part in found)
    english = parts("i called them yesterday but nobody answered so i will try again tomorrow", encoder)
    assert any(part.startswith("but") for part in english)


def test_a_pause_raises_the_odds(encoder: Encoder) -> None:
    text = "周一能交初稿不过图纸还缺两张"
    at = text.index("不过")
    assert any(part.startswith("不过") for part in parts(text, encoder, [Pause(at=at, ms=1200)]))


def test_same_text_same_answer_whatever_it_is_read_with(encoder: Encoder) -> None:
    text = "他说价格太高，我们再想想。"
    (alone,) = encoder.encode([text])
    beside = encoder.encode(["别的话", text, "a third one"])[1]
    net = shipped_net()
    assert split_clauses(text, (), alone, net) == split_clauses(text, (), beside, net)


@pytest.mark.parametrize("text", ["", " ", "\n", "。", "🙂", "啊", "a", "\u202e", "\ud800", "ＡＢ１", "的", "的的的的"])
def test_tiny_texts(text: str, encoder: Encoder) -> None:
    (encoded,) = encoder.encode([text])
    found = split_clauses(text, (), encoded, shipped_net())
    assert all(0 <= c.start < c.end <= len(text) for c in found)


@pytest.mark.parametrize("unit", ["9", "的", "(", "a", "，", "我去了商店，", "word "])
def test_long_text_is_covered(unit: str, encoder: Encoder) -> None:
    text = unit * (2400 // len(unit))
    (encoded,) = encoder.encode([text])
    found = split_clauses(text, (), encoded, shipped_net())
    assert "".join(text[c.start : c.end] for c in found).replace(" ", "") == text.replace(" ", "")
    assert unit != "我去了商店，" or len(found) >= 300


def test_unusable_states_fall_back_to_words() -> None:
    text = "水管漏了，赶紧派人来。"
    net, plain = shipped_net(), split_clauses(text)
    for value, size in ((np.nan, net.state_size), (np.inf, net.state_size), (0.5, 7)):
        encoded = made(text, np.full((len(text), size), value, np.float32))
        assert not net.takes(encoded)
        assert split_clauses(text, (), encoded, net) == plain


Change = Callable[[dict[str, np.ndarray]], object]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda w: w.update(project=w["project"][:, :5]), "do not fit"),
        (lambda w: w.update(out=w["out"][:, :3]), r"out has shape"),
        (lambda w: w.update(marks=w["marks"] * np.nan), "not finite"),
        (lambda w: w.update(limits=w["limits"][:1]), r"limits has shape \(1,\)"),
        (lambda w: w.pop("taps"), "taps"),
    ],
)
def test_bad_weights_are_named(change: Change, says: str, tmp_path: Path) -> None:
    with np.load(SHIPPED) as stored:
        weights = {name: stored[name] for name in stored.files}
    change(weights)
    path = tmp_path / "segments_net.npz"
    np.savez(path, **weights)  # type: ignore[arg-type]
    with pytest.raises(ResourceError, match=rf"segments_net\.npz.*{says}"):
        BoundaryNet.load(path)


def test_missing_and_cut_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"gone\.npz"):
        BoundaryNet.load(tmp_path / "gone.npz")
    cut = tmp_path / "cut.npz"
    cut.write_bytes(SHIPPED.read_bytes()[:2000])
    with pytest.raises(ResourceError, match=r"cut\.npz"):
        BoundaryNet.load(cut)


def test_shipped_net_belongs_to_the_shipped_encoder(encoder: Encoder) -> None:
    net = shipped_net()
    assert net.encoder == encoder.name
    assert net.state_size == encoder.encode(["a"])[0].mixed.shape[1]
    assert len(STYLES) == 6
