"""The hot row: the one small, bounded row a person has, put last for every event."""

from __future__ import annotations

import re
from datetime import datetime

from msgspec import Struct, field

from models.context import CONTEXT_TURNS, Turn
from models.records import Utterance

MAX_SESSIONS = 8
"""Sessions kept hot per person: the least recently spoken-in leaves first. Keeps the row bounded for ever."""


class TaskState(Struct, kw_only=True):
    """A task of a session as the state machine keeps it (T1)."""

    task_id: str
    current_stage: str
    intent_chain: list[str] = field(default_factory=list)
    critical_entities: dict[str, str] = field(default_factory=dict)
    constraints: list[str] = field(default_factory=list)
    confirmed_facts: dict[str, str] = field(default_factory=dict)
    topic: list[str] = field(default_factory=list)
    opened_at: datetime
    last_ts: datetime
    timeout_at: datetime
    last_event_id: str = ""


class SessionState(Struct, kw_only=True):
    """One session: its discourse (filter 1 and 2 read it) and its tasks, newest last."""

    session_id: str
    turn: int = 0
    last_ts: datetime
    turns: list[Turn] = field(default_factory=list)
    tasks: list[TaskState] = field(default_factory=list)
    active_task: str | None = None
    asked: dict[str, int] = field(default_factory=dict)


class PersonState(Struct, kw_only=True):
    """A person's hot row. `revision` counts applied events, so that a cached index knows whether it is of this state;
    `encoder` names the one whose vectors the rows hold."""

    tenant: str
    user_id: str | None
    revision: int = 0
    next_slot: int = 0
    encoder: str = ""
    clock: datetime | None = None
    sessions: dict[str, SessionState] = field(default_factory=dict)


class AppliedEvent(Struct, kw_only=True, frozen=True):
    """What an applied event wrote: its content's digest and the keys of its rows, to be put again on a repeat."""

    digest: bytes
    keys: list[bytes]


_ESCAPED = re.compile(r"[%/~\x00-\x1f]")


def person_key(tenant: str, user_id: str | None, session_id: str) -> str:
    """``tenant/user``, or ``tenant/~session`` for an anonymous session; "%", "/", "~" and controls are percent-encoded.

    >>> person_key("default", "a:b/c", "S1")
    'default/a:b%2Fc'
    >>> person_key("default", None, "S1")
    'default/~S1'
    """
    who = f"~{_escape(session_id)}" if user_id is None else _escape(user_id)
    return f"{_escape(tenant)}/{who}"


def _escape(name: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", name)


def session_of(state: PersonState, utterance: Utterance) -> SessionState:
    """The utterance's session, opened if it is new; the longest silent one leaves when there are too many."""
    session = state.sessions.get(utterance.session_id)
    if session is None:
        session = SessionState(session_id=utterance.session_id, last_ts=utterance.ts)
        state.sessions[utterance.session_id] = session
        if len(state.sessions) > MAX_SESSIONS:
            oldest = min(
                (s for s in state.sessions.values() if s is not session), key=lambda s: (s.last_ts, s.session_id)
            )
            del state.sessions[oldest.session_id]
    return session


def remember_turn(session: SessionState, turn: Turn) -> None:
    """Adds a turn to the session's discourse, which holds the last `CONTEXT_TURNS`."""
    session.turns.append(turn)
    del session.turns[:-CONTEXT_TURNS]
