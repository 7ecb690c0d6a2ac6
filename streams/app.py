"""The Faust application: settings that the notes on Faust demand, the one table, the two hops.

Outputs first, state last: a batch's outputs are published and acknowledged, then its rows are put, each person's hot row last. A kill
in between replays to equal outputs; an event met again puts its rows again.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import faust

from models.errors import ResourceError
from streams.batching import batches
from streams.guard import fail_stop, guarded, until_available
from streams.messages import Batch, Message, Output
from streams.metrics import Metrics
from streams.publish import Record, publish
from streams.routing import route
from streams.rows import Rows, TableRows, build, gathered, whole
from streams.settings import Settings
from streams.stages.ingest import Ingest
from streams.topics import MAX_DEAD_BYTES, TABLE, TOPICS, changelog_name, full_name, partition_for
from tables.store import HOT

if TYPE_CHECKING:
    from streams.engine import Engine
    from streams.lanes import Lanes

log = logging.getLogger(__name__)
PRODUCER_TIMEOUT_S = 300.0
"""A send that fails is sent again, but one given up too early fails needlessly: seen to lose changelog records at 8 s and 30 s."""

INGEST_HERE_BYTES = 2**13
"""Raw bytes that are read in the event loop, some milliseconds' worth: heartbeats, commits and sends wait for them."""

OUTPUT_BATCH_BYTES = 2**18
"""Outputs of one partition that go as one record batch; every topic takes a megabyte at least."""


