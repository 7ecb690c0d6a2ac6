"""Unit rows: ids, slots, collisions, repeats, expiry, the profile list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import RecordError, StateError
from models.records import Entity
from tables import profile, units
from tables.store import ENTITY, EXPIRY
from tables.writing import write_unit
from tests.tables.state_records import Memory, at, unit


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.integers(0, 999), st.integers(0, 999))
def test_unit_ids_are_stable_and_differ_by_any_part(tenant: str, event: str, start: int, end: int) -> None:
    one = units.unit_id(tenant, event, start, end)
    assert one == units.unit_id(tenant, event, start, end)
    assert one != units.unit_id(tenant, event, start, end + 1)
    assert one != units.unit_id(tenant + "x", event, start, end)


def test_a_unit_is_found_by_slot_id_and_entity() -> None:
    memory = Memory()
    written = memory.say("Order OD-5 arrived broken.", event="e1")
    rows = memory.rows()
    assert written.slot == 0
    assert units.find(rows, written.units[0].unit_id) == (0, written.units[0])
    assert rows.numbers(ENTITY, "OD-5") == [0]


def test_vectors_are_float16() -> None:
    memory = Memory()
    rows = memory.rows()
    write_unit(memory.state, rows, unit("I bake bread."), np.array([0.1, 0.2], dtype=np.float32))
    vector = units.vector_of(rows, 0)
    assert vector is not None and vector.dtype == np.float16
    assert np.allclose(vector, [0.1, 0.2], atol=1e-3)


def test_the_same_unit_again_keeps_its_slot() -> None:
    memory = Memory()
    memory.say("I bake bread on Sundays.", event="e1")
    before = dict(memory.store)
    again = memory.say("I bake bread on Sundays.", event="e1")
    assert memory.state.next_slot == 1
    assert again.slot == 0
    assert memory.store == before


def test_an_id_met_with_other_content_is_an_error() -> None:
    memory = Memory()
    memory.say("I bake bread.", event="e1")
    other = unit("I sell bread", event="e1")
    other.unit_id = units.unit_id("t", "e1", 0, len("I bake bread."))
    with pytest.raises(StateError):
        write_unit(memory.state, memory.rows(), other, None)


def test_a_superseded_unit_leaves_the_index_but_not_the_table() -> None:
    memory = Memory()
    rows = memory.rows()
    old = unit("I love opera.", event="e1")
    old.entities = [Entity(id="opera", type="thing", text="opera", start=7, end=12)]
    write_unit(memory.state, rows, old, np.ones(2, dtype=np.float32))
    write_unit(memory.state, rows, unit("I hate opera.", event="e2", ts=at(1)), np.ones(2, dtype=np.float32))
    assert units.vector_of(rows, 0) is None
    assert rows.numbers(ENTITY, "opera") == []
    kept = units.load(rows, 0)
    assert kept is not None and kept.status == "superseded"


def test_expiry_by_event_time_visits_only_passed_days() -> None:
    memory = Memory()
    memory.say("Refund RF-1 is under review.", event="e1", expires_at=at(days=14))
    memory.say("Refund RF-2 is under review.", event="e2", expires_at=at(days=300))
    memory.state.clock = at()
    rows = memory.rows()
    assert units.expire(memory.state, rows, at(days=13)) == []
    memory.state.clock = at(days=13)
    gone = units.expire(memory.state, rows, at(days=20))
    assert [(u.source_event_ids, u.status) for u in gone] == [(["e1"], "expired")]
    memory.state.clock = at(days=20)
    assert [u.source_event_ids for u in units.expire(memory.state, rows, at(days=320))] == [["e2"]]
    assert rows.numbers(EXPIRY, at(days=14).date().isoformat()) == []


def test_applied_events_are_known_and_reused_ids_refused() -> None:
    memory = Memory()
    rows = memory.rows()
    assert units.applied(rows, "e1", b"a") is None
    units.mark_applied(rows, "e1", b"a")
    seen = units.applied(rows, "e1", b"a")
    assert seen is not None and seen.digest == b"a"
    with pytest.raises(RecordError, match="event_id_reused"):
        units.applied(rows, "e1", b"b")


def test_the_profile_is_bounded_current_and_within_clearance() -> None:
    memory = Memory()
    for number in range(80):
        memory.say(
            f"I like hobby number{number} a lot.", event=f"e{number}", ts=at(number), layer="profile", type="preference"
        )
    memory.say("I hate hobby number79.", event="x", ts=at(90), layer="profile", type="preference", clearance=3)
    rows = memory.rows()
    low, high = profile.lines(rows, 0), profile.lines(rows, 3)
    assert len(low) == profile.MAX_LINES
    assert "I hate hobby number79." in high and "I hate hobby number79." not in low
    assert not any("like hobby number79" in line for line in high)


def test_a_rule_never_enters_the_profile() -> None:
    memory = Memory()
    memory.say("Returns are free for 7 days.", event="e1", layer="profile", type="rule")
    assert profile.lines(memory.rows(), 0) == []
