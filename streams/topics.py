"""Every topic in one table: its record, key, clean-up; partition count and prefix are settings (contract section 1)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from aiokafka.partitioner import murmur2
from msgspec import Struct

from streams.settings import Settings

DAY_MS = 86_400_000
MAX_RAW_BYTES = 2 * 2**20
"""A raw record may be this large: a text that is refused for its length must still come in to be refused."""
MAX_DEAD_BYTES = 4 * 2**20
"""A dead letter carries the original bytes in base64."""


class TopicSpec(Struct, frozen=True, kw_only=True):
    """A topic by its logical name. `retention_days` None keeps the broker's default; compacted topics keep the last value."""

    name: str
    record: str
    cleanup: Literal["delete", "compact"] = "delete"
    retention_days: int | None = None
    max_bytes: int = 2**20
    written_by: str = ""


TOPICS: tuple[TopicSpec, ...] = (
    TopicSpec(name="utterances.raw", record="utterance/1", max_bytes=MAX_RAW_BYTES, written_by="chat front ends"),
    TopicSpec(name="asr.raw", record="asr/1", max_bytes=MAX_RAW_BYTES, written_by="speech recognisers"),
    TopicSpec(name="utterances.clean", record="utterance/1", written_by="ingest"),
    TopicSpec(name="utterances.resolved", record="resolved/1", written_by="filter 1"),
    TopicSpec(name="utterances.affect", record="affect/1", written_by="filter 2"),
    TopicSpec(name="memory.units", record="unit/1", cleanup="compact", written_by="filter 3, write policy"),
    TopicSpec(name="tasks.events", record="task/1", written_by="task state machine"),
    TopicSpec(name="memory.commands", record="command/1", written_by="operators and front ends"),
    TopicSpec(name="memory.audit", record="audit/1", retention_days=3650, written_by="write policy"),
    TopicSpec(name="knowledge.rules", record="rule/1", cleanup="compact", written_by="the institution"),
    TopicSpec(name="cues.bundles", record="bundle/1", written_by="recall"),
    TopicSpec(name="replies", record="reply/1", written_by="generator worker"),
    TopicSpec(name="review.queue", record="review/1", cleanup="compact", written_by="filter 1"),
    TopicSpec(name="dead.letters", record="dead/1", retention_days=365, max_bytes=MAX_DEAD_BYTES, written_by="every stage"),
)  # fmt: skip
TABLE = "memory"
"""The one table; its changelog is ``<app id>-memory-changelog``."""


def full_name(settings: Settings, logical: str) -> str:
    """The topic's name on the broker."""
    return settings.topic_prefix + logical


def changelog_name(settings: Settings) -> str:
    """The name of the table's changelog topic."""
    return f"{settings.app_id}-{TABLE}-changelog"


def configs(spec: TopicSpec) -> dict[str, str]:
    """The topic's settings on the broker."""
    found = {"cleanup.policy": spec.cleanup, "max.message.bytes": str(spec.max_bytes)}
    if spec.retention_days is not None:
        found["retention.ms"] = str(spec.retention_days * DAY_MS)
    return found


@lru_cache(maxsize=65_536)
def partition_for(key: bytes, partitions: int) -> int:
    """The partition Kafka's default partitioner gives a key (murmur2, sign bit cleared)."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
