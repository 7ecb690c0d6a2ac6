"""Feeds records to their raw topics one after another and collects what each brings about."""

from __future__ import annotations

import time
from collections import Counter
from importlib import resources
from types import TracebackType
from typing import Any

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from msgspec import Struct, field

from models.errors import UnavailableError
from streams.routing import route
from streams.settings import Settings
from streams.topics import MAX_DEAD_BYTES, full_name

WATCHED = (
    "utterances.clean",
    "utterances.affect",
    "memory.units",
    "tasks.events",
    "cues.bundles",
    "dead.letters",
    "review.queue",
)
LIMIT_S = 20.0
SETTLE_S = 0.03
"""The outputs of one event are published together; so long after the last awaited one the rest is there too."""


class Turn(Struct):
    """What one record brought about, by topic."""

    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def first(self, topic: str) -> dict[str, Any] | None:
        """The first record on a topic."""
        found = self.records.get(topic)
        return found[0] if found else None


def load_conversation() -> list[dict[str, Any]]:
    """The shipped conversation: ``{"topic", "record"}``, or ``{"topic", "raw"}`` for a line as it stands."""
    text = resources.files("streams.demo").joinpath("conversation.jsonl").read_text(encoding="utf-8")
    return [msgspec.json.decode(line) for line in text.splitlines() if line]


class Feeder:
    """A producer and a consumer on a running cuestream. Use as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.totals: Counter[str] = Counter()

    def __enter__(self) -> Feeder:
        servers = self._settings.broker.split(",")
        self._producer = KafkaProducer(bootstrap_servers=servers, linger_ms=0, max_request_size=MAX_DEAD_BYTES)
        self._consumer = KafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, fetch_max_wait_ms=20)
        places = [
            TopicPartition(full_name(self._settings, topic), number)
            for topic in WATCHED
            for number in range(self._settings.partitions)
        ]
        self._consumer.assign(places)
        self._consumer.seek_to_end(*places)
        for place in places:
            self._consumer.position(place)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._producer.close()
        self._consumer.close()

    def feed(self, line: dict[str, Any]) -> Turn:
        """Sends one record and waits for what it brings about. Raises `UnavailableError` where nothing comes."""
        raw = line["raw"].encode() if "raw" in line else msgspec.json.encode(line["record"])
        topic, key = route(raw)
        self._producer.send(full_name(self._settings, topic), key=key, value=raw).get(timeout=LIMIT_S)
        turn = Turn()
        if line.get("record", {}).get("is_final") is False:
            return turn
        limit = time.monotonic() + LIMIT_S
        done_at: float | None = None
        while time.monotonic() < (limit if done_at is None else done_at + SETTLE_S):
            for place, records in self._consumer.poll(timeout_ms=10).items():
                name = place.topic.removeprefix(self._settings.topic_prefix)
                for record in records:
                    if record.value is not None:
                        turn.records.setdefault(name, []).append(msgspec.json.decode(record.value))
                        self.totals[name] += 1
            if done_at is None and ("dead.letters" in turn.records or self._answered(turn)):
                done_at = time.monotonic()
        if done_at is None:
            raise UnavailableError(f"nothing came back within {LIMIT_S:g} s: see the worker's log")
        return turn

    def _answered(self, turn: Turn) -> bool:
        affect = turn.first("utterances.affect")
        if affect is None:
            return False
        return "cues.bundles" in turn.records or affect["speaker"]["role"] != "customer"
