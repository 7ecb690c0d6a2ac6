"""Patience with a broker that answers an empty fetch at once.

A Kafka broker holds a fetch until there is data (Faust asks for up to 1.5 s); the embedded one answers at once, and aiokafka asks again at
once: 1,100 fetches a second that keep a core busy. Here a fetch that came back early with nothing is followed by a pause.
On a real Kafka none ever is, so nothing changes there.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka.consumer.fetcher import Fetcher

EARLY_S = 0.025
"""An empty answer sooner than this was not waited for."""
PAUSE_S, IDLE_PAUSE_S = 0.003, 0.02
"""The pause while records come in, and after `IDLE_AFTER_S` without one."""
IDLE_AFTER_S = 2.0

_fetch = Fetcher._proc_fetch_request


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


def be_patient() -> None:
    """Makes every aiokafka consumer of this process patient. May be called again."""
    Fetcher._proc_fetch_request = _patient_fetch
