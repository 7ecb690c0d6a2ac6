"""The parsed intent: action, target, reason, entities in a fixed schema, in both languages."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import ResourceError
from models.records import Entity, Mention
from models.tasks.intent_net import WEIGHTS, IntentNet
from models.tasks.intents import parse_intent


@pytest.mark.parametrize(
    ("text", "action", "target", "reason"),
    [
        ("帮我查一下订单 OD-88921 的物流到哪了。", "look_up", "shipment", None),
        ("顺便帮我取消这个订单。", "cancel", "current_order", None),
        ("重复下单了，把那个订单取消吧", "cancel", "current_order", "duplicate"),
        ("我想给订单 OD-61111 申请退货。", "return", "order", None),
        ("杯子碎了，我要退款", "refund", "refund", "damaged"),
        ("能改收货地址吗？我搬家了", "change_address", "address", "moved"),
        ("我要投诉你们客服，态度差", "complain", "service", "attitude"),
        ("帮我推荐一家餐厅", "recommend", "restaurant", None),
        ("帮我订一间酒店", "book", "hotel", None),
        ("请问保修期是多久？", "ask", "warranty", None),
        ("Where is my order OD-5?", "track", "order", None),
        ("Please cancel it.", "cancel", "current", None),
        ("I want to return this order, the lamp is broken.", "return", "current_order", "damaged"),
        ("I'd like my money back, it arrived too late", "refund", "current_refund", "late"),
        ("Can you change the delivery address?", "change_address", "current_address", None),
        ("Could you book a table at a restaurant for Friday?", "book", "restaurant", None),
        ("What's the warranty?", "ask", "current_warranty", None),
        ("I love Chinese food.", "inform", None, None),
        ("好的，谢谢", "chat", None, None),
    ],
)
def test_action_target_and_reason(text: str, action: str, target: str | None, reason: str | None) -> None:
    parsed = parse_intent(text)
    assert (parsed.action, parsed.target, parsed.reason) == (action, target, reason)


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("顺便帮我取消", "deepen"),
        ("另外问一下，营业时间？", "switch"),
        ("说回椅子", "back"),
        ("By the way, is it open on Sunday?", "switch"),
        ("Back to the chairs: which one?", "back"),
        ("帮我取消订单", None),
    ],
)
def test_markers(text: str, marker: str | None) -> None:
    assert parse_intent(text).marker == marker


def test_entities_are_those_that_were_said() -> None:
    said = Entity(id="OD-5", type="order", text="OD-5", start=0, end=4, strength="strong")
    assert parse_intent("OD-5 取消", entities=[said]).entities == [said]
    assert parse_intent("取消订单").entities == []


def test_resolved_references_count_and_doubtful_ones_do_not() -> None:
    sure = Mention(text="它", start=0, end=1, core_referent="OD-5", resolved_entity="OD-5")
    doubtful = Mention(text="他", start=0, end=1, core_referent="", resolved_entity="张工", needs_human_review=True)
    assert [(e.id, e.type, e.strength) for e in parse_intent("把它取消", mentions=[sure]).entities] == [
        ("OD-5", "order", "strong")
    ]
    assert parse_intent("他确认过了吗", mentions=[doubtful]).entities == []


def test_chain_labels_speak_the_customers_language() -> None:
    assert parse_intent("取消这个订单").label == "取消订单"
    assert parse_intent("cancel this order").label == "cancel order"
    assert parse_intent("cancel this order").stage == "ORDER_CANCELLATION"


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_an_intent_of_the_schema(text: str) -> None:
    parsed = parse_intent(text)
    assert parsed.action
    assert parsed.entities == []


@pytest.mark.parametrize("piece", ["9", "的", "(", " ", "the ", "取消", "it ", "?"])
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    parse_intent(text)
    before = time.process_time()
    parse_intent(text)
    assert time.process_time() - before < 0.1


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("My new card still isn't here", "track"),
        ("The total on my statement is not what I paid", "report"),
        ("The weather is lovely here", "inform"),
        ("My sister plays the violin", "inform"),
        ("我每天早上去跑步", "inform"),
        ("Check out this photo of my dog", "inform"),
    ],
)
def test_the_classifier_helps_where_no_rule_does(text: str, action: str) -> None:
    assert parse_intent(text).action == action


def test_a_damaged_weight_file_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "intent_net.npz"
    broken.write_bytes(WEIGHTS.read_bytes()[:5000])
    with pytest.raises(ResourceError, match="intent_net"):
        IntentNet.load(broken)
    np.savez(broken, labels=np.array(["ask"]), weights=np.zeros((3, 1), np.int8), scale=np.ones(1), bias=np.zeros(1))
    with pytest.raises(ResourceError, match="do not fit"):
        IntentNet.load(broken)


def test_probabilities_sum_to_one_and_empty_text_is_taken() -> None:
    net = IntentNet.load()
    for text in ("", "x", "取消", "🙂"):
        assert net.probabilities(text).sum() == pytest.approx(1.0, abs=1e-5)
