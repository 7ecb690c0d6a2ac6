"""What goes into the pure stages and what comes out of them, the same under Faust, offline and in replay."""

from __future__ import annotations

from msgspec import Struct, field

PIPELINE_VERSION = "1"
"""Stands in every record that the engine writes; raised when the same input would give another output."""


class Message(Struct, frozen=True, kw_only=True):
    """A record as it lies on a topic. `topic` is the logical name, without the prefix."""

    topic: str
    partition: int
    offset: int
    key: bytes | None = None
    value: bytes


class Output(Struct, frozen=True, kw_only=True):
    """A record to publish. `person` decides the partition; `key` is what compaction goes by (the person unless told)."""

    topic: str
    person: str | None
    key: bytes | None
    value: bytes | None


class Batch(Struct, kw_only=True):
    """The result of a batch: outputs first, then rows.

    `caused_outputs` are (index of the causing message, output); `puts` are (index of the causing message, row key, value or None to delete) in commit order: the caller publishes the
    outputs, waits until they are through, and only then applies the puts. A crash in between replays to equal outputs.
    """

    caused_outputs: list[tuple[int, Output]] = field(default_factory=list)
    puts: list[tuple[int, bytes, bytes | None]] = field(default_factory=list)

    @property
    def outputs(self) -> list[Output]:
        """The outputs alone, in order."""
        return [output for _, output in self.caused_outputs]
