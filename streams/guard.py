"""The guard around a stage: what is transient is tried again, what is not becomes dead letters; an agent never raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from models.errors import UnavailableError

log = logging.getLogger(__name__)
Result = TypeVar("Result")
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 5.0


async def until_available(work: Callable[[], Awaitable[Result]]) -> Result:
    """Runs work, again and again while it raises `UnavailableError`, with growing pauses."""
    delay = FIRST_DELAY_S
    while True:
        try:
            return await work()
        except UnavailableError as error:
            log.warning("%s: trying again in %.1f s", error, delay)
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY_S)
