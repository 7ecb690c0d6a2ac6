"""What of one person can come to mind: hot, derived from the unit and vector rows, and rebuilt from them at any time.

Only current units are in it. `add`, `update` and `remove` cost the size of one unit, whatever the person's history; an
index that grew event by event gives the same scores as one rebuilt from the rows.
"""

from __future__ import annotations

import re
import typing
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from models.cues.background import commonness
from models.cues.cue_score import SEVERITY, emotion_vector
from models.cues.terms import terms
from models.records import Unit, UnitType
from models.tasks.intents import topic_words
from tables.periods import Periods, hours
from tables.person import PersonState
from tables.store import UNIT, VECTOR, PersonRows
from tables.vectors import Vectors, unpack_vector
from tables.words import Words

_NUMBER = re.compile(
    r"\d|[一二两三四五六七八九十百千万半][个次块元人岁本件台天年月斤米点号度折成倍]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand)\b"
)

COLUMNS = np.dtype(
    [
        ("live", "?"), ("pending", "?"), ("ts", "f8"), ("resolved", "f8"), ("expires", "f8"), ("severity", "f4"),
        ("commitment", "f4"), ("confidence", "f4"), ("clearance", "i4"), ("session", "i4"), ("turn", "i4"), ("speaker", "i4"), ("emotion", "f4", (10,)),
        ("promise", "?"), ("complaint", "?"), ("lasting", "?"), ("kind", "i1"), ("place", "?"),
        ("time", "?"), ("number", "?"), ("person", "?"),
    ]
)  # fmt: skip
"""One row a slot; `ts`, `resolved`, `expires` in hours since 1970."""

KINDS: dict[str, int] = {name: number for number, name in enumerate(typing.get_args(UnitType), 1)}
"""Unit types by their number in the column `kind`."""

PLACES = frozenset({"place", "address", "location", "city", "warehouse"})

LASTING = frozenset({"preference", "identity", "constraint", "rule"})


class Remembered(Struct, frozen=True, gc=False):
    """What a cue shows and says of a unit."""

    unit_id: str
    source_event_ids: tuple[str, ...]
    summary: str
    type: str
    role: str
    speaker: str
    status: str
    slot_key: str
    cycles: tuple[str, ...]
    entities: tuple[str, ...]
    transient: bool
    last_verified: datetime | None


class PersonIndex:
    """One person's current units by slot: columns, vectors, words, entities, dates. `revision` is the state's it shows."""

    def __init__(self, dimension: int) -> None:
        self.revision = -1
        self.size = 0
        self.columns = np.zeros(0, dtype=COLUMNS)
        self.vectors = Vectors(dimension)
        self.words = Words(commonness())
        self.entities: dict[str, dict[int, None]] = {}
        self.cycles: dict[str, dict[int, None]] = {}
        self.speakers: dict[str, tuple[int, tuple[str, ...]]] = {}
        self.periods = Periods()
        self._units: dict[int, Remembered] = {}
        self._sessions: dict[str, int] = {}
        self._events: dict[str, list[int]] = {}

    def add(self, slot: int, unit: Unit, vector: npt.NDArray[np.floating] | None) -> None:
        """Makes a unit findable; one that is not current only holds its place."""
        self.reserve(slot + 1)
        if slot in self._units:
            self.remove(slot)
        if unit.status != "current":
            return
        self._fill(slot, unit)
        if vector is not None:
            self.vectors.put(slot, vector)
        self.words.add(slot, terms(indexed_text(unit)))
        kept = self._units[slot]
        for names, keys in ((self.entities, kept.entities), (self.cycles, kept.cycles)):
            for key in keys:
                names.setdefault(key, {})[slot] = None
        for event in kept.source_event_ids:
            self._events.setdefault(event, []).append(slot)
        for time in unit.times:
            if time.normalized_time is not None:
                self.periods.add(slot, time.normalized_time, time.end_time, time.grain)

    def reserve(self, size: int) -> None:
        """Has places for the slots below `size`, those of erased units too."""
        self.size = max(self.size, size)
        if size > len(self.columns):
            grown = np.zeros(max(16, 2 * len(self.columns), size), dtype=COLUMNS)
            grown[: len(self.columns)] = self.columns
            self.columns = grown

    def update(self, slot: int, unit: Unit) -> None:
        """Follows a unit's new state: leaves the index when it is no longer current, else takes over what changed."""
        if unit.status != "current":
            self.remove(slot)
        elif slot in self._units:
            for event in unit.source_event_ids:
                if event not in self._units[slot].source_event_ids:
                    self._events.setdefault(event, []).append(slot)
            self._fill(slot, unit)

    def remove(self, slot: int) -> None:
        """Takes a unit out (superseded, expired, erased). Nothing of its text stays."""
        kept = self._units.pop(slot, None)
        if kept is None:
            return
        self.columns[slot] = np.zeros(1, dtype=COLUMNS)[0]
        self.vectors.clear(slot)
        self.words.remove(slot)
        for event in kept.source_event_ids:
            self._events[event].remove(slot)
            if not self._events[event]:
                del self._events[event]
        for names, keys in ((self.entities, kept.entities), (self.cycles, kept.cycles)):
            for key in keys:
                del names[key][slot]
                if not names[key]:
                    del names[key]

    def slots_of_event(self, event_id: str) -> list[int]:
        """The live slots of units made from an event."""
        return self._events.get(event_id, [])

    def unit(self, slot: int) -> Remembered:
        """What is shown of the unit at a live slot."""
        return self._units[slot]

    def _fill(self, slot: int, unit: Unit) -> None:
        session = self._sessions.setdefault(unit.source.session_id, len(self._sessions) + 1)
        row = self.columns[slot]
        row["live"], row["pending"] = True, unit.resolution_status == "pending"
        row["ts"], row["resolved"], row["expires"] = hours(unit.ts), hours(unit.resolved_at), hours(unit.expires_at)
        row["severity"], row["commitment"] = SEVERITY[unit.severity], unit.commitment_strength
        row["confidence"], row["clearance"], row["session"] = unit.confidence, unit.clearance, session
        row["turn"], row["speaker"] = unit.source.turn, self._speaker(unit.speaker.name or "")
        row["emotion"] = emotion_vector(unit.emotion)
        row["promise"] = unit.type == "commitment" or unit.commitment_strength >= 0.7
        row["complaint"] = unit.type == "complaint" or (unit.severity != "low" and unit.resolution_status == "pending")
        row["lasting"] = unit.type in LASTING or unit.layer == "profile"
        types = {entity.type for entity in unit.entities}
        row["kind"], row["place"], row["person"] = KINDS[unit.type], not PLACES.isdisjoint(types), "person" in types
        row["time"] = bool(unit.times) or unit.validity.cycle_pattern is not None
        row["number"] = bool(_NUMBER.search(unit.resolved_content))
        self._units[slot] = _remembered(unit)

    def _speaker(self, name: str) -> int:
        """The number of a speaker's name (0: no name), whose terms a turn may name."""
        if not name:
            return 0
        if name not in self.speakers:
            self.speakers[name] = (len(self.speakers) + 1, tuple(dict.fromkeys(terms(name))))
        return self.speakers[name][0]

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        return self.columns.nbytes + self.vectors.nbytes + self.words.nbytes + 900 * len(self._units)

    def __len__(self) -> int:
        return len(self._units)


