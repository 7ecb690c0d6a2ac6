"""A person's records as outputs: each kind on its topic, under the key that its topic goes by."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from models.records import Audit, Task, Unit, encode
from streams.messages import Output

_TOPICS: dict[type[Struct], str] = {Unit: "memory.units", Audit: "memory.audit", Task: "tasks.events"}


class Publisher:
    """Collects one person's outputs."""

    def __init__(self, person: str) -> None:
        self.outputs: list[Output] = []
        self._person = person

    def add(self, topic: str, record: Struct, key: str | None = None) -> None:
        """One record; under the person's key unless compaction goes by another. The partition is the person's anyway."""
        name = self._person if key is None else key
        self.outputs.append(Output(topic=topic, person=self._person, key=name.encode(), value=encode(record)))

    def add_all(self, records: Sequence[Unit | Audit | Task]) -> None:
        """Units under their ids, audit lines and tasks under the person's key."""
        for record in records:
            self.add(_TOPICS[type(record)], record, key=record.unit_id if isinstance(record, Unit) else None)
