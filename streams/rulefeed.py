"""The rules topic, read whole by every worker: rules bear on all persons of a tenant, whichever partition they lie in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from models.errors import RecordError
from models.records import Rule
from streams.settings import Settings
from streams.stages.validation import decode_input
from streams.topics import full_name
from tables.rulebook import RuleBook

Work = Callable[..., Awaitable[Any]]
"""Runs a function in the stage thread: the engine reads the book there, and it must not change under its hands."""


class RuleFeed:
    """Follows the compacted topic into a rule book. A bad rule is passed over: the memory agent dead-letters it."""

    def __init__(self, settings: Settings, book: RuleBook, work: Work) -> None:
        self._settings, self._book, self._work = settings, book, work
        self._consumer: AIOKafkaConsumer | None = None

    async def catch_up(self) -> int:
        """Reads to the present end and returns the number of rules known."""
        topic = full_name(self._settings, "knowledge.rules")
        consumer = AIOKafkaConsumer(bootstrap_servers=self._settings.broker.split(","), enable_auto_commit=False)
        await consumer.start()
        self._consumer = consumer
        partitions = [TopicPartition(topic, number) for number in range(self._settings.partitions)]
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        ends = await consumer.end_offsets(partitions)
        for place in partitions:
            while await consumer.position(place) < ends[place]:
                await self._take(timeout_ms=200)
        return len(self._book)

    async def follow(self) -> None:
        """Goes on reading until cancelled."""
        while True:
            await self._take(timeout_ms=1000)

    async def close(self) -> None:
        """Leaves the topic."""
        if self._consumer is not None:
            await self._consumer.stop()
            self._consumer = None

    async def _take(self, timeout_ms: int) -> None:
        assert self._consumer is not None, "catch_up comes first"
        for records in (await self._consumer.getmany(timeout_ms=timeout_ms)).values():
            for record in records:
                await self._work(self._put, record.key, record.value)

    def _put(self, key: bytes | None, value: bytes | None) -> None:
        if value is None:
            tenant, _, rule_id = (key or b"").decode("utf-8", "replace").partition("/")
            self._book.remove(tenant, rule_id)
            return
        try:
            rule = decode_input(value, "rule/1")
        except RecordError:
            return
        assert isinstance(rule, Rule)
        self._book.put(rule)
