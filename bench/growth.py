"""Cost as work grows: one person with 10, 1,000 and 50,000 units, 10 and 10,000 persons; no step may grow but recall's own scan.

Besides milliseconds (CPU time of the thread) the rows and bytes that an utterance reads are counted: those do not depend on the machine.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np

from bench.conversation import utterances
from models.records import Emotion, Entity, Intent, Load, Speaker, Unit, UnitSource
from streams.engine import Engine
from streams.messages import Message
from streams.offline import Offsets
from streams.routing import route
from streams.settings import load_settings
from streams.stages.ingest import Ingest
from tables import units
from tables.person import PersonState, save_person
from tables.store import HOT, SESSION, PersonRows, Transaction, row_key

SIZES = (10, 1_000, 50_000)
PERSONS = (10, 10_000)
EVENTS = 240
"""Utterances measured for each size, after as many for warming up."""
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


class Counted:
    """Rows in memory that count what is read."""

    def __init__(self, rows: dict[bytes, bytes]) -> None:
        self.rows, self.reads, self.nbytes = rows, 0, 0

    def get(self, key: bytes, /) -> bytes | None:
        """The row's value; counted."""
        value = self.rows.get(key)
        self.reads += 1
        self.nbytes += len(value or b"")
        return value


def history(person: str, size: int, dimension: int, encoder: str) -> dict[bytes, bytes]:
    """The rows of a person with `size` units of the kind that the load conversation makes."""
    rows: dict[bytes, bytes] = {}
    random = np.random.default_rng(1)
    state = PersonState(tenant="bench", user_id=person.partition("/")[2], encoder=encoder)
    texts = [msgspec.json.decode(line)["text"] for line in utterances(400, 40)]
    for number in range(size):
        transaction = Transaction(rows)
        view = PersonRows(transaction, person)
        units.store(state, view, _unit(person, number, texts[number % len(texts)]), _vector(random, dimension))
        _apply(rows, transaction)
    transaction = Transaction(rows)
    save_person(PersonRows(transaction, person), state)
    _apply(rows, transaction)
    return rows


def _unit(person: str, number: int, text: str) -> Unit:
    entity = Entity(id=f"OD-{10_000 + number % 97}", type="order", text="OD", start=0, end=2, strength="strong")
    return Unit(
        tenant="bench", user_id=person.partition("/")[2], unit_id=f"unit-{number}", content=text, resolved_content=text,
        summary=text[:60], source_event_ids=[f"old-{number}"], start=0, end=len(text), ts=BEGIN + timedelta(minutes=number),
        speaker=Speaker(role="customer"), lang="zh", entropy=0.4, type="fact", intent=Intent(label="neutral", probs={}),
        load=Load(stress=0.1, certainty=0.5, urgency=0.1, cooperation=0.5), emotion=Emotion(label="calm", probs={}),
        entities=[entity], pipeline_version="bench",
        source=UnitSource(topic="utterances.raw", partition=0, offset=number, session_id=f"s{number // 40}", turn=number % 40,
                          channel="app", modality="text"),
    )  # fmt: skip


def _vector(random: np.random.Generator, dimension: int) -> np.ndarray:
    found = random.normal(size=dimension).astype(np.float32)
    return (found / np.linalg.norm(found)).astype(np.float32)


def _apply(rows: dict[bytes, bytes], transaction: Transaction) -> None:
    for key, value in transaction.writes():
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value


def messages_of(lines: Sequence[bytes], partitions: int) -> list[Message]:
    """The clean messages of raw lines."""
    ingest, raw, clean = Ingest(), Offsets(partitions), Offsets(partitions)
    found = []
    for line in lines:
        for output in ingest.process_one(raw.place(*route(line), line)):
            if output.topic == "utterances.clean" and output.value is not None:
                found.append(clean.place(output.topic, output.key, output.value))
    return found


def of_one_person(count: int, person: str) -> list[bytes]:
    """The load conversation, all said by one person in sessions of twelve turns."""
    made = []
    for number, line in enumerate(utterances(count, 1)):
        record = msgspec.json.decode(line)
        record.update(user_id=person, event_id=f"new-{number}", session_id=f"now-{number // 12}")
        made.append(msgspec.json.encode(record))
    return made


def timed_stages(engine: Engine, spent: dict[str, float]) -> Callable[[], None]:
    """Adds the CPU time of each stage that touches a person's rows to `spent`; the function returned takes the timers out."""
    from streams.stages import turn
    from streams.stages import units as unit_stage

    places: list[tuple[Any, str, str]] = [
        (turn.tasks, "expire", "tasks: expiry"), (turn.tasks, "step", "tasks: step"), (engine._turns._units, "expire", "units: expiry"),
        (unit_stage, "write_unit", "units: write"), (unit_stage, "follow", "index: follow"), (turn.erasure, "was_erased", "tombstones"),
        (unit_stage.HotIndex, "nearest", "nearest (corrections)"), (unit_stage.HotIndex, "whole", "index: build"),
        (engine._turns._recalling, "bundle", "recall"), (engine, "_commit", "commit"),
    ]  # fmt: skip
    before = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in places]
    for owner, name, label in places:
        _time(owner, name, label, spent)

    def restore() -> None:
        for owner, name, value in before:
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)

    return restore


