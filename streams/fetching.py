"""How records come from the Kafka consumer into Faust's streams: at once, where nothing has to be waited for.

Faust hands each record over by four tasks and a wait, so that a full stream can be given up in a rebalance. Nearly always the stream
has room; then the record is handed over here and now. That was a fifth of what Faust costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from faust.transport.consumer import Consumer
from mode.services import WaitResults

_wait_first = Consumer.wait_first


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


def hand_over_at_once() -> None:
    """Makes every Faust consumer of this process hand over like this. May be called again."""
    Consumer.wait_first = _hand_over  # type: ignore[method-assign]
