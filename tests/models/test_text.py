"""Cleaning: what is dropped, what is kept, and that offsets can be followed there and back."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text import clean, narrow, simplify

ANY_TEXT = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("嗯啊，。 9的a-🙂\u0301ＯＤ８um\u200b")), max_size=80
)


@pytest.mark.parametrize(
    ("said", "cleaned"),
    [
        ("我想，嗯，换个颜色", "我想，换个颜色"),
        ("嗯，可以", "可以"),
        ("我就是，呃。", "我就是。"),
        ("嗯。好的。", "好的。"),
        ("Well, um, I think so", "Well, I think so"),
        ("I was there, uh.", "I was there."),
        ("单号ＯＤ－８８９２１，到了吗？", "单号OD-88921，到了吗？"),
        ("太慢了！！！！！！！", "太慢了！！！"),
        ("哈哈哈哈哈哈", "哈哈"),
        ("好的好的好的好的", "好的好的"),
        ("sooooo slow", "soo slow"),
        ("I I I want the the refund", "I want the refund"),
        ("我我我想退", "我想退"),
        ("a\u200bb\x00c", "abc"),
        ("  一\u3000 二  ", "一 二"),
    ],
)
def test_tidies(said: str, cleaned: str) -> None:
    assert clean(said).text == cleaned


@pytest.mark.parametrize(
    "said",
    ["10000", "AAA-111", "888", "订单 6666666", "AAAA", "一一一二二二二", "嗯嗯", "um", "啊", "金额和额度", "uh-huh", "呃逆三天了",
     "唔好意思", "谢谢", "天天见", "www.aaaa1.com", "👨‍👩‍👧 到了", "key sk-aaaaaa-000000"],
)  # fmt: skip
def test_keeps(said: str) -> None:
    assert clean(said).text == said


def test_english_marks_are_narrowed_chinese_ones_stay() -> None:
    assert clean("Yes，please！", "en").text == "Yes,please!"
    assert clean("可以，谢谢！", "zh").text == "可以，谢谢！"


def test_fillers_of_other_languages_stay() -> None:
    assert clean("quero um livro, por favor", "pt").text == "quero um livro, por favor"


def test_a_pause_moves_with_its_word() -> None:
    said = "嗯，价格可以，不过交期太长"
    cleaned = clean(said, "zh")
    at = said.index("不过")
    assert cleaned.text[cleaned.move(at) :].startswith("不过")
    assert cleaned.back(cleaned.move(at)) == at


def test_a_quoted_span_moves_whole() -> None:
    said = "呃他说「价格　ＯＫ」，我不同意"
    cleaned = clean(said, "zh")
    start, end = cleaned.move_span(said.index("「"), said.index("」") + 1)
    assert cleaned.text[start:end] == "「价格 OK」"


def test_lone_surrogates_become_replacement_characters() -> None:
    assert clean("\ud83d坏了", "zh").text == "\ufffd坏了"


def test_traditional_reads_as_simplified() -> None:
    assert simplify("這個訂單什麼時候出貨？") == "这个订单什么时候出货？"


@given(ANY_TEXT)
def test_narrow_and_simplify_keep_the_length(text: str) -> None:
    assert len(narrow(text)) == len(text)
    assert len(simplify(text)) == len(text)


@given(ANY_TEXT, st.sampled_from(["zh", "en", "ja", None]))
def test_origins_rise_and_name_the_same_characters(text: str, lang: str | None) -> None:
    cleaned = clean(text, lang)
    assert len(cleaned.origin) == len(cleaned.text)
    assert all(a < b for a, b in zip(cleaned.origin, cleaned.origin[1:], strict=False))
    for at, ch in zip(cleaned.origin, cleaned.text, strict=True):
        assert narrow(text[at]) == narrow(ch) or ch == "\ufffd"
    assert 0 <= cleaned.move(len(text)) <= len(cleaned.text)


@given(ANY_TEXT.filter(lambda text: any(ch.isalnum() for ch in text)))
def test_never_empties_a_text(text: str) -> None:
    assert any(ch.isalnum() for ch in clean(text, "zh").text)


@pytest.mark.parametrize(
    "unit", ["9", "的", "(", " ", "ab", "嗯", "好的", "um ", "\n", "I I ", "\u200b", "天天向", "a-"]
)
def test_linear_on_long_runs(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    started = time.perf_counter()
    clean(text, "zh")
    assert time.perf_counter() - started < 0.2
