"""How much an agent takes at a time: what is waiting, up to a bound, and at once."""

from __future__ import annotations

from typing import Any


class WhatWaits:
    """The `max_` of ``stream.take_events``: a batch is full when it has `most` events or no further one waits.

    Faust asks ``len(buffer) >= max_`` after each event and otherwise waits for `within` seconds, which a lone event would
    spend for nothing. So a lone event goes on at once, and under load batches grow by themselves. `within` then only says how
    often Faust looks for nothing: at 5 ms that took an eighth of a core.
    """

    def __init__(self, most: int, stream: Any) -> None:
        self._most, self._queue = most, stream.channel.queue

    def __le__(self, size: int) -> bool:
        return size >= self._most or self._queue.empty()
