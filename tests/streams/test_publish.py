"""A failed send is sent again until it is through, in order; nothing is raised, nothing is lost."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams import publish as module
from streams.publish import Record, publish


def records(count: int, partitions: int = 1) -> list[Record]:
    return [Record("t", number % partitions, b"k", b"%d" % number) for number in range(count)]


class FlakyProducer:
    """Fails the acknowledgement, or the hand-over, of the sends whose numbers are given; keeps what got through, in order."""

    def __init__(self, fail_ack: set[int] = frozenset(), fail_hand: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        self.fail_ack, self.fail_hand = fail_ack, fail_hand
        self.sends = 0
        self.log: dict[int, list[bytes]] = defaultdict(list)

    async def send(self, record: Record) -> asyncio.Future[Any]:
        self.sends += 1
        if self.sends in self.fail_hand:
            raise ConnectionError("no leader")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self.sends in self.fail_ack:
            future.set_exception(ConnectionError("not acknowledged"))
        else:
            self.log[record.partition].append(record.value or b"")
            future.set_result(SimpleNamespace(offset=len(self.log[record.partition]) - 1))
        return future


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY_S", 0.0001)
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.0001)


def newest_order(log: list[bytes]) -> list[bytes]:
    """The records by their last appearance: what a compacted topic, or a reader who keeps the last, ends with."""
    return sorted(set(log), key=lambda value: max(i for i, item in enumerate(log) if item == value))


@given(ack=st.sets(st.integers(1, 40), max_size=20), hand=st.sets(st.integers(1, 40), max_size=20))
def test_every_record_gets_through_and_each_partition_ends_in_order(ack: set[int], hand: set[int]) -> None:
    producer = FlakyProducer(ack, hand)
    published = asyncio.run(publish(records(12, partitions=3), producer.send))
    for partition in range(3):
        assert newest_order(producer.log[partition]) == [b"%d" % n for n in range(partition, 12, 3)]
        assert published.offsets[("t", partition)] == len(producer.log[partition]) - 1
    failed = any(number <= 12 for number in ack | hand)
    assert (published.repeated > 0) == failed


def test_what_follows_a_failed_record_is_sent_after_it_again() -> None:
    producer = FlakyProducer(fail_ack={2})
    asyncio.run(publish(records(4), producer.send))
    assert producer.log[0] == [b"0", b"2", b"3", b"1", b"2", b"3"]


def test_nothing_to_send() -> None:
    assert asyncio.run(publish([], FlakyProducer().send)).repeated == 0


def test_a_cancelled_batch_is_not_swallowed() -> None:
    async def never(_: Record) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    async def run() -> None:
        task = asyncio.create_task(publish(records(1), never))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
