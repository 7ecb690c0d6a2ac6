"""Publishing that never gives up: a failed send is sent again until it is through, never raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

log = logging.getLogger(__name__)
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0


class Record(NamedTuple):
    """A record for the broker: full topic name, partition, key, value (None is a tombstone)."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None


class Placed(Protocol):
    """Something for a place on the broker: a record, or a batch of them."""

    @property
    def topic(self) -> str:
        """The full topic name."""

    @property
    def partition(self) -> int:
        """The partition."""


Item = TypeVar("Item", bound=Placed)
Send = Callable[[Item], Awaitable[Awaitable[Any]]]
"""Hands one item to the producer; the inner awaitable gives the broker's acknowledgement (it has an ``offset``)."""


class Published(NamedTuple):
    """How many sends had to be repeated, and the highest offset acknowledged by (topic, partition)."""

    repeated: int
    offsets: dict[tuple[str, int], int]


async def publish(records: Sequence[Item], send: Send[Item]) -> Published:
    """Sends all records and returns when every one is acknowledged.

    An agent that raises here would lose its whole batch: the events are acknowledged when the agent is restarted. While no
    broker answers this waits, the batch stays uncommitted, and nothing is lost. What follows a failed record in its
    partition is sent again after it, so that the last record of a key is always its newest.
    """
    delay, repeated = FIRST_DELAY_S, 0
    offsets: dict[tuple[str, int], int] = {}
    waiting = list(records)
    while True:
        answers = await _attempt(waiting, send)
        again: list[Item] = []
        broken: set[tuple[str, int]] = set()
        for record, answer in zip(waiting, answers, strict=True):
            place = (record.topic, record.partition)
            if isinstance(answer, BaseException) or place in broken:
                broken.add(place)
                again.append(record)
            else:
                offsets[place] = max(answer.offset, offsets.get(place, -1))
        if not again:
            return Published(repeated, offsets)
        reason = next(answer for answer in answers if isinstance(answer, BaseException))
        log.warning("%d sends failed (%s): sending again in %.1f s", len(again), type(reason).__name__, delay)
        repeated += len(again)
        waiting = again
        await asyncio.sleep(delay)
        delay = min(delay * 2, LONGEST_DELAY_S)


async def _attempt(records: Sequence[Item], send: Send[Item]) -> list[Any]:
    """Each record's acknowledgement or the exception it failed with."""
    handed: list[Any] = []
    for record in records:  # one after another: this keeps a partition's records in order
        try:
            handed.append(asyncio.ensure_future(await send(record)))
        except Exception as error:
            handed.append(error)
    futures = [item for item in handed if isinstance(item, asyncio.Future)]
    if futures:
        await asyncio.wait(futures)
    return [_outcome(item) if isinstance(item, asyncio.Future) else item for item in handed]


def _outcome(future: asyncio.Future[Any]) -> Any:
    if future.cancelled():
        return asyncio.CancelledError()
    return future.exception() or future.result()
