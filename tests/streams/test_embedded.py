"""The embedded broker's own parts: logs that survive a cut, groups that lose a member, clients that wait."""

from __future__ import annotations

import asyncio
import struct
import time
from pathlib import Path

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from streams.embedded import log as log_module
from streams.embedded.groups import REBALANCING, UNKNOWN_MEMBER, Coordinator
from streams.embedded.log import CorruptBatch, PartitionLog
from streams.embedded.store import Commit, Store


def batch(*values: bytes, stamp: int = 1000) -> bytes:
    """A record batch as a producer sends it."""
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 10**6)
    for number, value in enumerate(values):
        builder.append(number, stamp, b"k", value, [])
    return bytes(builder.build())


def bases(data: bytes) -> list[int]:
    """The base offsets of the batches in an answer."""
    found, place = [], 0
    while place < len(data):
        base, length = struct.unpack_from(">qi", data, place)
        found.append(base)
        place += 12 + length
    return found


def test_offsets_go_on_after_a_restart_and_over_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SEGMENT_BYTES", 300)
    log = PartitionLog(tmp_path, None)
    assert [log.append(batch(b"a", b"b")) for _ in range(10)] == list(range(0, 20, 2))
    assert log.append(batch(b"x") + batch(b"y", b"z")) == 20
    log.close()
    assert len(list(tmp_path.glob("*.log"))) > 2
    again = PartitionLog(tmp_path, None)
    assert (again.start, again.end) == (0, 23)
    read: list[int] = []
    position = 0
    while position < again.end:
        found = bases(again.read(position, 200))
        read += found
        position = found[-1] + (2 if found[-1] < 20 else 1 if found[-1] == 20 else 2)
    assert read == [*range(0, 20, 2), 20, 21]
    assert bases(again.read(3, 1)) == [2], "the batch that holds the offset, whole, however little is asked for"
    assert again.read(23, 1000) == b""


@pytest.mark.parametrize("cut", [1, 30, 70])
def test_a_tail_cut_by_a_kill_is_dropped(tmp_path: Path, cut: int) -> None:
    log = PartitionLog(tmp_path, None)
    log.append(batch(b"a"))
    log.append(batch(b"b"))
    log.close()
    path = tmp_path / "0.log"
    path.write_bytes(path.read_bytes()[:-cut])
    again = PartitionLog(tmp_path, None)
    assert again.end == 1
    assert again.append(batch(b"c")) == 1
    assert bases(again.read(0, 10**6)) == [0, 1]


@pytest.mark.parametrize("data", [b"", b"short", b"\0" * 100, batch(b"a")[:-1]])
def test_what_is_no_batch_is_refused(tmp_path: Path, data: bytes) -> None:
    log = PartitionLog(tmp_path, None)
    with pytest.raises(CorruptBatch):
        log.append(data)
    assert log.end == 0


def test_old_segments_leave_and_times_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SEGMENT_BYTES", 50)
    now = int(time.time() * 1000)
    log = PartitionLog(tmp_path, 60_000)
    for age in (300_000, 200_000, 30_000, 20_000, 0):
        log.append(batch(b"a", stamp=now - age))
    assert log.start == 2
    assert log.at_time(now - 25_000) == (3, now - 20_000)
    assert log.at_time(now + 1) is None


def test_topics_and_commits_survive(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create("t", 2, {"cleanup.policy": "compact"})
    store.create("gone", 1, {})
    store.commit(Commit("g", "t", 0, 5, ""))
    store.commit(Commit("g", "t", 0, 7, ""))
    store.delete("gone")
    with (tmp_path / "offsets.jsonl").open("ab") as file:
        file.write(b'["g","t",1,')  # a kill in the middle of a line
    again = Store(tmp_path)
    assert set(again.topics) == {"t"} and again.topics["t"].configs == {"cleanup.policy": "compact"}
    assert [commit.offset for commit in again.commits.values()] == [7]


async def _join(groups: Coordinator, member: str = "", session_ms: int = 6000) -> tuple[int, int, str, bool]:
    error, group, name = await groups.join("g", session_ms, 6000, member, "consumer", [("faust", b"meta")])
    return error, group.generation, name, group.leader == name


def test_a_group_divides_hands_over_and_forgets_the_dead() -> None:
    async def run() -> None:
        groups = Coordinator()
        error, generation, first, leads = await _join(groups)
        assert (error, generation, leads) == (0, 1, True)
        assert await groups.sync("g", 1, first, [(first, b"all")]) == (0, b"all")
        assert groups.heartbeat("g", 1, first) == 0
        second_join = asyncio.create_task(_join(groups, session_ms=50))
        await asyncio.sleep(0.01)
        assert groups.heartbeat("g", 1, first) == REBALANCING
        _, generation, _, leads = await _join(groups, first)
        _, _, second, follows = await second_join
        assert generation == 2 and leads and not follows
        waiting = asyncio.create_task(groups.sync("g", 2, second, []))
        await asyncio.sleep(0.01)
        assert await groups.sync("g", 2, first, [(first, b"1"), (second, b"2")]) == (0, b"1")
        assert await waiting == (0, b"2")
        await asyncio.sleep(0.08)
        groups.group("g").expire()
        assert groups.heartbeat("g", 2, second) == UNKNOWN_MEMBER
        assert groups.heartbeat("g", 2, first) == REBALANCING
        assert (await _join(groups, first))[1] == 3
        assert groups.leave("g", first) == 0
        assert groups.group("g").state == "empty"

    asyncio.run(run())


def test_a_member_that_vanishes_while_it_joins_holds_nobody_up() -> None:
    async def run() -> None:
        groups = Coordinator()
        _, _, first, _ = await _join(groups, session_ms=50)
        await groups.sync("g", 1, first, [(first, b"all")])
        second = asyncio.create_task(_join(groups))
        await asyncio.sleep(0.08)  # the first one never joins again
        groups.group("g").expire()
        error, generation, _, leads = await asyncio.wait_for(second, 1)
        assert (error, generation, leads) == (0, 2, True)
        third = asyncio.create_task(_join(groups, session_ms=10))
        await asyncio.sleep(0.01)
        third.cancel()
        await asyncio.gather(third, return_exceptions=True)
        await asyncio.sleep(0.03)
        groups.group("g").expire()
        assert len(groups.group("g").members) == 1

    asyncio.run(run())
