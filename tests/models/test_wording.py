"""Words with their offsets."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.wording import fold, split_words


@given(st.text(max_size=120))
def test_words_are_stretches_of_the_text_in_order(text: str) -> None:
    words = split_words(text)
    assert all(text[w.start : w.end] == w.text and w.text for w in words)
    assert all(a.end <= b.start for a, b in zip(words, words[1:], strict=False))


def test_chinese_is_cut_by_dictionary_and_pronouns_stand_alone() -> None:
    assert [w.text for w in split_words("他家的盒子OD-77120到了")] == ["他", "家", "的", "盒子", "OD-77120", "到", "了"]
    assert [w.text for w in split_words("他们")] == ["他们"]


def test_possessive_is_a_word() -> None:
    assert [w.text for w in split_words("Jill's house, it's 3.5 km")] == [
        "Jill",
        "'s",
        "house",
        ",",
        "it",
        "'s",
        "3.5",
        "km",
    ]


def test_folding_is_by_width_and_case() -> None:
    assert fold("ＳＫＵ") == "sku"


@pytest.mark.parametrize("unit", ["9", "的", "(", " ", "a-", "他", "'s", "\U0001f600"])
def test_ten_thousand_of_one_character_stay_cheap(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    begun = time.perf_counter()
    split_words(text)
    assert time.perf_counter() - begun < 0.5
