"""Commands: forgetting for good, correcting, invalidating, organisation changes, logout."""

from __future__ import annotations

from typing import Any

import pytest

from models.context import Turn
from models.records import Command, Scope
from tables import profile, units
from tables.erasure import Effects, run_command, was_erased
from tables.person import session_of
from tables.sessions import remember_turn
from tables.tasks import step
from tables.writing import write_unit
from tests.tables.state_records import Memory, affect, at, parsed, unit

SECRET = "canary-8M3Z"


def filled() -> Memory:
    memory = Memory()
    memory.say(f"My locker code word is {SECRET}, keep it in mind.", event="e1", layer="profile")
    memory.say("My office is on the ninth floor.", event="e2", ts=at(5), layer="profile", topic="office")
    memory.say("Ann is the CTO at Acme.", event="e3", ts=at(days=2))
    memory.say("I love polka.", event="e4", ts=at(days=3), layer="profile")
    session = session_of(memory.state, affect("x"))
    for event, text in (
        ("e1", f"My locker code word is {SECRET}, only locker {SECRET}"),
        ("e2", "My office is on the ninth floor."),
    ):
        record = affect(text, event=event)
        step(session, record, parsed(record))
        remember_turn(session, Turn(event_id=event, text=text, ts=at()))
    return memory


def run(memory: Memory, kind: str = "forget", days: float = 5, **fields: Any) -> Effects:
    rows = memory.rows()
    command = Command(command_id="c1", kind=kind, tenant="t", user_id="u1", ts=at(days=days), **fields)  # type: ignore[arg-type]
    effects = run_command(memory.state, rows, command)
    memory.commit()
    return effects


def holds(memory: Memory, text: str) -> bool:
    import msgspec

    return any(text.encode() in value for value in memory.store.values()) or text.encode() in msgspec.json.encode(
        dict(memory.state.sessions)
    )


@pytest.mark.parametrize("scope", [{"text": SECRET}, {"text": "locker code word"}, {"topic": "locker"}])
def test_forget_leaves_no_trace_of_the_text(scope: dict[str, str]) -> None:
    memory = filled()
    effects = run(memory, scope=Scope(**scope))
    assert [(u.status, u.content, u.summary, u.source_event_ids) for u in effects.erased] == [
        ("erased", "", "", ["e1"])
    ]
    assert not holds(memory, SECRET)
    assert holds(memory, "ninth floor")
    assert SECRET not in str(effects)
    assert profile.lines(memory.rows(), 9) == ["I love polka.", "My office is on the ninth floor."]


def test_forgetting_again_changes_nothing() -> None:
    memory = filled()
    run(memory, scope=Scope(text=SECRET))
    before = dict(memory.store)
    effects = run(memory, scope=Scope(text=SECRET))
    assert effects.erased == []
    assert memory.store == before
    assert [line.reason for line in effects.audits] == ["forget:text:nothing_left"]


def test_a_replay_does_not_bring_it_back() -> None:
    memory = filled()
    run(memory, scope=Scope(text=SECRET))
    rows = memory.rows()
    text = f"My locker code word is {SECRET}, keep it in mind."
    written = write_unit(memory.state, rows, unit(text, event="e1", layer="profile"), None)
    assert (written.units, written.slot) == ([], None)
    assert was_erased(rows, "e1", at())
    assert not was_erased(rows, "e2", at())


def test_forget_all_clears_the_person() -> None:
    memory = filled()
    effects = run(memory, scope=Scope(all=True))
    assert len(effects.erased) == 4
    for text in (SECRET, "ninth", "Ann", "polka"):
        assert not holds(memory, text)
    assert memory.state.sessions == {}
    rows = memory.rows()
    assert was_erased(rows, "never-seen", at(days=1))
    assert not was_erased(rows, "later", at(days=6))


def test_forget_a_stretch_of_time() -> None:
    memory = filled()
    effects = run(memory, scope=Scope(from_=at(days=1), to=at(days=2.5)))
    assert [u.source_event_ids for u in effects.erased] == [["e3"]]
    assert was_erased(memory.rows(), "other", at(days=2))
    assert holds(memory, SECRET)


