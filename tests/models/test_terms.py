"""Terms: both languages, identifiers whole and canonical, linear on hostile text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cues.terms import MAX_CHARACTERS, is_identifier, stem, terms


def test_chinese_is_bigrams_and_a_lone_character_stands_for_itself() -> None:
    assert terms("台风停工") == ["台风", "风停", "停工"]
    assert terms("买 猫") == ["买", "猫"]


def test_identifiers_are_one_canonical_term() -> None:
    assert terms("ＣＮ－Ａ１０２９３") == terms("cn-a10293") == ["cn-a10293"]
    assert terms("ERR_7741_QX") == ["err_7741_qx"]
    assert terms("订单OD-88921到了")[0:2] == ["订单", "od-88921"]
    assert set(terms("OD-88921")).isdisjoint(terms("OD-88922"))


def test_latin_words_are_stemmed_and_function_words_left_out() -> None:
    assert terms("The parcels were cancelled") == ["parcel", "cancel"]
    assert terms("a pet-friendly place") == ["pet", "friend", "place"]
    assert terms("a 9-year-old boy") == ["9", "year", "old", "boy"]


def test_traditional_and_simplified_agree() -> None:
    assert terms("東莞倉") == terms("东莞仓")


@pytest.mark.parametrize(
    ("a", "b"), [("used", "using"), ("tries", "try"), ("moved", "move"), ("stories", "story"), ("booking", "booked")]
)
def test_forms_of_a_word_meet(a: str, b: str) -> None:
    assert stem(a) == stem(b)


@pytest.mark.parametrize("run", ["od-88921", "15:00", "a@b.cn", "err_x", "2026-03-01", "v2.3"])
def test_identifier(run: str) -> None:
    assert is_identifier(run)


@pytest.mark.parametrize("run", ["pet-friendly", "covid", "and/or", "9-year-old"])
def test_not_identifier(run: str) -> None:
    assert not is_identifier(run)


@given(st.text(max_size=300))
def test_any_text_gives_the_same_nonempty_terms_twice(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(found)


@pytest.mark.parametrize(
    "text", ["9" * 10_000, "的" * 10_000, "(" * 10_000, " " * 10_000, "a-" * 5_000, "a" + "-" * 10_000]
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    began = time.process_time()
    terms(text)
    assert time.process_time() - began < 0.2


def test_long_text_is_cut() -> None:
    assert len(terms("山水" * MAX_CHARACTERS)) == MAX_CHARACTERS - 1
