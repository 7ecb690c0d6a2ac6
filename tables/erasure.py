"""Commands over a memory (W5-W7, T4): forget, correct, invalidate, logout, organisation change.

Erasure is real: a forgotten unit loses its rows (tombstones in the changelog), its words in discourse and tasks, and leaves an audit
line without content. Small ERASED rows keep a replay of the raw topics from bringing it back. Commands may be repeated. Only these
rare commands walk through a person's units; the write path never does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec
from msgspec import Struct, field

from models.records import (
    Audit,
    Command,
    Emotion,
    Intent,
    Load,
    Scope,
    Slot,
    Speaker,
    Task,
    Unit,
    UnitSource,
    UnitStatus,
    Validity,
)
from models.tasks.slot_values import content_tokens
from models.tasks.slots import read_slots
from models.text import narrow
from tables import conflicts, profile, tasks, units
from tables.person import AppliedEvent, PersonState
from tables.sessions import SessionState, TaskState
from tables.store import ERASED, UNIT, PersonRows, slots_among
from tables.writing import CORRECTION_CONFIDENCE, NEIGHBOURS, audit

MAX_RANGES = 64
"""Erased stretches of time kept per person; past that, neighbours are joined into one."""
_ROLE_ATTRIBUTES = ("role", "responsibility", "employer", "assignment")


class Effects(Struct):
    """What a command did.

    `changed`: units with a new status, to publish. `erased`: their last records (status "erased", no content) for `offline`'s
    units.jsonl; on ``memory.units`` each is a null value under its unit id. `new_unit`: a unit that the engine still has to embed
    and write (`tables.writing.write_unit`). `dropped_slots`: slots to leave a hot index.
    """

    changed: list[Unit] = field(default_factory=list)
    erased: list[Unit] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    new_unit: Unit | None = None
    dropped_slots: list[int] = field(default_factory=list)


class ErasedRange(Struct, array_like=True):
    """Events of this stretch of event time (inclusive) are never remembered again."""

    begins: datetime | None
    ends: datetime


def run_command(state: PersonState, rows: PersonRows, command: Command, version: str = "") -> Effects:
    """Carries out a command on one person's state. Repeating it changes nothing more."""
    effects = Effects()
    if command.kind == "logout":
        _logout(state, rows, command, effects, version)
    elif command.kind == "forget":
        _forget(state, rows, command, effects)
    else:
        _mark(state, rows, command, effects, version)
    for line in effects.audits:
        line.event_id, line.ts, line.pipeline_version = command.command_id, command.ts, version
    return effects


def take_back(
    state: PersonState, rows: PersonRows, event_id: str, seen: AppliedEvent, at: datetime, version: str = ""
) -> Effects:
    """Takes back what an event left, before a later revision of the same recognised segment is applied (I1).

    Its units end as `corrected`; their rows go, since the later revision may make units of the same ids. Its turn leaves the
    discourse. What it did to other units stays: the later revision is written like any new statement.
    """
    effects = Effects()
    for slot in slots_among(seen.keys, UNIT):
        unit = units.load(rows, slot)
        if unit is None or event_id not in unit.source_event_ids:
            continue
        if unit.source_event_ids != [event_id]:  # others said so too
            unit.source_event_ids.remove(event_id)
            units.save(rows, slot, unit)
            effects.changed.append(unit)
            continue
        _end(rows, slot, unit, "corrected", at, effects)
        units.remove(rows, slot, unit)
        line = audit(unit, "corrected", "asr_revision")
        line.event_id, line.ts, line.pipeline_version = event_id, at, version
        effects.audits.append(line)
        _scrub_unit(state, unit)
    for session in state.sessions.values():
        session.turns = [turn for turn in session.turns if turn.event_id != event_id]
    return effects


def was_erased(rows: PersonRows, event_id: str, ts: datetime) -> bool:
    """Whether an event belongs to what was erased, so that a replay must not remember it: by id, or by its time."""
    if rows.get(ERASED, "event", event_id) is not None:
        return True
    return any((r.begins is None or r.begins <= ts) and ts <= r.ends for r in _ranges(rows))


def _forget(state: PersonState, rows: PersonRows, command: Command, effects: Effects) -> None:
    scope = command.scope
    for slot, unit in _with_remnants(rows, list(_matching(state, rows, scope)), scope):
        conflicts.drop(rows, slot)
        profile.forget(rows, slot)
        effects.erased.append(units.erase(rows, slot, unit))
        effects.dropped_slots.append(slot)
        effects.audits.append(audit(unit, "erased", f"forget:{_scope_name(scope)}"))
        _scrub_unit(state, unit)
        for event in unit.source_event_ids:
            if scope.all or scope.from_ or scope.to or _whole_event(unit):
                rows.put(ERASED, "event", event, value=b"\x01")
    if scope.all or scope.from_ is not None or scope.to is not None:
        _add_range(
            rows, ErasedRange(None if scope.all else scope.from_, command.ts if scope.all else scope.to or command.ts)
        )
    if scope.all:
        state.sessions.clear()
    elif scope.from_ is not None or scope.to is not None:
        _scrub(state, lambda turn_ts, _: turn_ts is not None and _within(scope, turn_ts))
    elif scope.text or scope.topic:
        wanted = _matcher(scope.text or scope.topic or "")
        _scrub(state, lambda _, text: wanted(text))
    if not effects.audits:
        effects.audits.append(_bare_audit(state, command, "erased", f"forget:{_scope_name(scope)}:nothing_left"))