def test_forget_one_unit_by_id() -> None:
    memory = filled()
    target = next(u for u in memory.published.values() if u.source_event_ids == ["e4"])
    effects = run(memory, scope=Scope(unit_id=target.unit_id))
    assert [u.unit_id for u in effects.erased] == [target.unit_id]
    assert not holds(memory, "polka")
    assert units.is_erased(memory.rows(), target.unit_id)


def test_an_empty_scope_forgets_nothing() -> None:
    memory = filled()
    assert run(memory, scope=Scope()).erased == []
    assert holds(memory, SECRET)


def test_ids_are_forgotten_whole() -> None:
    memory = Memory()
    memory.say("Order OD-12 came late.", event="e1")
    memory.say("Order OD-1 came early.", event="e2")
    effects = run(memory, scope=Scope(text="OD-1"))
    assert [u.source_event_ids for u in effects.erased] == [["e2"]]


def test_forget_reaches_superseded_units_too() -> None:
    memory = Memory()
    memory.say("I love polka.", event="e1")
    memory.say("I hate polka.", event="e2", ts=at(1))
    assert len(run(memory, scope=Scope(topic="polka")).erased) == 2
    assert not holds(memory, "polka")


def test_correct_by_command_makes_a_correction() -> None:
    memory = filled()
    effects = run(memory, "correct", scope=Scope(text="ninth floor"), text="My office is on the tenth floor.")
    assert [(u.status, u.source_event_ids) for u in effects.changed] == [("corrected", ["e2"])]
    assert effects.new_unit is not None
    assert (effects.new_unit.type, effects.new_unit.layer) == ("correction", "profile")
    assert effects.changed[0].superseded_by == effects.new_unit.unit_id
    rows = memory.rows()
    assert write_unit(memory.state, rows, effects.new_unit, None).slot == 4


def test_invalidate_takes_out_of_the_index() -> None:
    memory = filled()
    effects = run(memory, "invalidate", scope=Scope(text="polka"))
    assert [(u.status, line.action) for u, line in zip(effects.changed, effects.audits, strict=True)] == [
        ("superseded", "invalidated")
    ]
    assert "I love polka." not in profile.lines(memory.rows(), 9)


def test_organisation_change_touches_roles_only() -> None:
    memory = filled()
    memory.say("Ann likes tea.", event="e9", ts=at(days=4))
    effects = run(memory, "organisation_change", scope=Scope(text="Ann"), text="Ann is the CEO at Acme.")
    assert [u.source_event_ids for u in effects.changed] == [["e3"]]
    assert effects.new_unit is not None and effects.new_unit.slot is not None


def test_logout_of_an_anonymous_session_ends_its_memory() -> None:
    memory = Memory(user=None)
    memory.say("I want a room by the sea.", event="e1", user_id=None)
    session_of(memory.state, affect("x", user_id=None))
    effects = run(memory, "logout", session_id="S1")
    assert [u.status for u in effects.changed] == ["expired"]
    assert memory.state.sessions == {}


def test_erasing_finds_the_slot_rows_even_if_readings_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    memory.say("I love theremins.", event="e1")
    monkeypatch.setattr("tables.writing.read_slots", lambda *_args, **_fields: [])
    run(memory, scope=Scope(text="theremins"))
    assert not holds(memory, "theremin")
    assert not any(b"theremin" in key for key in memory.store)


def test_what_is_said_for_ever_keeps_a_bounded_list_of_sources() -> None:
    memory = Memory()
    for number in range(50):
        memory.say("I love theremins.", event=f"e{number}", ts=at(number))
    only = next(iter(memory.published.values()))
    assert (only.source_event_ids[0], only.source_event_ids[-1]) == ("e0", "e49")
    assert len(only.source_event_ids) == 32


def test_an_expired_statement_neither_wins_nor_absorbs() -> None:
    memory = Memory()
    memory.say("I live in Oslo.", event="e1", ts=at(days=2), expires_at=at(days=10))
    memory.state.clock = at(days=2)
    rows = memory.rows()
    units.expire(memory.state, rows, at(days=20))
    memory.commit()
    memory.say("I live in Rome.", event="e2", ts=at(days=1))
    memory.say("I live in Oslo.", event="e3", ts=at(days=30))
    assert memory.status("e2") == ["superseded"]
    assert memory.status("e3") == ["current"]
