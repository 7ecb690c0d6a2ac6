"""Sessions have rows of their own: an event reads and writes one of them, and rows of before that are still read."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from models.context import Turn
from models.records import Command, Scope, Utterance
from tables.erasure import run_command
from tables.person import MAX_SESSIONS, HotRow, PersonState, load_person, save_person, session_of
from tables.sessions import SessionState, TaskState, remember_turn
from tables.store import HOT, SESSION, PersonRows, Transaction, row_key
from tables.tasks import PURGE, TIMEOUT, expire
from tests.tables.state_records import START

PERSON = "t/u1"


class Reads:
    """A dict of rows that notes which keys are read."""

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.read: list[bytes] = []

    def get(self, key: bytes, /) -> bytes | None:
        self.read.append(key)
        return self.rows.get(key)


def event(store: Reads, session_id: str, minutes: float, *, task: bool = False) -> list[bytes]:
    """Says something in a session; the keys that this put or deleted."""
    transaction = Transaction(store)
    rows = PersonRows(transaction, PERSON)
    state = load_person(rows, "t", "u1")
    ts = START + timedelta(minutes=minutes)
    expire(state, ts)
    session = session_of(state, Utterance(session_id=session_id, text="x", ts=ts))
    remember_turn(session, Turn(event_id=f"{session_id}/{minutes}", text=f"said in {session_id}", ts=ts))
    session.last_ts = ts
    if task:
        session.tasks.append(
            TaskState(task_id="T", current_stage="OPEN", opened_at=ts, last_ts=ts, timeout_at=ts + TIMEOUT)
        )
    commit(store, transaction, rows, state)
    return list(rows.touched)


def commit(store: Reads, transaction: Transaction, rows: PersonRows, state: PersonState) -> None:
    state.sessions.save(rows)
    save_person(rows, state)
    for key, value in transaction.writes():
        if value is None:
            store.rows.pop(key, None)
        else:
            store.rows[key] = value


def key_of(session_id: str) -> bytes:
    return row_key(SESSION, PERSON, session_id)


def test_an_event_reads_and_writes_its_own_session_only() -> None:
    store = Reads()
    for number in range(4):
        event(store, f"s{number}", number)
    store.read.clear()
    touched = event(store, "s1", 5)
    assert touched == [key_of("s1"), row_key(HOT, PERSON)], "its session, then the hot row"
    assert [key for key in store.read if key.startswith(SESSION + b"\0")] == [key_of("s1")]
    held = msgspec.json.decode(store.rows[key_of("s1")], type=SessionState)
    assert [turn.event_id for turn in held.turns] == ["s1/1", "s1/5"]


def test_a_session_whose_task_timed_out_is_looked_up_again() -> None:
    store = Reads()
    event(store, "busy", 0, task=True)
    assert key_of("busy") not in event(store, "other", 1)
    assert key_of("busy") in event(store, "other", 16), "its task was archived"
    assert key_of("busy") not in event(store, "other", 40), "and there is nothing left to archive"


def test_sessions_that_leave_take_their_rows_with_them() -> None:
    store = Reads()
    for number in range(MAX_SESSIONS):
        event(store, f"s{number}", number)
    event(store, "one more", 60)
    assert key_of("s0") not in store.rows and key_of("s1") in store.rows
    event(store, "last", 60 + PURGE / timedelta(minutes=1))
    assert [key for key in store.rows if key.startswith(SESSION + b"\0")] == [key_of("last")]


def test_forgetting_leaves_no_session_row() -> None:
    store = Reads()
    for number in range(3):
        event(store, f"s{number}", number)
    transaction = Transaction(store)
    rows = PersonRows(transaction, PERSON)
    state = load_person(rows, "t", "u1")
    said_again = Command(command_id="c0", kind="forget", user_id="u1", ts=START, scope=Scope(text="said in s1"))
    run_command(state, rows, said_again)
    commit(store, transaction, rows, state)
    assert not any(b"said in s1" in value for value in store.rows.values())
    assert any(b"said in s2" in value for value in store.rows.values())
    transaction = Transaction(store)
    rows = PersonRows(transaction, PERSON)
    state = load_person(rows, "t", "u1")
    run_command(state, rows, Command(command_id="c1", kind="forget", user_id="u1", ts=START, scope=Scope(all=True)))
    commit(store, transaction, rows, state)
    assert not any(key.startswith(SESSION + b"\0") for key in store.rows)
    assert not any(b"said in" in value for value in store.rows.values())


def test_a_hot_row_of_before_is_read_and_written_anew() -> None:
    store = Reads()
    sessions = {
        name: SessionState(session_id=name, last_ts=START, turn=3, turns=[Turn(text=f"said in {name}", ts=START)])
        for name in ("old", "older")
    }
    before = HotRow(tenant="t", user_id="u1", revision=9, next_slot=4, encoder="e", sessions=sessions)
    store.rows[row_key(HOT, PERSON)] = msgspec.json.encode(before)
    event(store, "old", 1)
    row = msgspec.json.decode(store.rows[row_key(HOT, PERSON)], type=HotRow)
    assert (row.revision, row.next_slot, row.sessions, set(row.heads)) == (9, 4, {}, {"old", "older"})
    held = msgspec.json.decode(store.rows[key_of("old")], type=SessionState)
    assert [turn.text for turn in held.turns] == ["said in old", "said in old"] and held.turn == 3
    assert b"said in older" in store.rows[key_of("older")]
