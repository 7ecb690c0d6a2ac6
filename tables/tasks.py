"""The task state machine (T1-T5): which task a turn continues, and what the task knows by then. All by event time.

A task lives as long as no 15 minutes pass without a turn in its session; then it is archived to ``tasks.events`` and gone. Within
that, a turn deepens the running task, returns to an earlier one, opens a new one, or belongs to none (chat, a distraction).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct, field

from models.records import Affect, Entity, Task, TaskView
from models.tasks.constraints import add_constraints, find_constraints, kinds_of, without_kinds
from models.tasks.intents import CHAT, INFORM, ParsedIntent
from tables.person import PersonState
from tables.sessions import SessionState, TaskState
from tables.task_facts import learn_facts, note_agent_turn, question_repeated
from tables.task_match import Choice, choose, new_marks, turn_topic

TIMEOUT = timedelta(minutes=15)
PURGE = timedelta(days=7)
MAX_TASKS = 6
"""Live tasks kept per session; the least recently touched is archived first."""
MAX_CHAIN, MAX_ENTITIES, MAX_TOPIC = 16, 12, 40
Continues = Literal["deepen", "return", "new", "none"]
_LOOSE = frozenset({"amount", "time", "date", "number"})
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cuestream/task/1")


class TaskStep(Struct, kw_only=True):
    """What a turn did: the view for its bundle, the records for ``tasks.events``, and what rides in the bundle beside it.

    `constraints` and `confirmed_facts` are of the whole session, the running task's first. `topic` names the matter the turn is
    about. `repeated_question` is what an agent asked although it was answered already.
    """

    view: TaskView
    transitions: list[Task] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    confirmed_facts: dict[str, str] = field(default_factory=dict)
    topic: str | None = None
    repeated_question: str | None = None


def step(session: SessionState, turn: Affect, parsed: ParsedIntent, *, version: str = "") -> TaskStep:
    """Judges one turn and updates the session's tasks in place. The session's discourse must not hold this turn yet.

    `parsed` is ``models.tasks.intents.parse_intent`` of the turn's own text. Customers, agents and tools move tasks; third parties and
    the system do not.
    """
    transitions = _time_out(session, turn.tenant, turn.user_id, turn.ts, version)
    role = turn.speaker.role
    repeated = None
    continues: Continues = "none"
    task: TaskState | None = None
    if role == "customer":
        continues, task = _customer_turn(session, turn, parsed, transitions, version)
    elif role in ("agent", "tool"):
        task = _service_turn(session, turn)
        repeated = question_repeated(session, turn, _facts(session)) if role == "agent" else None
        if task is not None and role == "agent":
            note_agent_turn(task, turn)
    return TaskStep(
        view=_view(task, continues),
        transitions=transitions,
        constraints=_constraints(session, task),
        confirmed_facts=_facts(session, task),
        topic=_topic_name(task),
        repeated_question=repeated,
    )


def expire(state: PersonState, now: datetime, version: str = "") -> list[Task]:
    """Archives what timed out in any session of a person by event time `now`, and purges sessions silent for 7 days."""
    gone: list[Task] = []
    for session_id in state.sessions.due(now, PURGE):
        session = state.sessions[session_id]
        gone += _time_out(session, state.tenant, state.user_id, now, version)
        if now - session.last_ts >= PURGE:
            del state.sessions[session_id]
    return gone


def logout(state: PersonState, session_id: str | None, now: datetime, event_id: str, version: str = "") -> list[Task]:
    """Clears one session's states, or all of a person's: tasks and discourse (T4)."""
    ended: list[Task] = []
    for name in sorted(state.sessions):
        if session_id is not None and name != session_id:
            continue
        session = state.sessions.pop(name)
        for task in session.tasks:
            ended.append(_record(task, session, state.tenant, state.user_id, "logout", event_id, now, version))
    return ended


def task_id(tenant: str, user_id: str | None, session_id: str, event_id: str, opened: datetime) -> str:
    """The id of the task that an event opens: the month and eight digits of a UUIDv5; a replay gives the same."""
    name = f"{tenant}\0{user_id if user_id is not None else '~'}\0{session_id}\0{event_id}"
    return f"TSK-{opened:%Y-%m}-{uuid.uuid5(_NAMESPACE, name).hex[:8]}"


def _customer_turn(
    session: SessionState, turn: Affect, parsed: ParsedIntent, transitions: list[Task], version: str
) -> tuple[Continues, TaskState | None]:
    constraints = [] if parsed.action == CHAT else find_constraints(turn.text)
    choice = choose(session, turn, parsed, has_content=bool(constraints))
    task = choice.task
    if choice.continues == "new":
        task = _open(session, turn)
    if task is None:
        session.active_task = session.active_task if parsed.action == CHAT else None
        return "none", None
    session.active_task = task.task_id
    _touch(session, task, turn)
    if parsed.action not in (CHAT, INFORM, "none"):
        if parsed.label and task.intent_chain[-1:] != [parsed.label]:
            task.intent_chain = (task.intent_chain + [parsed.label])[-MAX_CHAIN:]
        task.current_stage = parsed.stage
    _bind(task, parsed, choice)
    task.constraints = add_constraints(task.constraints, constraints)
    learn_facts(session, task, turn)
    if parsed.action != CHAT:
        words = turn_topic(turn, parsed)
        if not task.topic:
            words.sort(key=lambda word: (any(c.isdigit() for c in word), -len(word), word))
        marks = new_marks(task, parsed)
        head = task.topic[:1] or marks or words[:1]  # what the task is called, and stays so
        task.topic = list(dict.fromkeys([*head, *marks, *task.topic, *words]))[:MAX_TOPIC]
        transitions.append(
            _record(task, session, turn.tenant, turn.user_id, choice.continues, turn.event_id or "", turn.ts, version)
        )
    while len(session.tasks) > MAX_TASKS:
        oldest = min((t for t in session.tasks if t is not task), key=lambda t: (t.last_ts, t.task_id))
        session.tasks.remove(oldest)
        transitions.append(
            _record(oldest, session, turn.tenant, turn.user_id, "archive", turn.event_id or "", turn.ts, version)
        )
    return choice.continues, task


def _service_turn(session: SessionState, turn: Affect) -> TaskState | None:
    """An agent's or a tool's turn: keeps the running task alive and adds what it told. It opens none, but for a tool's values."""
    task = _active(session) or (max(session.tasks, key=lambda t: (t.last_ts, t.task_id)) if session.tasks else None)
    if task is None and turn.speaker.role == "tool" and turn.tool is not None and turn.tool.ok and turn.tool.fields:
        task = _open(session, turn)
        task.current_stage = "TOOL_RESULT"
        session.active_task = task.task_id
    if task is None:
        return None
    _touch(session, task, turn)
    for entity in turn.entities:
        if entity.strength == "strong":
            _bind_entity(task, entity, only_if_free=True)
    learn_facts(session, task, turn)
    return task


