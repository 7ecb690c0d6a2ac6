"""Filter 2: labels, roles, hedges, commitment, recurrence, pauses, odd input, damaged weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.affect import AffectModel, AffectReading
from models.affect_cues import SHIPPED as CUES
from models.affect_cues import CueLexicon
from models.affect_features import SurfaceReader
from models.affect_net import SHIPPED, AffectNet
from models.affect_rules import recurring, weigh
from models.context import Turn
from models.encoder import Encoder
from models.errors import RecordError, ResourceError
from models.records import EMOTIONS, INTENTS, Load, Pause, Speaker

CUSTOMER, AGENT = Speaker(role="customer"), Speaker(role="agent")


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def model(encoder: Encoder) -> AffectModel:
    return AffectModel.load(encoder=encoder)


class Reader:
    """Encodes and reads in one call."""

    def __init__(self, encoder: Encoder, model: AffectModel) -> None:
        self.encoder, self.model = encoder, model

    def __call__(
        self, text: str, speaker: Speaker = CUSTOMER, context: tuple[Turn, ...] = (), pauses: tuple[Pause, ...] = ()
    ) -> AffectReading:
        return self.model.read(self.encoder.encode([text])[0], speaker=speaker, context=context, pauses=pauses)


@pytest.fixture(scope="module")
def read(encoder: Encoder, model: AffectModel) -> Reader:
    return Reader(encoder, model)


@pytest.mark.parametrize(
    ("text", "speaker", "label"),
    [
        ("您的快递单号是多少？", AGENT, "clarify"),
        ("What is your account number?", AGENT, "clarify"),
        ("请帮我把房间换成大床房。", CUSTOMER, "request"),
        ("Please move my booking to Sunday.", CUSTOMER, "request"),
        ("我保证明天中午之前修好。", AGENT, "commit"),
        ("I will call you back within the hour.", AGENT, "commit"),
        ("这个价格我们接受不了，不买了。", CUSTOMER, "refuse"),
        ("No, we are not going to sign this.", CUSTOMER, "refuse"),
        ("仓库里现在还有二十台。", AGENT, "neutral"),
        ("The office is on the third floor.", AGENT, "neutral"),
    ],
)
def test_plain_lines_have_their_intent(read: Reader, text: str, speaker: Speaker, label: str) -> None:
    found = read(text, speaker)
    assert found.intent.label == label
    assert set(found.intent.probs) == set(INTENTS)
    assert abs(sum(found.intent.probs.values()) - 1) < 0.01
    assert set(found.emotion.probs) == set(EMOTIONS)
    assert 0.5 <= found.confidence <= 1


@pytest.mark.parametrize(
    "text",
    [
        "价格这边我们尽量给您再低一点。",
        "我们争取月底之前上线。",
        "这个功能我们会尝试加进去。",
        "工期方面我们一定尽力。",
        "We'll do our best on the price.",
        "We will try to finish before the deadline.",
        "We'll try to add that feature.",
    ],
)
def test_a_hedge_about_price_deadline_or_feature_is_no_commitment(read: Reader, text: str) -> None:
    found = read(text, AGENT)
    assert found.intent.label == "request"
    assert found.intent.corrected_by == "hedge"
    assert found.confidence == 0.3
    assert found.commitment_strength == 0.3


@pytest.mark.parametrize(
    "text", ["我们保证月底之前上线。", "我们已经尽力了。", "I tried calling you twice.", "尽量少放辣。"]
)
def test_what_is_not_such_a_hedge_is_left_alone(read: Reader, text: str) -> None:
    assert read(text, AGENT).intent.corrected_by != "hedge"


def test_commitment_strength_follows_the_words(read: Reader) -> None:
    for strong, plain, weak in (
        ("我们保证周三把货送到。", "我们会在周三把货送到。", "我们尽量周三把货送到。"),
        ("We guarantee delivery on Monday.", "We will deliver it on Monday.", "We'll try to deliver on Monday."),
    ):
        assert [read(text, AGENT).commitment_strength for text in (strong, plain, weak)] == [1.0, 0.7, 0.3]
    assert read("你们的仓库在哪里？").commitment_strength == 0.0


def test_an_apology_is_not_the_customers_anger(read: Reader) -> None:
    angry = read("你们的服务太差了，我已经等了两个星期！")
    sorry = read("实在抱歉，让您等了这么久。", AGENT)
    thanks = read("好的，麻烦你了，谢谢。")
    assert angry.load.stress > sorry.load.stress
    assert angry.load.stress > thanks.load.stress
    assert thanks.load.cooperation > angry.load.cooperation


def test_urgency(read: Reader) -> None:
    assert read("马上处理，客户五分钟后就到！").load.urgency > read("不着急，下个月再说也行。").load.urgency
    assert read("We need this right now, it's an emergency!").load.urgency > read("Take your time.").load.urgency


def test_role_weights() -> None:
    raw = Load(stress=0.9, certainty=0.9, urgency=0.8, cooperation=0.2)
    assert weigh(raw, CUSTOMER) == raw
    agent = weigh(raw, AGENT)
    assert agent.stress == pytest.approx(0.1)
    assert weigh(Load(stress=0.4, certainty=0.5, urgency=0, cooperation=0.5), AGENT).stress == pytest.approx(0.24)
    third = weigh(raw, Speaker(role="third_party"))
    assert (third.stress, third.urgency) == (pytest.approx(0.27), pytest.approx(0.24))
    assert abs(third.certainty - 0.5) < abs(raw.certainty - 0.5)
    assert weigh(raw, Speaker(weight=3.0)).stress > raw.stress
    assert weigh(raw, Speaker(weight=0.0)).stress == 0


def test_delay_by_someone_who_decides_is_a_refusal(read: Reader) -> None:
    proposal = (Turn(role="third_party", speaker_name="张工", text="要不要这个月就把旧系统下线？"),)
    for text, title in (("我再想想。", "CTO"), ("回头再说吧。", "采购总监"), ("Let me think about it.", "CEO")):
        found = read(text, Speaker(role="customer", title=title), proposal)
        assert found.intent.label == "refuse"
    assert read("我再想想。", Speaker(role="customer"), ()).intent.corrected_by is None


def test_a_long_pause_lowers_certainty(read: Reader) -> None:
    text = "我们下周三能给初版，不过测试环境还没搭好。"
    at = text.index("，")
    calm, halting = read(text), read(text, pauses=(Pause(at=at, ms=1200),))
    assert halting.load.certainty < calm.load.certainty
    assert halting.load.stress > calm.load.stress
    assert read(text, pauses=(Pause(at=at, ms=200),)).load == calm.load


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("空调又不制冷了。", True),
        ("同样的错误再次出现。", True),
        ("The printer is broken again.", True),
        ("再见，谢谢。", False),
        ("Thanks again for your help.", False),
        ("空调很好用。", False),
    ],
)
def test_recurrence_is_marked(text: str, again: bool) -> None:
    assert recurring(CueLexicon.load().find(text)) is again


@pytest.mark.parametrize("size", [2, 64])
def test_a_reading_does_not_depend_on_neighbours(encoder: Encoder, model: AffectModel, size: int) -> None:
    texts = [f"第{i}单怎么还没发货" if i % 2 else f"I'll look into order {i}" for i in range(size)]
    for text, beside in zip(texts, encoder.encode(texts), strict=True):
        alone = encoder.encode([text])[0]
        assert model.read(alone, speaker=CUSTOMER) == model.read(beside, speaker=CUSTOMER)


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_has_a_reading(read: Reader, text: str) -> None:
    found = read(text)
    assert found.intent.label in INTENTS
    assert found.emotion.label in EMOTIONS
    for value in (found.load.stress, found.load.certainty, found.load.urgency, found.load.cooperation):
        assert 0 <= value <= 1


@pytest.mark.parametrize("text", ["", "好", "?", "k", "😀", "\ud800", "9" * 10_000, "的" * 10_000])
def test_short_and_strange_texts(read: Reader, text: str) -> None:
    assert read(text).intent.label in INTENTS


def test_nan_in_a_vector_is_a_bad_record(encoder: Encoder, model: AffectModel) -> None:
    encoded = encoder.encode(["好的"])[0]
    broken = dataclasses.replace(encoded, states=np.full_like(encoded.states, np.nan), mix=None)
    with pytest.raises(RecordError, match="bad_vector"):
        model.read(broken, speaker=CUSTOMER)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    size = SurfaceReader(CueLexicon.load()).size
    cut = tmp_path / "affect.npz"
    cut.write_bytes(SHIPPED.read_bytes()[:-100])
    with pytest.raises(ResourceError, match=r"affect\.npz"):
        AffectNet.load(cut, surface_size=size)
    with pytest.raises(ResourceError, match="missing"):
        AffectNet.load(tmp_path / "missing.npz", surface_size=size)
    with pytest.raises(ResourceError, match="word lists"):
        AffectNet.load(SHIPPED, surface_size=size + 1)
    with np.load(SHIPPED) as stored:
        weights = {name: stored[name] for name in stored.files}
    for change in ({"out_bias": np.zeros(3)}, {"out_bias": np.full_like(weights["out_bias"], np.nan)}):
        np.savez(cut, **{**weights, **change})
        with pytest.raises(ResourceError):
            AffectNet.load(cut, surface_size=size)


def test_bad_word_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "affect.toml"
    for content in ("[hedge\n", '[hedge]\nzh = [""]\n', "[hedge]\nzh = [3]\n", "hedge = 3\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ResourceError, match=r"affect\.toml"):
            CueLexicon.load(path)
    assert CueLexicon.load(CUES).kinds[0] == "hedge"


def test_a_reading_is_the_same_whether_earlier_turns_were_kept_or_not(encoder: Encoder, model: AffectModel) -> None:
    turns = [Turn(role="agent", text="要不要给您换一台新的？"), Turn(role="customer", text="旧的已经修过三次了。")]
    line = encoder.encode(["没问题。"])[0]
    fresh = AffectModel.load(encoder=encoder).read(line, speaker=CUSTOMER, context=turns)
    for turn in turns:
        model.read(encoder.encode([turn.text])[0], speaker=Speaker(role=turn.role))
    assert model.read(line, speaker=CUSTOMER, context=turns) == fresh
    for number in range(3):
        model.read(encoder.encode([f"第{number}句"])[0], speaker=CUSTOMER, context=turns)
    assert model.read(line, speaker=CUSTOMER, context=turns) == fresh


def test_what_was_said_before_counts(read: Reader) -> None:
    asked = read("没问题。", AGENT, (Turn(role="customer", text="麻烦今天给我补发一件。"),))
    thanked = read("没问题。", AGENT, (Turn(role="customer", text="谢谢你，东西收到了。"),))
    assert asked.intent.probs["commit"] > thanked.intent.probs["commit"]


def test_kept_turns_are_bounded(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.affect.KEPT_TURNS", 3)
    small = AffectModel.load(encoder=encoder)
    for number in range(6):
        small.read(encoder.encode([f"line {number}"])[0], speaker=CUSTOMER)
    assert len(small._turns) == 3


@pytest.mark.parametrize(
    "text",
    [
        "We will do our best to include them in the March shipment.",
        "我们尽量下午把货送达",
        "We'll try to get the refund out soon.",
    ],
)
def test_a_hedge_about_a_delivery_is_no_commitment(read: Reader, text: str) -> None:
    reading = read(text, AGENT)
    assert reading.intent.label != "commit"
    assert reading.confidence == 0.3
