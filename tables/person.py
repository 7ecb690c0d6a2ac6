"""The hot row: the one small, bounded row a person has, put last for every event; and the person's state around it."""

from __future__ import annotations

import re
from datetime import datetime

import msgspec
from msgspec import Struct, field

from models.records import Utterance
from tables.sessions import SessionHead, Sessions, SessionState
from tables.store import HOT, SESSION, PersonRows

MAX_SESSIONS = 8
"""Sessions kept hot per person: the least recently spoken-in leaves first. Keeps the row bounded for ever."""


class HotRow(Struct, kw_only=True):
    """The row itself. `revision` counts applied events, so that a cached index knows whether it is of this state; `encoder` names the
    one whose vectors the rows hold. `sessions` is filled in rows of before sessions had rows of their own; such a row is read as it
    is, and written anew with the person's next event."""

    tenant: str
    user_id: str | None
    revision: int = 0
    next_slot: int = 0
    encoder: str = ""
    clock: datetime | None = None
    heads: dict[str, SessionHead] = field(default_factory=dict)
    sessions: dict[str, SessionState] = field(default_factory=dict)


class PersonState(Struct, kw_only=True):
    """A person's hot row while an event is worked on, with the sessions behind it."""

    tenant: str
    user_id: str | None
    revision: int = 0
    next_slot: int = 0
    encoder: str = ""
    clock: datetime | None = None
    sessions: Sessions = field(default_factory=Sessions)


class AppliedEvent(Struct, kw_only=True, frozen=True):
    """What an applied event wrote: its content's digest and the keys of its rows, to be put again on a repeat."""

    digest: bytes
    keys: list[bytes]
    revision: int = 0


_decoder = msgspec.json.Decoder(HotRow)


def load_person(rows: PersonRows, tenant: str, user_id: str | None) -> PersonState:
    """The person of these rows; a new one where there is no hot row."""
    raw = rows.get(HOT)
    if raw is None:
        return PersonState(tenant=tenant, user_id=user_id)
    row = _decoder.decode(raw)
    sessions = Sessions(row.heads, lambda session_id: rows.get(SESSION, session_id))
    sessions.update(row.sessions)
    return PersonState(
        tenant=row.tenant, user_id=row.user_id, revision=row.revision, next_slot=row.next_slot, encoder=row.encoder,
        clock=row.clock, sessions=sessions,
    )  # fmt: skip


def save_person(rows: PersonRows, state: PersonState) -> None:
    """Puts the hot row, the commit point of an event. The sessions must be put before it (`Sessions.save`)."""
    row = HotRow(
        tenant=state.tenant, user_id=state.user_id, revision=state.revision, next_slot=state.next_slot,
        encoder=state.encoder, clock=state.clock, heads=state.sessions.heads(),
    )  # fmt: skip
    rows.save(HOT, value=row)


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
            silent = [
                (head.last_ts, name) for name, head in state.sessions.heads().items() if name != utterance.session_id
            ]
            del state.sessions[min(silent)[1]]
    return session
