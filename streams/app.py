"""The Faust application: settings that the notes on Faust demand, the one table, the two hops.

Outputs first, state last: a batch's outputs are published and acknowledged, then its rows are put, each person's hot row last. A kill
in between replays to equal outputs; an event met again puts its rows again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import faust

from streams.guard import until_available
from streams.messages import Batch, Message, Output
from streams.metrics import Metrics
from streams.publish import publish
from streams.rows import TableRows, apply_puts
from streams.settings import Settings
from streams.stages.ingest import Ingest
from streams.topics import MAX_DEAD_BYTES, TABLE, TOPICS, full_name, partition_for

if TYPE_CHECKING:
    from streams.engine import Engine

log = logging.getLogger(__name__)
PRODUCER_TIMEOUT_S = 300.0
"""A changelog record that fails is only a warning to Faust, and its offset is committed all the same: never give up early."""


class Job:
    """The stages bound to a Faust app. Make one a process, before the worker starts."""

    def __init__(self, settings: Settings, engine: Engine, ingest: Ingest, metrics: Metrics | None = None) -> None:
        self.settings, self.engine, self.ingest = settings, engine, ingest
        self.metrics = metrics or Metrics()
        self.app = faust_app(settings)
        self.table = self.app.Table(
            TABLE, key_type=bytes, value_type=bytes, partitions=settings.partitions, options=rocksdb_options(settings)
        )
        self._rows = TableRows(self.table, settings.partitions)
        self._topics = {spec.name: self._topic(spec.name) for spec in TOPICS}
        self._logical = {full_name(settings, spec.name): spec.name for spec in TOPICS}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stages")
        self._register()

    def _topic(self, *logical: str) -> Any:
        names = [full_name(self.settings, name) for name in logical]
        return self.app.topic(
            *names, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw", internal=False
        )

    def _register(self) -> None:
        self.app.agent(self._topic("utterances.raw", "asr.raw"), name="ingest")(self._ingest_agent)
        self.app.agent(self._topic("utterances.clean", "memory.commands", "knowledge.rules"), name="memory")(
            self._memory_agent
        )
        self.app.on_partitions_revoked.connect(self._on_revoked)

    async def _ingest_agent(self, stream: Any) -> None:
        """Hop 1."""
        worker = self.settings.worker
        async for events in stream.take_events(worker.batch, within=worker.within):
            messages = self._messages(events)
            outputs = await self._work(self.ingest.process, messages)
            self.metrics.resent += await publish(outputs, self._send)
            self.metrics.count("ingest", messages, outputs)

    async def _memory_agent(self, stream: Any) -> None:
        """Hop 2, fused: filters, policy, tasks, units, recall."""
        worker = self.settings.worker
        async for events in stream.take_events(worker.batch, within=worker.within):
            messages = self._messages(events)
            await self._step(events, messages)

    async def _step(self, events: Sequence[Any], messages: list[Message]) -> None:
        batch: Batch = await until_available(lambda: self._work(self.engine.process, messages, self._rows))
        self.metrics.resent += await publish(batch.outputs, self._send)
        apply_puts(self.table, events, batch.puts)
        self.metrics.count("memory", messages, batch.outputs)

    async def _work(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """CPU work in the one stage thread, so that heartbeats, commits and sends go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)

    def _messages(self, events: Sequence[Any]) -> list[Message]:
        return [
            Message(
                topic=self._logical[event.message.topic],
                partition=event.message.partition,
                offset=event.message.offset,
                key=event.message.key,
                value=event.message.value if event.message.value is not None else b"",
            )
            for event in events
        ]

    def _send(self, output: Output) -> Awaitable[Awaitable[object]]:
        partition = None if output.person is None else partition_for(output.person.encode(), self.settings.partitions)
        return self._topics[output.topic].send(key=output.key, value=output.value, partition=partition)

    def _on_revoked(self, *_: Any, **__: Any) -> None:
        self.engine.forget_caches()


def faust_app(settings: Settings) -> faust.App:
    """The bare app. Each value that differs from Faust's default has its reason in docs/faust.md."""
    worker = settings.worker
    return faust.App(
        settings.app_id,
        broker=f"kafka://{settings.broker.replace(',', ';kafka://')}",
        datadir=str(Path(settings.data_dir) / "worker"),
        store="rocksdb://",
        processing_guarantee="at_least_once",
        broker_commit_interval=worker.commit_interval,
        broker_session_timeout=worker.session_timeout,
        broker_heartbeat_interval=worker.heartbeat,
        producer_request_timeout=PRODUCER_TIMEOUT_S,
        producer_linger=worker.linger,
        producer_max_request_size=MAX_DEAD_BYTES,
        consumer_max_fetch_size=MAX_DEAD_BYTES,
        consumer_auto_offset_reset="earliest",
        stream_buffer_maxsize=512,
        stream_wait_empty=True,
        table_standby_replicas=0,
        topic_partitions=settings.partitions,
        topic_replication_factor=settings.replication,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
    )


def rocksdb_options(settings: Settings) -> dict[str, Any]:
    """Bounded RocksDB options, made afresh for each table (Faust changes the dict it is given).

    Without them each partition of a table may take 2 GiB of block cache.
    """
    return {
        "driver": "rocksdict",
        "block_cache_size": settings.worker.rocksdb_cache_mb * 2**20,
        "write_buffer_size": 8 * 2**20,
        "max_write_buffer_number": 2,
        "max_open_files": 256,
    }
