"""BM25 that grows and shrinks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import words
from tables.words import Words


def test_scores_are_the_formula() -> None:
    index = Words()
    index.add(0, ["a", "b"])
    index.add(1, ["a", "a", "c", "d"])
    size = 2 + words.PRIOR
    idf = math.log(1 + (size - 2 + 0.5) / 2.5)
    want = [
        idf * n * (words.K1 + 1) / (n + words.K1 * (1 - words.B + words.B * length / 3.0))
        for n, length in ((1, 2), (2, 4))
    ]
    assert index.scores({"a": 1.0}, 2) == pytest.approx(want, rel=1e-5)


def test_what_is_common_in_conversation_tells_little_even_in_a_small_memory() -> None:
    index = Words({"thank": 0.2})
    index.add(0, ["thank"])
    index.add(1, ["violin"])
    assert index.idf("violin") > index.idf("thank")
    assert index.knows("thank") and index.knows("violin") and not index.knows("qwzx")


def test_a_removed_slot_is_as_if_it_had_never_been() -> None:
    grown, fresh = Words(), Words()
    grown.add(0, ["a", "b"])
    grown.add(1, ["a", "secret"])
    grown.add(2, ["b", "c", "c"])
    grown.remove(1)
    fresh.add(0, ["a", "b"])
    fresh.add(2, ["b", "c", "c"])
    query = {"a": 1.0, "b": 0.5, "c": 1.0, "secret": 1.0}
    assert np.array_equal(grown.scores(query, 3)[[0, 2]], fresh.scores(query, 3)[[0, 2]])
    assert not grown.knows("secret")


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6), min_size=1, max_size=12), st.data())
def test_removal_in_any_order_equals_never_added(docs: list[list[str]], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, len(docs) - 1)))
    grown, fresh = Words(), Words()
    for slot, doc in enumerate(docs):
        grown.add(slot, doc)
        if slot not in gone:
            fresh.add(slot, doc)
    for slot in sorted(gone):
        grown.remove(slot)
    kept = np.array([slot not in gone for slot in range(len(docs))])
    query = dict.fromkeys("abcdef", 1.0)
    assert np.array_equal(grown.scores(query, len(docs))[kept], fresh.scores(query, len(docs))[kept])
