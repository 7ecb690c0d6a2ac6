"""The English tagger: tokens, spans, and a file that is cut short."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.entities.english_tagger import WEIGHTS, EnglishTagger, shape, tag_english, tokenize
from models.errors import ResourceError


def test_tokens_keep_their_offsets_and_split_the_possessive() -> None:
    text = "O'Brien's flat,\n12B"
    assert [token.text for token in tokenize(text)] == ["O'Brien", "'s", "flat", ",", "\n", "12B"]
    assert all(text[token.start : token.end] == token.text for token in tokenize(text))


@pytest.mark.parametrize(("word", "outline"), [("McKay", "XxXx"), ("B", "X1"), ("2024", "04"), ("hello", "x")])
def test_shape(word: str, outline: str) -> None:
    assert shape(word) == outline


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("I spoke to Priya Raman yesterday.", "PER", "Priya Raman"),
        ("We moved to Toronto in May.", "LOC", "Toronto"),
        ("Ship it to 4821 Birch Lane Apt. 12, Denver, CO 80014 please.", "ADDR", "4821 Birch Lane Apt. 12, Denver, CO 80014"),
    ],
)  # fmt: skip
def test_finds(text: str, kind: str, said: str) -> None:
    assert (kind, said) in [(span.kind, text[span.start : span.end]) for span in tag_english(text)]


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_spans_lie_inside_and_apart(text: str) -> None:
    spans = tag_english(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(a.end <= b.start for a, b in zip(spans, spans[1:], strict=False))


def test_the_same_text_gives_the_same_spans_whatever_came_before() -> None:
    text = "Ask Marek Dvorak about it."
    first = tag_english.__wrapped__(text)
    tag_english.__wrapped__("Completely different words, Marek.")
    assert tag_english.__wrapped__(text) == first


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.npz"
    path.write_bytes(WEIGHTS.read_bytes()[:1000])
    with pytest.raises(ResourceError, match=r"cut\.npz"):
        EnglishTagger.load(path)


def test_half_a_surrogate_pair_is_read_like_any_other_character() -> None:
    assert [span.kind for span in tag_english("I met Anna Smith \ud800 in London")] == [
        span.kind for span in tag_english("I met Anna Smith \ufffd in London")
    ]
