"""Another encoder's vectors are refused; `reindex` makes them anew from the rows' text, whole persons at a time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from models.errors import ResourceError
from tables import units, vector_space
from tables.person import HotRow, PersonState, save_person
from tables.person_index import load_index
from tables.reindex import persons_of, rebuilt
from tables.store import HOT, UNIT, VECTOR, PersonRows, Transaction, row_key
from tables.vectors import unpack_vector
from tests.tables.people import unit

PERSON = "t/back\\slash"
AT = unit("x").ts


def embed(texts: Sequence[str]) -> list[np.ndarray]:
    return [np.array([1.0, len(text)], np.float32) / np.hypot(1.0, len(text)) for text in texts]


def written() -> dict[bytes, bytes]:
    """Rows of a person with three units, one of them superseded, under an encoder of three dimensions."""
    store: dict[bytes, bytes] = {}
    transaction = Transaction(store)
    rows = PersonRows(transaction, PERSON)
    state = PersonState(tenant="t", user_id="u1", encoder="old")
    for number, text in enumerate(("I live in Rome", "我想退货", "I bake")):
        units.store(state, rows, unit(text, event=f"e{number}"), np.array([1.0, 0, 0], np.float32))
    gone = units.load(rows, 0)
    assert gone is not None
    units.retire(rows, 0, gone, "superseded", AT)
    save_person(rows, state)
    for key, value in transaction.writes():
        if value is not None:
            store[key] = value
    return store


def test_another_encoder_is_refused_by_name_and_with_the_command() -> None:
    state = PersonState(tenant="t", user_id="u")
    vector_space.claim(state, "e5-1")
    vector_space.claim(state, "e5-1")
    with pytest.raises(ResourceError, match=r"built by encoder e5-1, .* runs mini-2: .*`cuestream reindex`"):
        vector_space.claim(state, "mini-2")


def test_rows_of_before_it_was_noted_are_taken_by_their_size() -> None:
    store = written()
    state = msgspec.json.decode(store[row_key(HOT, PERSON)], type=HotRow)
    state.encoder = ""
    vector_space.claim(state, "mini-2")
    with pytest.raises(ResourceError, match=r"3 numbers, the encoder gives 2.*`cuestream reindex`"):
        load_index(PersonRows(Transaction(store), PERSON), state, 2)


def test_vectors_are_made_anew_and_the_hot_row_comes_last() -> None:
    store = written()
    assert persons_of(store) == [PERSON]
    puts = list(rebuilt(store, PERSON, "new", embed))
    assert [key for key, _ in puts] == [row_key(VECTOR, PERSON, 1), row_key(VECTOR, PERSON, 2), row_key(HOT, PERSON)]
    store.update({key: value for key, value in puts if value is not None})
    state = msgspec.json.decode(store[row_key(HOT, PERSON)], type=HotRow)
    assert state.encoder == "new" and state.next_slot == 3
    vector_space.claim(state, "new")
    index = load_index(PersonRows(Transaction(store), PERSON), state, 2)
    assert np.allclose(index.vectors.at(np.array([1])), unpack_vector(store[row_key(VECTOR, PERSON, 1)]))
    assert list(rebuilt(store, PERSON, "new", embed)) == [], "who is done is left alone"


def test_a_vector_of_a_unit_that_is_gone_goes() -> None:
    store = written()
    del store[row_key(UNIT, PERSON, 2)]
    assert (row_key(VECTOR, PERSON, 2), None) in list(rebuilt(store, PERSON, "new", embed))
