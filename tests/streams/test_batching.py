"""A batch is what waits, up to a bound; it is acknowledged when the next one is asked for, and what a rebalance left over is passed by."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from streams.batching import batches

GENERATION = 3


class Event:
    """An event as Faust's queue holds it."""

    def __init__(self, number: int, generation: int = GENERATION) -> None:
        self.number, self.acked = number, False
        self.message = SimpleNamespace(generation_id=generation, tracked=False)

    def ack(self) -> None:
        self.acked = True


class Stream:
    """A stream over a queue: `events` is Faust's iterator, which waits for one event at a time."""

    def __init__(self, events: list[Event]) -> None:
        self.enable_acks = True
        self.queue: asyncio.Queue[Event] = asyncio.Queue()
        for event in events:
            self.queue.put_nowait(event)
        self.channel = SimpleNamespace(queue=self.queue)
        self.app = SimpleNamespace(
            flow_control=SimpleNamespace(is_active=lambda: True),
            consumer_generation_id=GENERATION,
            consumer=SimpleNamespace(unacked=Unacked()),
        )

    async def events(self) -> AsyncIterator[Event]:
        assert not self.enable_acks, "Faust would acknowledge the first event by itself"
        while not self.queue.empty():
            yield self.queue.get_nowait()


class Unacked(list[Any]):
    """The consumer's unacknowledged messages."""

    def add(self, message: Any) -> None:
        self.append(message)


def taken(stream: Stream, most: int) -> list[list[int]]:
    async def run() -> list[list[int]]:
        return [[event.number for event in events] async for events in batches(stream, most)]

    return asyncio.run(run())


def test_batches_grow_to_their_bound_and_no_event_waits() -> None:
    assert taken(Stream([Event(n) for n in range(7)]), 3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert taken(Stream([Event(0)]), 64) == [[0]]


def test_what_is_left_over_from_before_a_rebalance_is_passed_by() -> None:
    events = [Event(0), Event(1, GENERATION - 1), Event(2)]
    stream = Stream(events)
    assert taken(stream, 8) == [[0, 2]]
    assert not events[1].acked
    assert stream.app.consumer.unacked == [events[2].message], "the first is Faust's iterator's to note"


def test_a_batch_is_acknowledged_when_it_is_done_and_not_before() -> None:
    events = [Event(n) for n in range(4)]

    async def run() -> None:
        seen = 0
        async for batch in batches(Stream(events), 2):
            assert not any(event.acked for event in batch)
            assert all(event.acked for event in events[:seen])
            seen += len(batch)
            if seen == 4:
                return  # as an agent that ends in the middle

    asyncio.run(run())
    assert [event.acked for event in events] == [True, True, False, False]