class Job:
    """The stages bound to a Faust app. Make one a process, before the worker starts."""

    def __init__(
        self, settings: Settings, engine: Engine | Lanes, ingest: Ingest, metrics: Metrics | None = None
    ) -> None:
        self.settings, self.engine, self.ingest = settings, engine, ingest
        self.metrics = metrics or Metrics()
        self.app = faust_app(settings)
        self.table = self.app.Table(
            TABLE, key_type=bytes, value_type=bytes, partitions=settings.partitions, options=rocksdb_options(settings)
        )
        self.rules_known = asyncio.Event()
        self._rows = TableRows(self.table, settings.partitions, changelog_name(settings))
        self._full = {spec.name: full_name(settings, spec.name) for spec in TOPICS}
        self._logical = {full: name for name, full in self._full.items()}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stages")
        self._register()

    async def work(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """CPU work in the one stage thread, so that heartbeats, commits and sends go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)

    def _topic(self, *logical: str) -> Any:
        names = (full_name(self.settings, name) for name in logical)
        return self.app.topic(*names, schema=Undecoded(), internal=False)

    def _register(self) -> None:
        self.app.agent(self._topic("utterances.raw", "asr.raw"), name="ingest")(self._ingest_agent)
        # One agent for all that touches state: a person's utterances and commands never interleave.
        memory = self._topic("utterances.clean", "memory.commands", "knowledge.rules")
        self.app.agent(memory, name="memory")(self._memory_agent)
        self.app.on_partitions_revoked.connect(self._on_revoked)
        self.table.on_recover(self._check_index)

    async def _ingest_agent(self, stream: Any) -> None:
        """Hop 1."""
        await self._each_batch(stream, self._ingest_step)

    async def _ingest_step(self, messages: list[Message]) -> None:
        """A few short records are read here and now: another thread would cost more than they do, and is often busy with hop 2."""
        short = sum(len(message.value) for message in messages) <= INGEST_HERE_BYTES
        batch = self._ingest(messages) if short else await self.work(self._ingest, messages)
        await self._publish("ingest", messages, batch)

    def _ingest(self, messages: Sequence[Message]) -> Batch:
        return guarded("ingest", self._ingest_batch, messages, {}, self.settings.privacy.dead_letter_bytes)

    def _ingest_batch(self, messages: Sequence[Message], _: Any) -> Batch:
        return Batch(
            caused_outputs=[
                (index, output) for index, message in enumerate(messages) for output in self.ingest.process_one(message)
            ]
        )

    async def _memory_agent(self, stream: Any) -> None:
        """Hop 2, fused: filters, policy, tasks, units, recall."""
        await self.rules_known.wait()
        await self._each_batch(stream, self._memory_step)

    async def _memory_step(self, messages: list[Message]) -> None:
        await self._remember(await self._pass_on(messages))

    async def _remember(self, messages: list[Message]) -> None:
        """Outputs, then rows. Where the rows would not fit into one atomic batch, the messages are taken in halves."""
        batch: Batch = await until_available(lambda: self.work(self._memory, messages))
        rows = self._rows.batches(batch.puts)
        if len(messages) > 1 and not whole(rows):
            await self.work(self.engine.forget_caches)
            await self._remember(messages[: len(messages) // 2])
            await self._remember(messages[len(messages) // 2 :])
            return
        await self._publish("memory", messages, batch)
        await self._put(rows)

    def _memory(self, messages: Sequence[Message]) -> Batch:
        keep_bytes = self.settings.privacy.dead_letter_bytes
        return guarded("memory", self.engine.process, messages, self._rows, keep_bytes)

    async def _put(self, rows: Sequence[Rows]) -> None:
        if not rows:
            return
        try:
            written = await until_available(lambda: self._rows.write(rows, self._send_rows))
        except Exception as error:
            log.exception("the table cannot be written")
            fail_stop(f"the table cannot be written ({type(error).__name__}: disk full?)")
        self.metrics.resent += written.repeated

    async def _each_batch(self, stream: Any, step: Callable[[list[Message]], Awaitable[None]]) -> None:
        """Takes what waits on a stream, batch by batch. What fails unforeseen ends the process: raising would lose the batch."""
        async for events in batches(stream, self.settings.worker.batch):
            try:
                await step(self._messages(events))
            except ResourceError as error:
                fail_stop(str(error))
            except Exception as error:
                log.error("an agent failed\n%s", "".join(traceback.format_tb(error.__traceback__)))
                fail_stop(f"an agent failed ({type(error).__name__})")

    def _messages(self, events: Sequence[Any]) -> list[Message]:
        """The events as messages; a rule's tombstone is left to the rule feed."""
        return [
            Message(
                topic=self._logical[message.topic],
                partition=message.partition,
                offset=message.offset,
                key=message.key,
                value=message.value if message.value is not None else b"",
            )
            for message in (event.message for event in events)
            if message.value is not None or self._logical[message.topic] != "knowledge.rules"
        ]

    async def _pass_on(self, messages: list[Message]) -> list[Message]:
        """Sends commands without a key on to their person's partition, and returns the other messages."""
        mine, foreign = [], []
        for message in messages:
            if message.topic == "memory.commands" and message.key is None and (key := route(message.value)[1]):
                name = full_name(self.settings, message.topic)
                foreign.append(Record(name, partition_for(key, self.settings.partitions), key, message.value))
            else:
                mine.append(message)
        if foreign:
            await publish(foreign, self._send)
        return mine

    async def _publish(self, stage: str, messages: Sequence[Message], batch: Batch) -> None:
        records = (self._record(messages[index], output) for index, output in batch.caused_outputs)
        published = await publish(gathered(records, OUTPUT_BATCH_BYTES), self._send_rows)
        self.metrics.resent += published.repeated
        self.metrics.count(stage, messages, batch.outputs)

    def _record(self, cause: Message, output: Output) -> Record:
        """An output's place: its person's partition, or that of the record that caused it."""
        count = self.settings.partitions
        partition = cause.partition % count if output.person is None else partition_for(output.person.encode(), count)
        return Record(self._full[output.topic], partition, output.key, output.value)

    async def _send(self, record: Record) -> Awaitable[Any]:
        producer = await self._producer()
        return await producer.send(record.topic, record.key, record.value, record.partition, None, None)

    async def _send_rows(self, rows: Rows) -> Awaitable[Any]:
        producer = await self._producer()
        return await producer._ensure_producer().send_batch(build(rows), rows.topic, partition=rows.partition)

    async def _producer(self) -> Any:
        """The producer, at once where it runs: batches handed over without a pause in between go in one request."""
        producer = self.app.producer
        return producer if producer.started else await self.app.maybe_start_producer()

    async def _check_index(self) -> None:
        """Once the table is there: vectors of another encoder must not be searched. A person of each partition is looked at."""
        try:
            self.engine.check_index(self._rows.first_of(HOT))
        except ResourceError as error:
            fail_stop(str(error))

    def _on_revoked(self, *_: Any, **__: Any) -> None:
        self.engine.forget_caches()


class Undecoded(faust.Schema):
    """Keys and values as the bytes that came: a record that could not be decoded here would stop its stream for good."""

    def compile(self, app: Any, **_: Any) -> Callable[..., Awaitable[Any]]:
        """Faust's way from a message to an event."""

        async def decode(message: Any, **_: Any) -> Any:
            return faust.Event(app, message.key, message.value, message.headers, message)

        return decode


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
