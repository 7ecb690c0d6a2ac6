"""Slots, constraints, answers, claims and corrections: what a statement says, and whose it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tasks.constraints import add_constraints, asked_for, bare_answer, find_constraints, given_facts
from models.tasks.slot_values import content_tokens, normal_value
from models.tasks.slots import read_slots
from models.units.claims import asks_only, foreign_spans, is_small_talk, milestone, own_spans, says
from models.units.corrections import read_correction


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "value", "polarity"),
    [
        ("I really love Thai food.", "self", "preference", "thai food", 1),
        ("I don't like crowded trains any more.", "self", "preference", "crowded trains", -1),
        ("My brother hates olives.", "self/brother", "preference", "olives", -1),
        ("My favourite author is Le Guin.", "self", "favourite:author", "le guin", 1),
        ("I've moved to Lisbon.", "self", "residence", "lisbon", 1),
        ("We sold our old boat last week.", "self", "owns", "boat", 1),
        ("Maria is the head of sales at Norda.", "maria", "role", "head of sales at norda", 1),
        ("Our company moved to Dock Street.", "self", "location:company", "dock street", 1),
        ("我不太喜欢吃榴莲。", "self", "preference", "榴莲", -1),
        ("我妈妈喜欢越剧", "self/妈妈", "preference", "越剧", 1),
        ("我最喜欢的歌手是李健", "self", "favourite:歌手", "李健", 1),
        ("我家住在青岛。", "self", "residence", "青岛", 1),
        ("我在小米上班", "self", "employer", "小米", 1),
        ("我花生过敏，请注意", "self", "allergy", "花生", 1),
        ("把那台旧冰箱卖了", "self", "owns", "冰箱", 1),
        ("以后都用英文回复我", "self", "wish:language", "英文", 1),
        ("我叫林晓", "self", "name", "林晓", 1),
        ("Text me instead, I prefer text from now on.", "self", "wish:contact", "text", 1),
    ],
)
def test_what_is_said_about_whom(text: str, subject: str, attribute: str, value: str, polarity: int) -> None:
    found = [(f.subject, f.attribute, f.value, f.polarity) for f in read_slots(text)]
    assert (subject, attribute, value, polarity) in found


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Rome?",
        "If I lived in Rome I would love the food.",
        "I would like a refund.",
        "He likes it.",
        "I like how it works.",
        "你喜欢吃什么？",
        "他喜欢足球",
        "如果我住在上海就好了",
        "我的银行卡是[bank_card:l]",
        "住院三天了",
    ],
)
def test_questions_wishes_and_the_unresolved_give_nothing(text: str) -> None:
    assert read_slots(text) == []


def test_a_named_person_is_the_subject() -> None:
    assert [f.subject for f in read_slots("张伟喜欢钓鱼", names=["张伟"])] == ["张伟"]
    assert read_slots("张伟喜欢钓鱼") == []


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for fact in read_slots(text):
        assert 0 <= fact.start < fact.end <= len(text)
    find_constraints(text)
    given_facts(text)
    asked_for(text)
    bare_answer(text)
    read_correction(text, True)
    is_small_talk(text)
    asks_only(text)
    milestone(text)
    for start, end in foreign_spans(text):
        assert 0 <= start < end <= len(text)


def test_talk_words_of_speech_are_no_question() -> None:
    assert not asks_only("我昨天那个怎么说呢在你们家买了那个什么收纳盒")
    assert asks_only("这个字怎么说呢") and asks_only("然后呢")


@pytest.mark.parametrize("piece", ["9", "的", "(", " ", "my ", "我", "不要", "是", "预算", "，", "not ", "you ", "\n"])
def test_no_pattern_blows_up(piece: str) -> None:
    text = piece * (10_000 // len(piece))

    def read_all() -> None:
        read_slots(text + " ")
        find_constraints(text)
        given_facts(text)
        asked_for(text)
        read_correction(text, True)
        foreign_spans(text)
        asks_only(text)
        milestone(text)
        for kind in ("recital", "about_user", "proposal", "trial", "reasoning", "pending", "transaction"):
            says(kind, text)

    content_tokens("warm")
    before = time.process_time()
    read_all()
    assert time.process_time() - before < 0.25  # nine readings of 10 kB


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=5), st.integers(0, 50), st.integers(0, 50))
def test_own_spans_are_what_is_left(foreign: list[tuple[int, int]], start: int, end: int) -> None:
    foreign = [(min(a, b), max(a, b)) for a, b in foreign]
    left = {i for a, b in own_spans(start, end, foreign) for i in range(a, b)}
    assert left == {i for i in range(start, end) if not any(a <= i < b for a, b in foreign)}


def test_values_are_bare() -> None:
    assert normal_value("the red Honda Civic", of_thing=True) == "honda civic"
    assert normal_value("一辆红色的本田思域", of_thing=True) == "本田思域"
    assert normal_value("小米") == "小米"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("预算不超过五万，只考虑本地供应商。", ["budget", "supplier"]),
        ("Keep it under $300 and no peanuts, please.", ["budget"]),
        ("Only consider suppliers from Bavaria.", ["supplier"]),
        ("不要香菜", ["exclusion"]),
        ("必须支持七天无理由", ["requirement"]),
        ("最晚周五交货", ["deadline"]),
        ("不要紧", []),
        ("有没有便宜一点的？", []),
        ("No problem.", []),
        ("今天好累", []),
    ],
)
def test_constraints(text: str, kinds: list[str]) -> None:
    assert [c.kind for c in find_constraints(text)] == kinds


def test_a_newer_budget_stands_alone() -> None:
    known = add_constraints([], find_constraints("预算不超过五万，只考虑本地供应商"))
    assert add_constraints(known, find_constraints("预算可以放宽到不超过八万")) == [
        "只考虑本地供应商",
        "预算可以放宽到不超过八万",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "wrong"),
    [
        ("你记错了，我住在苏州。", "correction", ""),
        ("You got it wrong, I said Tuesday, not Monday.", "correction", "Monday"),
        ("不是三号楼，是五号楼", "contrast", "三号楼"),
        ("It's not the blue one but the green one.", "contrast", "the blue one"),
        ("会议改到周五上午", "move", ""),
        ("The call was moved to Friday.", "move", ""),
        ("打印机已经修好了", "resolved", ""),
        ("The printer is fixed now.", "resolved", ""),
    ],
)
def test_corrections(text: str, kind: str, wrong: str) -> None:
    found = read_correction(text, has_time=True)
    assert found is not None
    assert (found.kind, found.wrong) == (kind, wrong)


@pytest.mark.parametrize("text", ["打印机还没修好", "修好了吗？", "I like tea.", "今天不忙", "Is it fixed?"])
def test_no_correction(text: str) -> None:
    assert read_correction(text) is None
