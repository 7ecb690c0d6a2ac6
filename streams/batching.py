"""How much an agent takes at a time: what is waiting, up to a bound, and at once.

Faust's own `take_events` passes each event through a background task and waits for a full buffer by timers and three tasks a batch. Here
the first event comes from Faust's iterator and the rest straight from its queue, under the same rules.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any


async def batches(stream: Any, most: int) -> AsyncIterator[list[Any]]:
    """Faust events of a stream, at most `most` at a time: a lone event goes on at once, and under load batches grow by themselves.

    A batch is acknowledged when the next one is asked for; one that was not finished stays unacknowledged and is read again.
    """
    stream.enable_acks = False  # by Faust's iterator, which would acknowledge the first event alone
    queue = stream.channel.queue
    async for first in stream.events():
        events = [first]
        while len(events) < most and not queue.empty():
            event = queue.get_nowait()
            if _admitted(stream.app, event):
                events.append(event)
        yield events
        for event in events:
            event.ack()


def _admitted(app: Any, event: Any) -> bool:
    """As Faust's iterator: marks an event as in hand, unless it is left over from before a rebalance."""
    message = event.message
    if not app.flow_control.is_active() or message.generation_id != app.consumer_generation_id:
        return False
    if not message.tracked:
        message.tracked = True
        app.consumer.unacked.add(message)
    return True
