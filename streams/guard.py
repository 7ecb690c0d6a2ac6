"""The guard around a stage: what is transient is tried again, what fails becomes dead letters; an agent never raises."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn, TypeVar

from models.errors import RecordError, ResourceError, UnavailableError
from streams.messages import Batch, Message
from streams.stages.ingest import dead_letter
from tables.store import Readable, Transaction

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Process = Callable[[Sequence[Message], Readable], Batch]
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 5.0
FAIL_STOP = 70
"""Exit code of a worker that must not go on (disk full, a table that cannot be written)."""


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


def guarded(stage: str, process: Process, messages: Sequence[Message], rows: Readable, keep_bytes: bool) -> Batch:
    """The stage's answer to a batch; if it raises, each message alone, and those that fail again as dead letters.

    Raises nothing but `UnavailableError` (try again) and `ResourceError` (a file of the job is bad: no record is to blame).
    """
    try:
        return process(messages, rows)
    except (UnavailableError, ResourceError):
        raise
    except Exception as error:
        _tell(stage, f"a batch of {len(messages)}, taken one by one now", error)
    result, transaction = Batch(), Transaction(rows)
    for index, message in enumerate(messages):
        try:
            part = process([message], transaction)
        except (UnavailableError, ResourceError):
            raise
        except Exception as error:
            _tell(stage, f"{message.topic}/{message.partition}/{message.offset}, dead-lettered", error)
            refused = RecordError("internal_error", type(error).__name__)
            part = Batch(caused_outputs=[(0, dead_letter(message, stage, refused, keep_bytes))])
        result.caused_outputs.extend((index, output) for _, output in part.caused_outputs)
        for _, key, value in part.puts:
            result.puts.append((index, key, value))
            if value is None:
                transaction.delete(key)
            else:
                transaction.put(key, value)
    return result


def _tell(stage: str, what: str, error: Exception) -> None:
    """Logs where it failed, but not the error's message: it may quote what somebody said."""
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("the %s stage failed on %s: %s\n%s", stage, what, type(error).__name__, where)


def fail_stop(why: str) -> NoReturn:
    """Ends the process at once. Raising instead would acknowledge, and so lose, the events in hand."""
    log.critical("%s: this worker stops here; nothing is committed that was not finished", why)
    logging.shutdown()
    os._exit(FAIL_STOP)
