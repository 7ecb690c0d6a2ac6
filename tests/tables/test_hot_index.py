"""The write path never builds a person's index; what it asks of the rows equals what the built index says."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tables import hot_index
from tables.hot_index import HotIndex
from tables.person_index import IndexCache
from tests.tables.people import DIMENSION, toy_vector, unit
from tests.tables.test_person_index import TEXTS, stored


def test_nothing_is_built_until_recall_asks() -> None:
    rows, state, _ = stored(TEXTS)
    cache = IndexCache()
    hot = HotIndex(cache, rows, state, DIMENSION)
    hot.add(3, unit(TEXTS[3], "e3"), toy_vector(TEXTS[3]))
    hot.update(3, unit(TEXTS[3], "e3"))
    hot.remove(3)
    hot.nearest(toy_vector("发票"), 3)
    assert cache.rebuilt == 0
    assert len(hot.whole()) == len(TEXTS), "the rows say what there is"
    assert cache.rebuilt == 1
    assert HotIndex(cache, rows, state, DIMENSION).whole() is hot.whole()


def test_the_nearest_are_the_same_with_and_without_the_index() -> None:
    rows, state, grown = stored(TEXTS)
    rows.delete(hot_index.VECTOR, 2)
    grown.update(2, replace(unit(TEXTS[2], "e2"), status="superseded"))
    cold, warm = (HotIndex(IndexCache(), rows, state, DIMENSION) for _ in range(2))
    warm.whole().remove(2)
    for text in ("订单 OD-33001 到哪了", "black coffee", "发票"):
        vector = toy_vector(text)
        assert cold.nearest(vector, 4) == warm.nearest(vector, 4)
        assert 2 not in dict(cold.nearest(vector, 8))


def test_only_the_newest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, state, _ = stored(TEXTS)
    read: list[int] = []
    inner = rows.get
    rows.get = lambda kind, *parts: (read.append(int(parts[0])), inner(kind, *parts))[1]  # type: ignore[method-assign]
    monkeypatch.setattr(hot_index, "WINDOW", 3)
    found = HotIndex(IndexCache(), rows, state, DIMENSION).nearest(toy_vector(TEXTS[0]), 8)
    assert sorted(dict(found)) == sorted(read) == [5, 6, 7]


def test_an_index_of_another_revision_is_forgotten() -> None:
    rows, state, _ = stored(TEXTS)
    cache = IndexCache()
    HotIndex(cache, rows, state, DIMENSION).whole()
    state.revision += 1
    again = HotIndex(cache, rows, state, DIMENSION)
    assert cache.nbytes == 0
    assert again.whole().revision == state.revision


def test_without_a_unit_there_is_nothing_near() -> None:
    rows, state, _ = stored([])
    assert HotIndex(IndexCache(), rows, state, DIMENSION).nearest(np.ones(DIMENSION, np.float32), 3) == []
