"""How a copied phrase is written into an utterance."""

import pytest

from models.references.phrasing import without_overlap


@pytest.mark.parametrize(
    ("phrase", "text", "at", "want"),
    [
        ("买房", "没买", 2, "房"),
        ("北京的天气", "天气怎么样", 0, "北京的"),
        ("火锅", "喜欢吃", 3, "火锅"),
        ("the hotel", "at the", 6, "the hotel"),
        ("", "好", 1, ""),
    ],
)
def test_characters_that_stand_there_are_not_said_twice(phrase: str, text: str, at: int, want: str) -> None:
    assert without_overlap(phrase, text, at) == want
