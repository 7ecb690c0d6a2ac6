"""A person's sessions: a row each, read when it is looked at and put when it changed.

The hot row holds of each session only what says when it is due (`SessionHead`), so an event reads and writes the one session it
belongs to, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct, field

from models.context import CONTEXT_TURNS, Turn
from tables.store import SESSION, PersonRows


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


class SessionHead(Struct, kw_only=True, frozen=True):
    """Of a session in the hot row: its latest turn's time, and when the first of its tasks times out."""

    last_ts: datetime
    timeout_at: datetime | None = None


_decoder = msgspec.json.Decoder(SessionState)
_encoder = msgspec.json.Encoder()
Load = Callable[[str], bytes | None]
"""The stored row of a session."""


class Sessions(MutableMapping[str, SessionState]):
    """Sessions by id. One that is stored is decoded when it is first asked for; what is asked for may be changed in place."""

    def __init__(self, heads: dict[str, SessionHead] | None = None, load: Load = lambda _: None) -> None:
        self._heads = heads or {}
        self._load = load
        self._stored: dict[str, bytes] = {}
        self._gone: set[str] = set()
        self._in_hand: dict[str, SessionState] = {}

    def __getitem__(self, session_id: str) -> SessionState:
        session = self._in_hand.get(session_id)
        if session is None:
            head = self._heads[session_id]
            raw = self._load(session_id)
            session = SessionState(session_id=session_id, last_ts=head.last_ts) if raw is None else _decoder.decode(raw)
            self._stored[session_id] = raw or b""
            self._in_hand[session_id] = session
        return session

    def __setitem__(self, session_id: str, session: SessionState) -> None:
        self._in_hand[session_id] = session
        self._heads[session_id] = head_of(session)
        self._gone.discard(session_id)

    def __delitem__(self, session_id: str) -> None:
        del self._heads[session_id]
        self._in_hand.pop(session_id, None)
        self._stored.pop(session_id, None)
        self._gone.add(session_id)

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._heads

    def __iter__(self) -> Iterator[str]:
        return iter(self._heads)

    def __len__(self) -> int:
        return len(self._heads)

    def heads(self) -> dict[str, SessionHead]:
        """What the hot row holds of them, as they stand now."""
        for session_id, session in self._in_hand.items():
            self._heads[session_id] = head_of(session)
        return self._heads

    def due(self, now: datetime, silence: timedelta) -> list[str]:
        """The ids, sorted, of those that have something to end by `now`: a task's time is up, or nobody spoke for `silence`."""
        return sorted(
            session_id
            for session_id, head in self.heads().items()
            if (head.timeout_at is not None and head.timeout_at <= now) or now - head.last_ts >= silence
        )

    def save(self, rows: PersonRows) -> None:
        """Puts the rows of those that changed, and deletes those of the ones that are gone."""
        for session_id in sorted(self._gone):
            rows.delete(SESSION, session_id)
        for session_id, session in self._in_hand.items():
            raw = _encoder.encode(session)
            if raw != self._stored.get(session_id):
                rows.put(SESSION, session_id, value=raw)


def head_of(session: SessionState) -> SessionHead:
    """The head of a session."""
    timeout_at = min((task.timeout_at for task in session.tasks), default=None)
    return SessionHead(last_ts=session.last_ts, timeout_at=timeout_at)


def remember_turn(session: SessionState, turn: Turn) -> None:
    """Adds a turn to the session's discourse, which holds the last `CONTEXT_TURNS`."""
    session.turns.append(turn)
    del session.turns[:-CONTEXT_TURNS]