def indexed_text(unit: Unit) -> str:
    """What the word road reads of a unit: who said it, what was said with its references resolved."""
    said = unit.resolved_content or unit.content
    if unit.type == "correction" and unit.topic:  # what it bears on was said with what it corrects
        said = f"{said} {topic_words(unit.topic)}"
    return f"{unit.speaker.name} {said}" if unit.speaker.name else said


def _remembered(unit: Unit) -> Remembered:
    patterns = [unit.validity.cycle_pattern, *(time.recurrence for time in unit.times)]
    return Remembered(
        unit_id=unit.unit_id, source_event_ids=tuple(unit.source_event_ids), summary=unit.summary or unit.content, type=unit.type,
        role=unit.speaker.role, speaker=unit.speaker.name or "", status=unit.resolution_status,
        slot_key="\0".join((unit.slot.subject, unit.slot.attribute)) if unit.slot else "",
        cycles=tuple(dict.fromkeys(p for p in patterns if p)), entities=tuple(dict.fromkeys(e.id for e in unit.entities)),
        transient=unit.validity.type == "transient", last_verified=unit.validity.last_verified,
    )  # fmt: skip


def load_index(rows: PersonRows, state: PersonState, dimension: int) -> PersonIndex:
    """The index of a person as their rows stand: slots 0..next_slot-1, a missing row is an erased unit."""
    index = PersonIndex(dimension)
    decoder = msgspec.json.Decoder(Unit)
    for slot in range(state.next_slot):
        raw = rows.get(UNIT, slot)
        if raw is not None:
            vector = rows.get(VECTOR, slot)
            index.add(slot, decoder.decode(raw), None if vector is None else unpack_vector(vector))
    index.reserve(state.next_slot)
    index.revision = state.revision
    return index


class IndexCache:
    """Indexes of the persons seen last, bounded in bytes. One whose revision is not the state's is built again."""

    def __init__(self, limit_bytes: int = 256 * 1024 * 1024) -> None:
        self.limit_bytes = limit_bytes
        self._held: OrderedDict[str, PersonIndex] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self.nbytes = 0
        self.rebuilt = 0

    def known(self, person: str, revision: int) -> PersonIndex | None:
        """The cached index of a person if it is of that revision; one of another is forgotten."""
        index = self._held.get(person)
        if index is None:
            return None
        if index.revision != revision:
            self.drop(person)
            return None
        self._held.move_to_end(person)
        return index

    def get(self, person: str, revision: int, build: Callable[[], PersonIndex]) -> PersonIndex:
        """The person's index at a revision: the cached one where it is of that revision, else a fresh one."""
        index = self.known(person, revision)
        if index is None:
            index = self._held[person] = build()
            index.revision = revision
            self.rebuilt += 1
            self._weigh(person, index)
        return index

    def applied(self, person: str, revision: int) -> None:
        """Says that the person's index has followed the state to `revision`; then lets the longest unused ones go."""
        index = self._held.get(person)
        if index is not None:
            index.revision = revision
            self._weigh(person, index)
        while self.nbytes > self.limit_bytes and len(self._held) > 1:
            self.drop(next(iter(self._held)))

    def drop(self, person: str) -> None:
        """Forgets a person's index, after an event that failed half-way or an erasure of all."""
        self._held.pop(person, None)
        self.nbytes -= self._sizes.pop(person, 0)

    def clear(self) -> None:
        """Forgets all (a rebalance took partitions away)."""
        self._held.clear()
        self._sizes.clear()
        self.nbytes = 0

    def _weigh(self, person: str, index: PersonIndex) -> None:
        size = index.nbytes
        self.nbytes += size - self._sizes.get(person, 0)
        self._sizes[person] = size