def _mark(state: PersonState, rows: PersonRows, command: Command, effects: Effects, version: str) -> None:
    """correct, invalidate, organisation_change: units stay for audit, marked, out of the index."""
    status, action = {
        "correct": ("corrected", "corrected"),
        "invalidate": ("superseded", "invalidated"),
        "organisation_change": ("superseded", "superseded"),
    }[command.kind]
    found = [
        (s, u) for s, u in _matching(state, rows, command.scope) if u.status == "current" and _concerns(command, u)
    ]
    if command.text:
        like = found[-1][1] if found else None
        effects.new_unit = _unit_from(state, command, like, version)
    by = effects.new_unit.unit_id if effects.new_unit else None
    for slot, unit in found:
        if by is not None and unit.unit_id == by:
            continue
        _end(rows, slot, unit, status, command.ts, effects, by)  # type: ignore[arg-type]
        effects.audits.append(audit(unit, action, f"command:{command.kind}", by))
    if not effects.audits:
        effects.audits.append(_bare_audit(state, command, action, f"command:{command.kind}:nothing_matched"))


def _logout(state: PersonState, rows: PersonRows, command: Command, effects: Effects, version: str) -> None:
    effects.tasks = tasks.logout(state, command.session_id, command.ts, command.command_id, version)
    if state.user_id is None:
        for slot, unit in _all_units(state, rows):
            if unit.status == "current":
                _end(rows, slot, unit, "expired", command.ts, effects)
                effects.audits.append(audit(unit, "expired", "anonymous_session_ended"))


def _end(
    rows: PersonRows, slot: int, unit: Unit, status: UnitStatus, at: datetime, effects: Effects, by: str | None = None
) -> None:
    """Retires a unit: out of conflicts, profile and index, to be published with its new status."""
    conflicts.drop(rows, slot)
    profile.forget(rows, slot)
    effects.changed.append(units.retire(rows, slot, unit, status, at, by))
    effects.dropped_slots.append(slot)


def _concerns(command: Command, unit: Unit) -> bool:
    """An organisation change is about roles only."""
    if command.kind != "organisation_change":
        return True
    attribute = unit.slot.attribute.split(":")[0] if unit.slot else ""
    return attribute in _ROLE_ATTRIBUTES or unit.type == "identity"


def _matching(state: PersonState, rows: PersonRows, scope: Scope) -> Iterator[tuple[int, Unit]]:
    if scope.unit_id is not None:
        found = units.find(rows, scope.unit_id)
        if found is not None:
            yield found
        return
    said = _matcher(scope.text) if scope.text else None
    about = _matcher(scope.topic) if scope.topic else None
    dated = scope.from_ is not None or scope.to is not None
    if not (scope.all or said or about or dated):
        return
    for slot, unit in _all_units(state, rows):
        if (
            scope.all
            or (said and said(_words_of(unit)))
            or (about and (about(unit.topic or "") or about(_words_of(unit))))
            or (dated and _within(scope, unit.ts))
        ):
            yield slot, unit


def _with_remnants(rows: PersonRows, found: list[tuple[int, Unit]], scope: Scope) -> list[tuple[int, Unit]]:
    """With what is left of the same utterances and says nothing by itself ("keep it in mind")."""
    if not (scope.text or scope.topic):
        return found
    slots = {slot for slot, _ in found}
    events = {event for _, unit in found for event in unit.source_event_ids}
    near = {other for slot in slots for other in range(max(0, slot - NEIGHBOURS), slot + NEIGHBOURS + 1)}
    for slot in sorted(near - slots):
        unit = units.load(rows, slot)
        if unit is not None and events & set(unit.source_event_ids) and len(content_tokens(unit.resolved_content)) < 2:
            found.append((slot, unit))
    return found


def _all_units(state: PersonState, rows: PersonRows) -> Iterator[tuple[int, Unit]]:
    for slot in range(state.next_slot):
        unit = units.load(rows, slot)
        if unit is not None:
            yield slot, unit


def _words_of(unit: Unit) -> str:
    parts = [
        unit.content,
        unit.resolved_content,
        unit.summary,
        *(e.id for e in unit.entities),
        *(e.text for e in unit.entities),
    ]
    return "\n".join(parts)


def _matcher(wanted: str) -> Callable[[str], bool]:
    """Whether a text holds the wanted words: as they stand, or else every content word of them.

    An id is matched whole: OD-1 is not in OD-12.
    """
    plain = narrow(wanted).strip().lower()
    edge_start = r"(?<![a-z0-9])" if plain[:1].isascii() and plain[:1].isalnum() else ""
    edge_end = r"(?![a-z0-9])" if plain[-1:].isascii() and plain[-1:].isalnum() else ""
    exact = re.compile(edge_start + re.escape(plain) + edge_end) if plain else None
    words = content_tokens(plain)

    def holds(text: str) -> bool:
        folded = narrow(text).lower()
        if exact is None:
            return False
        return bool(exact.search(folded)) or bool(words and len(words) > 1 and words <= content_tokens(folded))

    return holds


