"""What the broker answers to each request. One version of each is spoken, one that every client of the last years knows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka.protocol import admin, commit, coordination, fetch, group, metadata, offset, produce, transaction

from streams.embedded.groups import Coordinator
from streams.embedded.log import CorruptBatch, PartitionLog
from streams.embedded.store import Commit, Store

NODE = 1
OFFSET_OUT_OF_RANGE, CORRUPT, UNKNOWN_TOPIC, TOO_LARGE, EXISTS = 1, 2, 3, 10, 36
INVALID_PARTITIONS, UNSUPPORTED = 37, 35
LATEST, EARLIEST = -1, -2
MOST_RECORD_BYTES = 8 * 2**20

REQUESTS: dict[int, type[Any]] = {
    request.API_KEY: request
    for request in (
        produce.ProduceRequest_v3,
        fetch.FetchRequest_v4,
        offset.OffsetRequest_v2,
        metadata.MetadataRequest_v5,
        commit.OffsetCommitRequest_v3,
        commit.OffsetFetchRequest_v3,
        coordination.FindCoordinatorRequest_v1,
        group.JoinGroupRequest_v2,
        group.HeartbeatRequest_v1,
        group.LeaveGroupRequest_v1,
        group.SyncGroupRequest_v1,
        admin.DescribeGroupsRequest_v1,
        admin.ListGroupsRequest_v1,
        admin.ApiVersionRequest_v0,
        admin.CreateTopicsRequest_v2,
        admin.DeleteTopicsRequest_v1,
        transaction.InitProducerIdRequest_v0,
        admin.DescribeConfigsRequest_v1,
    )
}
VERSIONS = [(key, request.API_VERSION, request.API_VERSION) for key, request in sorted(REQUESTS.items())]


class Api:
    """The answers, over a store and the groups. `answer` gives a response struct, or None where none is due."""

    def __init__(self, store: Store, host: str, port: int) -> None:
        self._store, self._host, self._port = store, host, port
        self.groups = Coordinator()
        self._producers = time.time_ns() // 1_000_000
        self._answers: dict[int, Callable[[Any], Awaitable[Any]]] = {
            0: self._produce, 1: self._fetch, 2: self._offsets, 3: self._metadata, 8: self._commit, 9: self._committed,
            10: self._coordinator, 11: self._join, 12: self._heartbeat, 13: self._leave, 14: self._sync,
            15: self._describe_groups, 16: self._list_groups, 18: self._versions, 19: self._create, 20: self._delete,
            22: self._producer_id, 32: self._configs,
        }  # fmt: skip

    async def answer(self, request: Any) -> Any:
        """The response to a decoded request."""
        values = await self._answers[request.API_KEY](request)
        return None if values is None else request.RESPONSE_TYPE(*values)

    async def _versions(self, _: Any) -> tuple[Any, ...]:
        return 0, VERSIONS

    async def _produce(self, request: Any) -> tuple[Any, ...] | None:
        topics = [
            (topic, [self._append(topic, partition, data) for partition, data in partitions])
            for topic, partitions in request.topics
        ]
        return (topics, 0) if request.required_acks != 0 else None

    def _append(self, topic: str, partition: int, data: bytes) -> tuple[int, int, int, int]:
        log = self._store.logs.get((topic, partition))
        if log is None:
            return partition, UNKNOWN_TOPIC, -1, -1
        limit = int(self._store.topics[topic].configs.get("max.message.bytes", MOST_RECORD_BYTES))
        if len(data) > max(limit, MOST_RECORD_BYTES):
            return partition, TOO_LARGE, -1, -1
        try:
            return partition, 0, log.append(data), -1
        except CorruptBatch:
            return partition, CORRUPT, -1, -1

    async def _fetch(self, request: Any) -> tuple[Any, ...]:
        """Waits until there is something, at most as long as the client asks."""
        limit = asyncio.get_running_loop().time() + request.max_wait_time / 1000
        while True:
            size, topics = self._read(request)
            left = limit - asyncio.get_running_loop().time()
            if size >= request.min_bytes or size < 0 or left <= 0:
                return 0, topics
            await self._wait_for_data(request, left)

    def _read(self, request: Any) -> tuple[int, list[Any]]:
        """(bytes found, or -1 where there is an error to tell at once; the answer)."""
        found, failed = 0, False
        topics: list[Any] = []
        for topic, partitions in request.topics:
            parts: list[Any] = []
            for partition, position, most in partitions:
                log = self._store.logs.get((topic, partition))
                if log is None or not log.start <= position <= log.end:
                    failed = True
                    error = UNKNOWN_TOPIC if log is None else OFFSET_OUT_OF_RANGE
                    parts.append((partition, error, -1, -1, None, b""))
                    continue
                data = log.read(position, min(most, request.max_bytes - found)) if found < request.max_bytes else b""
                found += len(data)
                parts.append((partition, 0, log.end, log.end, None, data))
            topics.append((topic, parts))
        return (-1 if failed else found), topics

    async def _wait_for_data(self, request: Any, seconds: float) -> None:
        came = asyncio.Event()
        logs: list[PartitionLog] = [
            self._store.logs[(topic, part[0])]
            for topic, partitions in request.topics
            for part in partitions
            if (topic, part[0]) in self._store.logs
        ]
        for log in logs:
            log.listeners.add(came.set)
        try:
            await asyncio.wait_for(came.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            for log in logs:
                log.listeners.discard(came.set)

    async def _offsets(self, request: Any) -> tuple[Any, ...]:
        return 0, [
            (topic, [self._offset_at(topic, partition, stamp) for partition, stamp in partitions])
            for topic, partitions in request.topics
        ]

    def _offset_at(self, topic: str, partition: int, stamp: int) -> tuple[int, int, int, int]:
        log = self._store.logs.get((topic, partition))
        if log is None:
            return partition, UNKNOWN_TOPIC, -1, -1
        if stamp in (LATEST, EARLIEST):
            return partition, 0, -1, log.end if stamp == LATEST else log.start
        found = log.at_time(stamp)
        return (partition, 0, -1, -1) if found is None else (partition, 0, found[1], found[0])

    async def _metadata(self, request: Any) -> tuple[Any, ...]:
        names = self._store.topics if request.topics is None else request.topics
        topics: list[Any] = []
        for name in names:
            topic = self._store.topics.get(name)
            if topic is None:
                topics.append((UNKNOWN_TOPIC, name, False, []))
            else:
                places: list[Any] = [(0, number, NODE, [NODE], [NODE], []) for number in range(topic.partitions)]
                topics.append((0, name, False, places))
        return 0, [(NODE, self._host, self._port, None)], "cuestream-embedded", NODE, topics

    async def _coordinator(self, _: Any) -> tuple[Any, ...]:
        return 0, 0, None, NODE, self._host, self._port

    async def _join(self, request: Any) -> tuple[Any, ...]:
        error, joined, member_id = await self.groups.join(
            request.group, request.session_timeout, request.rebalance_timeout, request.member_id, request.protocol_type,
            request.group_protocols,
        )  # fmt: skip
        if error:
            return 0, error, -1, "", "", member_id, []
        leads = member_id == joined.leader
        members = [(m.member_id, m.protocols[joined.protocol]) for m in joined.members.values()] if leads else []
        return 0, 0, joined.generation, joined.protocol, joined.leader, member_id, members

    async def _sync(self, request: Any) -> tuple[Any, ...]:
        error, share = await self.groups.sync(
            request.group, request.generation_id, request.member_id, request.group_assignment
        )
        return 0, error, share

    async def _heartbeat(self, request: Any) -> tuple[Any, ...]:
        return 0, self.groups.heartbeat(request.group, request.generation_id, request.member_id)

    async def _leave(self, request: Any) -> tuple[Any, ...]:
        return 0, self.groups.leave(request.group, request.member_id)

    async def _commit(self, request: Any) -> tuple[Any, ...]:
        name, generation = request.consumer_group, request.consumer_group_generation_id
        joined = self.groups.group(name)
        simple = generation < 0 and not joined.members
        error = 0 if simple else joined.check(request.consumer_id, generation)
        answer: list[Any] = []
        for topic, partitions in request.topics:
            for partition, position, note in partitions if not error else ():
                self._store.commit(Commit(name, topic, partition, position, note or ""))
            answer.append((topic, [(part[0], error) for part in partitions]))
        return 0, answer

    async def _committed(self, request: Any) -> tuple[Any, ...]:
        name = request.consumer_group
        wanted: list[tuple[str, list[int]]] = request.topics
        if wanted is None:
            mine: dict[str, list[int]] = {}
            for found_group, topic, partition in self._store.commits:
                if found_group == name:
                    mine.setdefault(topic, []).append(partition)
            wanted = list(mine.items())
        answer: list[Any] = []
        for topic, partitions in wanted:
            found = [(part, self._store.commits.get((name, topic, part))) for part in partitions]
            answer.append(
                (topic, [(part, -1, "", 0) if c is None else (part, c.offset, c.metadata, 0) for part, c in found])
            )
        return 0, answer, 0

    async def _list_groups(self, _: Any) -> tuple[Any, ...]:
        return 0, 0, [(joined.name, joined.protocol_type) for joined in self.groups.groups.values()]

    async def _describe_groups(self, request: Any) -> tuple[Any, ...]:
        names = {
            "empty": "Empty",
            "joining": "PreparingRebalance",
            "syncing": "CompletingRebalance",
            "stable": "Stable",
        }
        answer: list[Any] = []
        for name in request.groups:
            joined = self.groups.groups.get(name)
            if joined is None:
                answer.append((0, name, "Dead", "", "", []))
                continue
            members = [
                (m.member_id, "", self._host, m.protocols.get(joined.protocol, b""), m.assignment)
                for m in joined.members.values()
            ]
            answer.append((0, name, names[joined.state], joined.protocol_type, joined.protocol, members))
        return 0, answer

    async def _create(self, request: Any) -> tuple[Any, ...]:
        answer: list[Any] = []
        for name, partitions, _, _, configs in request.create_topic_requests:
            error = EXISTS if name in self._store.topics else INVALID_PARTITIONS if partitions == 0 else 0
            if not error and not request.validate_only:
                self._store.create(name, max(1, partitions), dict(configs))
            answer.append((name, error, None))
        return 0, answer

    async def _delete(self, request: Any) -> tuple[Any, ...]:
        answer: list[Any] = []
        for name in request.topics:
            known = name in self._store.topics
            if known:
                self._store.delete(name)
            answer.append((name, 0 if known else UNKNOWN_TOPIC))
        return 0, answer

    async def _producer_id(self, _: Any) -> tuple[Any, ...]:
        self._producers += 1
        return 0, 0, self._producers, 0

    async def _configs(self, request: Any) -> tuple[Any, ...]:
        answer: list[Any] = []
        for kind, name, _ in request.resources:
            topic = self._store.topics.get(name) if kind == 2 else None
            entries: list[Any] = (
                [(key, value, False, 1, False, []) for key, value in topic.configs.items()] if topic else []
            )
            answer.append((UNKNOWN_TOPIC if kind == 2 and topic is None else 0, None, kind, name, entries))
        return 0, answer
