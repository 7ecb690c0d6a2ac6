"""Entities: identifiers that never merge, names that always do, amounts, warehouses, dictionary terms."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.entities.amounts import chinese_number, find_amounts
from models.entities.finder import find_entities
from models.entities.strong_ids import canonical_id
from models.text import narrow, simplify


def ids(text: str) -> dict[str, str]:
    return {entity.id: entity.type for entity in find_entities(text)}


@pytest.mark.parametrize(
    ("said", "id_", "type_"),
    [
        ("帮我查订单 OD-88921", "OD-88921", "order"),
        ("od-88921 到哪了", "OD-88921", "order"),
        ("订单号 20260302001 取消", "20260302001", "order"),
        ("order #5521 please", "5521", "order"),
        ("退款单号RF-3310", "RF-3310", "refund"),
        ("Ticket SR-2023-052 is open", "SR-2023-052", "ticket"),
        ("快递单号ＳＦ１０２９３８４７５６", "SF1029384756", "tracking"),
        ("SKU 是 BX-200-BLUE", "BX-200-BLUE", "sku"),
        ("设备编号是ＣＮ－Ａ１０２９３", "CN-A10293", "device"),
        ("fails with error E4417", "E4417", "error"),
        ("报错 0x80070005", "0X80070005", "error"),
        ("航班 CA1831 延误", "CA1831", "flight"),
        ("坐G1234次列车", "G1234", "train"),
        ("打 139-1234-5678", "13912345678", "phone"),
        ("打 +86 13912345678", "13912345678", "phone"),
        ("写信到 A.B@Example.com", "a.b@example.com", "email"),
        ("车牌沪A·8K926", "沪A8K926", "licence_plate"),
        ("从东莞仓库发货", "东莞仓", "warehouse"),
        ("staging env is down", "预发环境", "environment"),
        ("QA环境挂了", "测试环境", "environment"),
        ("预算不超过 5 万", "amount 50000", "amount"),
        ("总价四万八", "amount 48000", "amount"),
        ("it costs $1,250.50", "USD 1250.5", "amount"),
        ("张工昨天提交了代码", "张工", "person"),
        ("我每年春天都去婺源", "婺源", "place"),
        ("My good friend Jack said so", "jack", "person"),
        ("I went to Paris last week", "paris", "place"),
        ("我买了一个深空蓝的收纳盒", "深空蓝的收纳盒", "product"),
        ("I ordered a blue kettle", "blue kettle", "product"),
    ],
)
def test_finds(said: str, id_: str, type_: str) -> None:
    assert ids(said).get(id_) == type_


@pytest.mark.parametrize(
    "said",
    ["环境很好", "版本 2.3.1", "COVID-19 and GPT-4", "256GB 的 4K 电视", "2026-03-04 10am", "I was born in 1990", "order 3 boxes", "room 42",
     "好的谢谢", "仓促决定", "三个月后", "第一名", "卡号[bank_card:m]"],
)  # fmt: skip
def test_leaves_alone(said: str) -> None:
    assert ids(said) == {}


@pytest.mark.parametrize(
    ("said", "name"),
    [("王总明天下午三点开会", "王总"), ("马总五一结婚", "马总"), ("欧阳总明天到", "欧阳总"), ("张工程师来了", "张工程师"), ("刘副总同意", "刘副总")],
)  # fmt: skip
def test_a_title_ends_a_name(said: str, name: str) -> None:
    assert [key for key, kind in ids(said).items() if kind == "person"] == [name]


def test_what_leads_to_a_number_is_no_organisation() -> None:
    assert ids("快递单号SF1029384756123") == {"SF1029384756123": "tracking"}


def test_ids_one_digit_apart_stay_two() -> None:
    assert set(ids("订单 OD-88921 和 OD-88922 都没到")) == {"OD-88921", "OD-88922"}
    assert ids("SR-2023-052") != ids("SR-2023-053")


def test_full_width_is_half_width() -> None:
    assert ids("设备ＣＮ－Ａ１０２９３") == ids("设备CN-A10293")


def test_strong_and_weak() -> None:
    strength = {entity.id: entity.strength for entity in find_entities("订单 OD-1123 从东莞仓发货")}
    assert strength == {"OD-1123": "strong", "东莞仓": "weak"}


def test_identical_names_meet_whatever_their_writing() -> None:
    (one,), (two,) = find_entities("我去过婺源"), find_entities("我住在婺源")
    assert one.id == two.id
    assert ids("I met Jack") == ids("I saw JACK here") or "jack" in ids("I met Jack")


def test_names_can_be_left_out() -> None:
    assert find_entities("王小明的订单 OD-1123", names=False)[0].id == "OD-1123"
    assert len(find_entities("王小明的订单 OD-1123", names=False)) == 1


PIECES = st.sampled_from(["订单", "OD-88921", " ", "，", "测试环境", "🙂", "e\u0301", "四万八", "王小明", "Jack", "$50", "ＡＢ１２３", "[phone:m]", "東莞倉", "\n"])  # fmt: skip


@settings(deadline=None, max_examples=100)
@given(st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=50)))
def test_spans_lie_inside_in_order_and_apart(text: str) -> None:
    entities = find_entities(text)
    for entity in entities:
        assert text[entity.start : entity.end] == entity.text
        assert entity.id
    assert all(a.end <= b.start for a, b in zip(entities, entities[1:], strict=False))
    assert entities == find_entities(text)


@given(st.from_regex(r"[A-Z]{2}-[0-9]{3,8}", fullmatch=True), st.from_regex(r"[A-Z]{2}-[0-9]{3,8}", fullmatch=True))
def test_canonical_ids_are_equal_only_if_the_ids_are(one: str, two: str) -> None:
    assert (canonical_id(one.lower()) == canonical_id(two)) == (one == two)


@pytest.mark.parametrize(
    ("said", "value"),
    [("四万八", 48000), ("一千二百零三", 1203), ("两百五", 250), ("十", 10), ("三亿五千万", 350_000_000), ("一万零五", 10005), ("八八", 88), ("万", None)],
)  # fmt: skip
def test_chinese_numbers(said: str, value: int | None) -> None:
    assert chinese_number(said) == value


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("一共三百八十元", [(380.0, "CNY")]),
        ("预算 3.5 万元", [(35000.0, "CNY")]),
        ("¥8,999.00 或 1.2k dollars", [(8999.0, "CNY"), (1200.0, "USD")]),
        ("报价三个方案", []),
        ("价格在 3 天内有效", []),
        ("三块五", [(3.5, "CNY")]),
    ],
)
def test_amounts(said: str, values: list[tuple[float, str]]) -> None:
    assert [(amount.value, amount.currency) for amount in find_amounts(simplify(narrow(said)))] == values


@pytest.mark.parametrize("unit", ["9", "的", "(", " ", "A1-", "$1", "四万", "9,"])
def test_linear_on_long_runs(unit: str) -> None:
    find_entities("热身 Jack 1")
    started = time.perf_counter()
    find_entities((unit * 10_000)[:10_000], names=False)
    assert time.perf_counter() - started < 1.5