def _within(scope: Scope, ts: datetime) -> bool:
    return (scope.from_ is None or scope.from_ <= ts) and (scope.to is None or ts <= scope.to)


def _whole_event(unit: Unit) -> bool:
    return unit.start == 0


def _scope_name(scope: Scope) -> str:
    if scope.all:
        return "all"
    names = (
        ("unit_id", scope.unit_id),
        ("text", scope.text),
        ("topic", scope.topic),
        ("time", scope.from_ or scope.to),
    )
    return next((name for name, value in names if value), "nothing")


def _scrub_unit(state: PersonState, unit: Unit) -> None:
    """Takes the turns that a unit came from, and what tasks keep of its words, out of the hot row."""
    sources = set(unit.source_event_ids)
    held = narrow(unit.content).lower()
    for session in state.sessions.values():
        session.turns = [turn for turn in session.turns if turn.event_id not in sources]
        for task in session.tasks:
            _scrub_task(task, lambda text: bool(text.strip()) and narrow(text).lower() in held)


def _scrub(state: PersonState, gone: Callable[[datetime | None, str], bool]) -> None:
    for session in state.sessions.values():
        _scrub_session(session, gone)


def _scrub_session(session: SessionState, gone: Callable[[datetime | None, str], bool]) -> None:
    session.turns = [
        turn for turn in session.turns if not gone(turn.ts, turn.text + "\n" + "\n".join(e.id for e in turn.entities))
    ]
    for task in list(session.tasks):
        if gone(task.last_ts, ""):
            session.tasks.remove(task)
        else:
            _scrub_task(task, lambda text: gone(None, text))
    if session.active_task not in {task.task_id for task in session.tasks}:
        session.active_task = None


def _scrub_task(task: TaskState, gone: Callable[[str], bool]) -> None:
    task.constraints = [text for text in task.constraints if not gone(text)]
    task.confirmed_facts = {n: v for n, v in task.confirmed_facts.items() if not (gone(v) or gone(f"{n} {v}"))}
    task.critical_entities = {n: v for n, v in task.critical_entities.items() if not gone(v)}
    task.topic = [word for word in task.topic if not gone(word)]


def _ranges(rows: PersonRows) -> list[ErasedRange]:
    raw = rows.get(ERASED, "ranges")
    return [] if raw is None else msgspec.json.decode(raw, type=list[ErasedRange])


def _add_range(rows: PersonRows, new: ErasedRange) -> None:
    kept = [r for r in _ranges(rows) if not (_covers(new, r))]
    if any(_covers(r, new) for r in kept):
        return
    rows.put(ERASED, "ranges", value=msgspec.json.encode((kept + [new])[-MAX_RANGES:]))


def _covers(outer: ErasedRange, inner: ErasedRange) -> bool:
    starts = outer.begins is None or (inner.begins is not None and outer.begins <= inner.begins)
    return starts and inner.ends <= outer.ends


def _bare_audit(state: PersonState, command: Command, action: str, reason: str) -> Audit:
    return Audit(
        tenant=state.tenant, user_id=state.user_id, action=action, reason=reason,  # type: ignore[arg-type]
        event_id=command.command_id, ts=command.ts,
    )  # fmt: skip


def _unit_from(state: PersonState, command: Command, like: Unit | None, version: str) -> Unit:
    """The unit that a command's own text makes: a correction of high confidence, at the place of what it corrects."""
    text = command.text or ""
    facts = read_slots(text)
    slot = Slot(subject=facts[0].subject, attribute=facts[0].name) if facts else like.slot if like else None
    return Unit(
        tenant=state.tenant, user_id=state.user_id, unit_id=units.unit_id(state.tenant, command.command_id, 0, len(text)),
        content=text, resolved_content=text, summary=text[:200], source_event_ids=[command.command_id], start=0, end=len(text),
        ts=command.ts, speaker=Speaker(id=command.issued_by or "command", role="customer"), lang=like.lang if like else None,
        entropy=1.0, type="correction" if command.kind == "correct" else "identity", layer=like.layer if like else "profile",
        topic=like.topic if like else None, slot=slot, intent=Intent(label="neutral", probs={}),
        load=Load(stress=0.0, certainty=1.0, urgency=0.0, cooperation=0.5), emotion=Emotion(label="calm", probs={}),
        entities=[], validity=Validity(effective_from=command.ts), write_class="must", clearance=like.clearance if like else 0,
        confidence=CORRECTION_CONFIDENCE, pipeline_version=version,
        source=UnitSource(topic="memory.commands", partition=0, offset=0, session_id=command.session_id or "", turn=0,
                          channel="command", modality="text"),
    )  # fmt: skip
