"""Hand-made records for the tests of the state rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from models.context import Turn
from models.records import (
    Affect,
    Emotion,
    Entity,
    Intent,
    Load,
    Speaker,
    TimeExpression,
    ToolResult,
    Unit,
    UnitSource,
    Validity,
)
from models.tasks.intents import ParsedIntent, parse_intent
from tables.person import PersonState
from tables.sessions import SessionState, remember_turn
from tables.store import PersonRows, Transaction
from tables.tasks import TaskStep, step
from tables.units import unit_id
from tables.writing import Written, write_unit

START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
_ID = re.compile(r"[A-Z]{2,4}-\d+")
_TYPES = {"OD": "order", "RF": "refund", "SR": "ticket"}


def at(minutes: float = 0, days: float = 0) -> datetime:
    """An event time after `START`."""
    return START + timedelta(minutes=minutes, days=days)


def entities_in(text: str) -> list[Entity]:
    """Ids like OD-1 as strong entities."""
    return [
        Entity(
            id=m.group(),
            type=_TYPES.get(m.group()[:2], "id"),
            text=m.group(),
            start=m.start(),
            end=m.end(),
            strength="strong",
        )
        for m in _ID.finditer(text)
    ]


def affect(text: str, *, ts: datetime = START, role: str = "customer", event: str = "e1", **fields: Any) -> Affect:
    """An affect/1 record with neutral readings."""
    fields.setdefault("user_id", "u1")
    fields.setdefault("session_id", "S1")
    fields.setdefault("resolved_text", text)
    fields.setdefault("entities", entities_in(text))
    fields.setdefault("intent", Intent(label="neutral", probs={}))
    return Affect(
        event_id=event, tenant="t", speaker=fields.pop("speaker", Speaker(id=role, role=role)), text=text, ts=ts,  # type: ignore[arg-type]
        load=Load(stress=0.2, certainty=0.5, urgency=0.2, cooperation=0.5), emotion=Emotion(label="calm", probs={}), **fields,
    )  # fmt: skip


def unit(text: str, *, event: str = "e1", ts: datetime = START, role: str = "customer", **fields: Any) -> Unit:
    """A unit that spans its whole text."""
    fields.setdefault("type", "fact")
    fields.setdefault("speaker", Speaker(id=role, role=role))  # type: ignore[arg-type]
    fields.setdefault("entities", entities_in(text))
    fields.setdefault("validity", Validity())
    return Unit(
        tenant="t", user_id=fields.pop("user_id", "u1"), unit_id=unit_id("t", event, 0, len(text)), content=text,
        resolved_content=fields.pop("resolved", text), summary=text, source_event_ids=[event], start=0, end=len(text), ts=ts,
        entropy=0.4, intent=Intent(label="neutral", probs={}), load=Load(stress=0.1, certainty=0.5, urgency=0.1, cooperation=0.5),
        emotion=Emotion(label="calm", probs={}), pipeline_version="test",
        source=UnitSource(topic="utterances.raw", partition=0, offset=0, session_id="S1", turn=0, channel="app", modality="text"),
        **fields,
    )  # fmt: skip


def span(original: str, start: str | None, end: str | None = None, grain: str | None = "month") -> TimeExpression:
    """A time expression."""
    return TimeExpression(original_form=original, start=0, end=0, normalized_time=start, end_time=end, grain=grain)


class Memory:
    """One person's state and rows over a dict, and the units that were published."""

    def __init__(self, user: str | None = "u1") -> None:
        self.store: dict[bytes, bytes] = {}
        self.state = PersonState(tenant="t", user_id=user)
        self.published: dict[str, Unit] = {}

    def rows(self) -> PersonRows:
        """Rows that read and write the dict at once."""
        transaction = Transaction(self.store)
        self._last = transaction
        return PersonRows(transaction, "t/u1")

    def commit(self) -> None:
        """Applies the writes of the last rows."""
        for key, value in self._last.writes():
            if value is None:
                self.store.pop(key, None)
            else:
                self.store[key] = value

    def say(self, text: str, **fields: Any) -> Written:
        """Writes a unit, every former current one being a candidate for what it may correct."""
        rows = self.rows()
        similar = [(slot, 0.9) for slot in range(self.state.next_slot)][-6:]
        written = write_unit(self.state, rows, unit(text, **fields), None, similar=similar)
        self.commit()
        self.published.update({u.unit_id: u for u in written.units})
        return written

    def status(self, event: str) -> list[str]:
        """The statuses of the units from an event."""
        return [u.status for u in self.published.values() if event in u.source_event_ids]


class Talk:
    """A session that is talked through the task machine."""

    def __init__(self) -> None:
        self.session = SessionState(session_id="S1", last_ts=START)
        self.count = 0
        self.transitions: list[str] = []

    def turn(
        self, text: str, minutes: float, role: str = "customer", tool: ToolResult | None = None, **fields: Any
    ) -> TaskStep:
        """One turn; later ones see it in the discourse."""
        self.count += 1
        record = affect(text, ts=at(minutes), role=role, event=f"e{self.count}", tool=tool, **fields)
        done = step(self.session, record, parsed(record))
        remember_turn(
            self.session,
            Turn(
                event_id=record.event_id or "",
                role=record.speaker.role,
                text=text,
                ts=record.ts,
                entities=record.entities,
            ),
        )
        self.session.last_ts = record.ts
        self.transitions += [t.transition for t in done.transitions]
        return done


def parsed(record: Affect) -> ParsedIntent:
    """The parsed intent of a record."""
    return parse_intent(record.text, lang=record.lang, entities=record.entities, mentions=record.mentions)