def _open(session: SessionState, turn: Affect) -> TaskState:
    task = TaskState(
        task_id=task_id(turn.tenant, turn.user_id, session.session_id, turn.event_id or "", turn.ts),
        current_stage="OPEN",
        opened_at=turn.ts,
        last_ts=turn.ts,
        timeout_at=turn.ts + TIMEOUT,
        last_event_id=turn.event_id or "",
    )
    session.tasks.append(task)
    return task


def _touch(session: SessionState, task: TaskState, turn: Affect) -> None:
    """A turn in the session keeps all its live tasks from timing out; it is the running task's latest."""
    for other in session.tasks:
        other.timeout_at = max(other.timeout_at, turn.ts + TIMEOUT)
    task.last_ts = max(task.last_ts, turn.ts)
    task.last_event_id = turn.event_id or ""


def _bind(task: TaskState, parsed: ParsedIntent, choice: Choice) -> None:
    """Strong ids at once; weak names from the second turn on, or where one is bound to something known (T3)."""
    for entity in parsed.entities:
        if entity.strength == "strong":
            _bind_entity(task, entity)
    for entity in choice.recalled:
        _bind_entity(task, entity, only_if_free=True)
    if len(task.intent_chain) > 1 or task.critical_entities:
        for entity in parsed.entities:
            if entity.strength == "weak" and entity.type not in _LOOSE:
                _bind_entity(task, entity, only_if_free=True)


