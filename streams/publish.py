"""Publishing that never gives up: a failed send is sent again until it is through, never raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from streams.messages import Output

log = logging.getLogger(__name__)
Send = Callable[[Output], Awaitable[Awaitable[object]]]
"""Hands one output to the producer; the inner awaitable is done when the broker has acknowledged it."""
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0


async def publish(outputs: Sequence[Output], send: Send) -> int:
    """Sends all outputs and returns when every one is acknowledged; the number that had to be sent again.

    An agent that raises here would lose its whole batch: the events are acknowledged when the agent is restarted. While no broker
    answers this waits, the batch stays uncommitted, and nothing is lost.
    """
    delay, again = FIRST_DELAY_S, 0
    waiting = list(outputs)
    while waiting:
        handed: list[tuple[Output, Awaitable[object]]] = []
        failed: list[tuple[Output, BaseException]] = []
        for output in waiting:  # one after another: this keeps a person's outputs in order
            try:
                handed.append((output, await send(output)))
            except Exception as error:
                failed.append((output, error))
        results = await asyncio.gather(*[acknowledged for _, acknowledged in handed], return_exceptions=True)
        for (output, _), result in zip(handed, results, strict=True):
            if isinstance(result, asyncio.CancelledError):
                raise result
            if isinstance(result, Exception):
                failed.append((output, result))
        waiting = [output for output, _ in failed]
        if failed:
            again += len(failed)
            log.warning(
                "%d sends failed (%s): sending again in %.1f s", len(failed), type(failed[0][1]).__name__, delay
            )
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY_S)
    return again