def _time(owner: Any, name: str, label: str, spent: dict[str, float]) -> None:
    inner = getattr(owner, name)

    def outer(*args: Any, **kwargs: Any) -> Any:
        begun = time.thread_time()
        try:
            return inner(*args, **kwargs)
        finally:
            spent[label] += time.thread_time() - begun

    setattr(owner, name, outer)


def one_person(size: int, recall: str) -> dict[str, float]:
    """Milliseconds by stage, rows and kilobytes read, for each utterance of a person with `size` units."""
    settings = load_settings([f"recall.on={recall}"], environ={})
    engine = Engine.load(settings)
    person = "bench/heavy"
    rows = history(person, size, engine._models.encoder.dimension, engine._models.encoder.name)
    messages = messages_of(of_one_person(2 * EVENTS, "heavy"), settings.partitions)
    counted = Counted(rows)
    spent: dict[str, float] = defaultdict(float)
    for message in messages[:EVENTS]:
        _step(engine, message, counted)
    restore = timed_stages(engine, spent)
    counted.reads = counted.nbytes = 0
    begun = time.thread_time()
    try:
        for message in messages[EVENTS:]:
            _step(engine, message, counted)
    finally:
        restore()
    found = {f"ms {name}": 1000 * seconds / EVENTS for name, seconds in sorted(spent.items())}
    found["ms all, without the encoder's pool"] = 1000 * (time.thread_time() - begun) / EVENTS
    found["rows read"] = counted.reads / EVENTS
    found["kB read"] = counted.nbytes / EVENTS / 1000
    found["bytes of the hot row"] = len(rows[row_key(HOT, person)])
    found["bytes of its largest session"] = max(
        len(row) for key, row in rows.items() if key.startswith(row_key(SESSION, person))
    )
    return found


def _step(engine: Engine, message: Message, counted: Counted) -> None:
    batch = engine.process([message], counted)
    for _, key, value in batch.puts:
        if value is None:
            counted.rows.pop(key, None)
        else:
            counted.rows[key] = value


def first_recall(size: int) -> dict[str, float]:
    """What the first bundle of a person costs whose index is not hot, and the next one."""
    settings = load_settings(["recall.on=all"], environ={})
    engine = Engine.load(settings)
    rows = Counted(history("bench/heavy", size, engine._models.encoder.dimension, engine._models.encoder.name))
    found = {}
    for name, message in zip(
        ("first", "second"), messages_of(of_one_person(2, "heavy"), settings.partitions), strict=True
    ):
        begun = time.thread_time()
        _step(engine, message, rows)
        found[f"ms, {name} turn with a bundle"] = 1000 * (time.thread_time() - begun)
    return found


def many_persons(persons: int, count: int = 1500) -> dict[str, float]:
    """Milliseconds an utterance of a load spread over so many persons, after one round of warming up."""
    settings = load_settings(["recall.on=none"], environ={})
    engine = Engine.load(settings)
    rows: dict[bytes, bytes] = {}
    counted = Counted(rows)
    messages = messages_of(list(utterances(count + 200, persons)), settings.partitions)
    for message in messages[:200]:
        _step(engine, message, counted)
    counted.reads = 0
    begun = time.process_time()
    for start in range(200, len(messages), 64):
        part = engine.process(messages[start : start + 64], counted)
        for _, key, value in part.puts:
            if value is None:
                rows.pop(key, None)
            else:
                rows[key] = value
    done = len(messages) - 200
    return {"ms CPU an utterance": 1000 * (time.process_time() - begun) / done, "rows read": counted.reads / done}


def report(sizes: Sequence[int] = SIZES, persons: Sequence[int] = PERSONS) -> Iterator[str]:
    """The tables, line by line as they are known."""
    yield f"one person, recall off: cost of an utterance when the person has {', '.join(f'{s:,}' for s in sizes)} units"
    yield from _each(sizes, lambda size: one_person(size, "none"))
    yield "the same with a bundle for every turn (recall's scan may grow)"
    yield from _each(sizes, lambda size: one_person(size, "all") | first_recall(size))
    yield "persons, recall off"
    yield from _each(persons, many_persons)


def _each(sizes: Sequence[int], measure: Callable[[int], dict[str, float]]) -> Iterator[str]:
    columns: dict[int, dict[str, float]] = {}
    for size in sizes:
        yield f"  … {size:,}"
        columns[size] = measure(size)
    yield from _table(columns)


def _table(columns: dict[int, dict[str, float]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    yield f"  {'':36s}" + "".join(f"{size:>12,}" for size in columns)
    for name in names:
        yield f"  {name:36s}" + "".join(f"{column.get(name, 0.0):12.3f}" for column in columns.values())


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="units of the one person")
    parser.add_argument("--persons", type=int, nargs="+", default=list(PERSONS))
    args = parser.parse_args(argv)
    for line in report(args.sizes, args.persons):
        print(line, flush=True)


if __name__ == "__main__":
    main()
