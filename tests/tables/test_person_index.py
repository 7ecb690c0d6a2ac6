"""The hot index: grown event by event it equals one built from the rows; the cache knows a stale one."""

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from models.errors import ResourceError
from models.records import TaskView
from tables.person import PersonState
from tables.person_index import IndexCache, PersonIndex, load_index
from tables.recall import Recall, RecallSettings, recall
from tables.store import UNIT, VECTOR, PersonRows, Transaction
from tables.vectors import BLOCK, Vectors, pack_vector, unpack_vector
from tests.tables.people import DIMENSION, entity, toy_vector, toy_weights, turn, unit

TEXTS = [
    "我的订单 OD-33001 从东莞仓发货", "东莞仓因台风停工", "I take my coffee black", "上周投诉过客服态度差", "我每周五晚上打羽毛球",
    "The build broke with ERR_7741_QX", "发票抬头写张江公司", "My sister plays the violin",
]  # fmt: skip


def ask(index: PersonIndex, text: str) -> Recall:
    return recall(
        turn(text), toy_vector(text), index, task=TaskView(), settings=RecallSettings(max_cues=8, weights=toy_weights())
    )


def stored(texts: list[str]) -> tuple[PersonRows, PersonState, PersonIndex]:
    rows = PersonRows(Transaction({}), "t/u1")
    index = PersonIndex(DIMENSION)
    for slot, text in enumerate(texts):
        made = unit(text, f"e{slot}", entities=[entity("东莞仓")] if "东莞仓" in text else [], turn=slot)
        vector = toy_vector(text)
        rows.put(UNIT, slot, value=msgspec.json.encode(made))
        rows.put(VECTOR, slot, value=pack_vector(vector))
        index.add(slot, made, unpack_vector(pack_vector(vector)))
    return rows, PersonState(tenant="t", user_id="u1", revision=7, next_slot=len(texts)), index


def test_grown_equals_rebuilt_with_removed_superseded_and_erased() -> None:
    rows, state, grown = stored(TEXTS)
    erased, superseded = 1, 6
    grown.remove(erased)
    rows.delete(UNIT, erased)
    rows.delete(VECTOR, erased)
    gone = replace(unit(TEXTS[superseded], f"e{superseded}"), status="superseded")
    grown.update(superseded, gone)
    rows.put(UNIT, superseded, value=msgspec.json.encode(gone))
    rebuilt = load_index(rows, state, DIMENSION)
    assert rebuilt.revision == 7
    assert len(rebuilt) == len(grown) == len(TEXTS) - 2
    for text in ("订单 OD-33001 到哪了", "ERR_7741_QX", "How do I take my coffee?", "发票"):
        assert msgspec.json.encode(ask(grown, text)) == msgspec.json.encode(ask(rebuilt, text))


def test_the_newest_unit_may_be_the_erased_one() -> None:
    rows, state, _ = stored([f"{text} {number}" for number in range(3) for text in TEXTS][:17])
    rows.delete(UNIT, 16)
    rows.delete(VECTOR, 16)
    index = load_index(rows, state, DIMENSION)
    assert index.size == 17 <= len(index.columns)
    assert ask(index, "订单 OD-33001 到哪了").cues


def test_an_update_takes_over_what_changed() -> None:
    _, _, index = stored(TEXTS)
    open_one = unit(TEXTS[3], "e3", resolution_status="pending", severity="high", turn=3)
    index.update(3, open_one)
    assert index.columns[3]["pending"] and index.columns[3]["severity"] == 1.0
    index.update(3, replace(open_one, resolution_status="resolved", resolved_at=open_one.ts))
    assert not index.columns[3]["pending"] and np.isfinite(index.columns[3]["resolved"])


def test_a_removed_unit_leaves_nothing_behind() -> None:
    _, _, index = stored(TEXTS)
    index.remove(5)
    assert not index.words.knows("err_7741_qx")
    assert not index.vectors.at(np.array([5])).any()
    assert index.slots_of_event("e5") == []
    index.remove(5)


def test_the_cache_rebuilds_a_stale_index_and_stays_in_bounds() -> None:
    built = []

    def build() -> PersonIndex:
        built.append(1)
        return stored(TEXTS)[2]

    cache = IndexCache(limit_bytes=1)
    first = cache.get("t/a", 3, build)
    assert cache.get("t/a", 3, build) is first
    cache.applied("t/a", 4)
    assert cache.get("t/a", 4, build) is first
    assert cache.get("t/a", 9, build) is not first
    cache.get("t/b", 1, build)
    cache.applied("t/b", 2)
    assert cache.get("t/b", 2, build).revision == 2
    assert cache.rebuilt == 3
    cache.get("t/a", 9, build)
    assert cache.rebuilt == 4
    cache.drop("t/a")
    cache.drop("t/b")
    assert cache.nbytes == 0


def test_vectors_grow_by_blocks_and_refuse_another_encoder() -> None:
    vectors = Vectors(4)
    vectors.put(BLOCK + 1, np.array([1.0, 0, 0, 0], dtype=np.float32))
    assert vectors.similarities(np.array([1.0, 0, 0, 0], dtype=np.float32), BLOCK + 3).argmax() == BLOCK + 1
    assert vectors.nbytes % (BLOCK * 16) == 0
    with pytest.raises(ResourceError, match="reindex"):
        vectors.put(0, np.zeros(3, dtype=np.float32))