def _bind_entity(task: TaskState, entity: Entity, only_if_free: bool = False) -> None:
    if entity.id in task.critical_entities.values() or len(task.critical_entities) >= MAX_ENTITIES:
        return
    name = entity_key(entity)
    if name in task.critical_entities:
        if only_if_free:
            return
        count = 2
        while f"{name}_{count}" in task.critical_entities:
            count += 1
        name = f"{name}_{count}"
    task.critical_entities[name] = entity.id


def entity_key(entity: Entity) -> str:
    """The name of an entity in ``critical_entities``: ``order_id`` for a strong one, else its type."""
    kind = entity.type.lower()
    return kind if entity.strength == "weak" or kind.endswith(("id", "number", "phone", "sku", "no")) else f"{kind}_id"


def _time_out(session: SessionState, tenant: str, user_id: str | None, now: datetime, version: str) -> list[Task]:
    gone = [task for task in session.tasks if task.timeout_at <= now]
    if not gone:
        return []
    session.tasks = [task for task in session.tasks if task.timeout_at > now]
    if session.active_task not in {task.task_id for task in session.tasks}:
        session.active_task = None
    if not session.tasks:
        session.asked = {}
    return [_record(t, session, tenant, user_id, "archive", t.last_event_id, t.timeout_at, version) for t in gone]


def _record(
    task: TaskState,
    session: SessionState,
    tenant: str,
    user_id: str | None,
    transition: str,
    event_id: str,
    ts: datetime,
    version: str,
) -> Task:
    return Task(
        tenant=tenant, user_id=user_id, session_id=session.session_id, task_id=task.task_id, transition=transition,
        current_stage=task.current_stage, intent_chain=list(task.intent_chain), critical_entities=dict(task.critical_entities),
        constraints=list(task.constraints), confirmed_facts=dict(task.confirmed_facts), timeout_at=task.timeout_at,
        event_id=event_id, ts=ts, pipeline_version=version,
    )  # fmt: skip


def _view(task: TaskState | None, continues: Continues) -> TaskView:
    if task is None:
        return TaskView(continues="none")
    return TaskView(
        task_id=task.task_id, current_stage=task.current_stage, intent_chain=list(task.intent_chain),
        critical_entities=dict(task.critical_entities), continues=continues, timeout_at=task.timeout_at,
    )  # fmt: skip


def _active(session: SessionState) -> TaskState | None:
    return next((task for task in session.tasks if task.task_id == session.active_task), None)


def _ordered(session: SessionState, task: TaskState | None) -> Sequence[TaskState]:
    others = sorted((t for t in session.tasks if t is not task), key=lambda t: (t.last_ts, t.task_id), reverse=True)
    return others if task is None else [task, *others]


def _constraints(session: SessionState, task: TaskState | None) -> list[str]:
    """All constraints of the session's live tasks; of two budgets the running task's own."""
    kept: list[str] = []
    for other in _ordered(session, task):
        fresh = without_kinds(other.constraints, kinds_of(kept))
        kept += [text for text in fresh if text not in kept]
    return kept


def _facts(session: SessionState, task: TaskState | None = None) -> dict[str, str]:
    facts: dict[str, str] = {}
    for other in reversed(_ordered(session, task)):
        facts.update(other.confirmed_facts)
    return facts


def _topic_name(task: TaskState | None) -> str | None:
    """What the running task is called: the matter or the most telling word with which it began."""
    return task.topic[0].removeprefix("#") if task is not None and task.topic else None
