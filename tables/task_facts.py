"""Confirmed facts of a task (T5, W10): tool results' key values, answers to the agent's questions, the agent's promises."""

from __future__ import annotations

from typing import Any

from models.records import Affect
from models.tasks.constraints import MAX_VALUE, asked_for, bare_answer, field_names, given_facts
from tables.sessions import SessionState, TaskState

MAX_FACTS = 24
MAX_ASKED = 24
PROMISE = 0.7
"""Commitment strength from which an agent's word is noted as a promise of the task."""


def learn_facts(session: SessionState, task: TaskState, turn: Affect) -> None:
    """Adds what a turn confirms to the task. The session's discourse holds the turns before this one."""
    if turn.speaker.role == "tool":
        if turn.tool is not None and turn.tool.ok:
            for name, value in _flat(turn.tool.fields):
                _put(task, name, value)
        return
    if turn.speaker.role != "customer":
        return
    pending = pending_questions(session)
    stated = given_facts(turn.text)
    for thing, value in stated:
        if thing in pending or any(thing in asked or asked in thing for asked in pending):
            _put(task, next((p for p in pending if p == thing or thing in p or p in thing), thing), value)
        elif is_field(thing):
            _put(task, thing, value)
    if pending and not stated:
        answer = bare_answer(turn.text)
        if answer is not None and turn.intent.label not in ("clarify", "challenge", "refuse"):
            _put(task, pending[-1], answer)


def note_agent_turn(task: TaskState, turn: Affect) -> None:
    """Keeps an agent's promise with the task, so that "you said you would" finds its terms."""
    if turn.intent.label == "commit" and turn.commitment_strength >= PROMISE and turn.confidence >= 0.5:
        _put(task, "promise", turn.text.strip()[: 2 * MAX_VALUE])


def pending_questions(session: SessionState) -> list[str]:
    """What the latest agent turn asked for and nobody answered since (the customer's turn comes right after it)."""
    for turn in reversed(session.turns):
        if turn.role == "agent":
            return asked_for(turn.text)
        if turn.role == "customer":
            return []
    return []


def question_repeated(session: SessionState, turn: Affect, facts: dict[str, str]) -> str | None:
    """Counts what an agent asks for, and returns what was asked although its answer is known."""
    repeated = None
    for thing in asked_for(turn.text):
        session.asked[thing] = session.asked.get(thing, 0) + 1
        if repeated is None and any(thing == known or thing in known or known in thing for known in facts):
            repeated = thing
    while len(session.asked) > MAX_ASKED:
        del session.asked[next(iter(session.asked))]
    return repeated


def is_field(thing: str) -> bool:
    """Whether a thing is one that a form would ask for (address, order number, 尺码): worth a confirmed fact unasked."""
    fields = field_names()
    words = thing.split()
    return thing.endswith(fields) if not thing.isascii() else bool(words) and words[-1] in fields


def _flat(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Scalar values of a tool's fields; one level of nesting, named outer.inner."""
    pairs: list[tuple[str, str]] = []
    for name, value in fields.items():
        items = value.items() if isinstance(value, dict) else [("", value)]
        for inner, item in items:
            if item is None or isinstance(item, dict | list):
                continue
            text = str(item).lower() if isinstance(item, bool) else str(item)
            pairs.append((f"{name}.{inner}" if inner else name, text[:MAX_VALUE]))
    return pairs[:MAX_FACTS]


def _put(task: TaskState, name: str, value: str) -> None:
    task.confirmed_facts.pop(name, None)
    task.confirmed_facts[name] = value
    while len(task.confirmed_facts) > MAX_FACTS:
        del task.confirmed_facts[next(iter(task.confirmed_facts))]
