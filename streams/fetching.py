"""How records come from the Kafka client into Faust's streams: without haste, and without ceremony.

Patience with a broker that answers an empty fetch at once.

A Kafka broker holds a fetch until there is data (Faust asks for up to 1.5 s); the embedded one answers at once, and aiokafka asks again at
once: 1,100 fetches a second that keep a core busy. Here a fetch that came back early with nothing is followed by a pause.
On a real Kafka none ever is, so nothing changes there.

Ceremony: Faust hands each record over by four tasks and a wait, so that a full stream can be given up in a rebalance. Nearly always
the stream has room and the hand-over needs no waiting; then it is done at once. That is a fifth of what Faust costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from aiokafka.consumer.fetcher import Fetcher
from faust.transport.consumer import Consumer
from mode.services import WaitResults

EARLY_S = 0.025
"""An empty answer sooner than this was not waited for."""
PAUSE_S, IDLE_PAUSE_S = 0.003, 0.02
"""The pause while records come in, and after `IDLE_AFTER_S` without one."""
IDLE_AFTER_S = 2.0

_fetch, _wait_first = Fetcher._proc_fetch_request, Consumer.wait_first


async def _patient_fetch(self: Any, assignment: Any, node_id: Any, request: Any) -> bool:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    found: bool = await _fetch(self, assignment, node_id, request)
    now = loop.time()
    if found:
        self.found_at = now
    elif now - begun < EARLY_S:
        idle = now - getattr(self, "found_at", now - IDLE_AFTER_S) >= IDLE_AFTER_S
        try:
            await asyncio.sleep(IDLE_PAUSE_S if idle else PAUSE_S)
        except asyncio.CancelledError:
            return False
    return found


async def _hand_over(self: Any, *waits: Any, timeout: Any = None) -> Any:
    """In the place of the consumer's `wait_first(callback(message), suspended)`: begins the callback here and now."""
    if len(waits) != 2 or not all(map(asyncio.iscoroutine, waits)):
        return await _wait_first(self, *waits, timeout=timeout)
    callback, suspended = waits
    try:
        waits_for = callback.send(None)
    except StopIteration as done:
        suspended.close()
        return WaitResults([callback], [done.value], False)
    except BaseException:
        suspended.close()
        raise
    return await _wait_first(self, _rest(callback, waits_for), suspended, timeout=timeout)


async def _rest(begun: Coroutine[Any, Any, Any], waits_for: Any) -> Any:
    """The rest of a coroutine that was begun outside a task and waits for something."""
    return await _go_on(begun, waits_for)


@coroutine
def _go_on(begun: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """Hands on what a begun coroutine waits for, and to it what comes of that."""
    while True:
        sent, thrown = None, None
        try:
            sent = yield waits_for
        except BaseException as error:
            thrown = error
        try:
            waits_for = begun.send(sent) if thrown is None else begun.throw(thrown)
        except StopIteration as done:
            return done.value


def be_patient() -> None:
    """Makes every consumer of this process fetch and hand over like this. May be called again."""
    Fetcher._proc_fetch_request = _patient_fetch
    Consumer.wait_first = _hand_over  # type: ignore[method-assign]
