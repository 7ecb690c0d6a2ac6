"""Running a worker in this process: Faust's worker service with our logging, the rule feed and the status page."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import faust
from aiokafka.errors import KafkaError

from streams.app import Job
from streams.fetching import hand_over_at_once
from streams.freshness import STAMP_EVERY_S, stamp, wipe_if_stale
from streams.recovery import resume_at_rest
from streams.rulefeed import RuleFeed
from streams.settings import Settings
from streams.stages.ingest import Ingest
from streams.web import StatusPage

log = logging.getLogger(__name__)
RETRY_S = 2.0


class Quiet(logging.Filter):
    """Passes each message of a logger at most once in `seconds`: a broker outage otherwise logs thousands of lines a minute."""

    def __init__(self, seconds: float = 10.0) -> None:
        super().__init__()
        self._seconds = seconds
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message is let through."""
        key = (record.name, str(record.msg))
        if record.created - self._last.get(key, 0.0) < self._seconds:
            return False
        self._last[key] = record.created
        return True


def set_up_logging(level: int = logging.INFO) -> None:
    """Logs to standard error; the Kafka client only its errors, and those not in floods."""
    logging.basicConfig(
        level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    for name in ("aiokafka", "kafka", "faust", "mode"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Quiet())


def build_job(settings: Settings) -> Job:
    """The stages with the shipped models, bound to an app. Raises `ResourceError` before anything is half-loaded."""
    from streams.lanes import Lanes

    return Job(settings, Lanes.load(settings), Ingest(settings.privacy.dead_letter_bytes))


def run_worker(settings: Settings, job: Job | None = None, on_ready: Callable[[Job], None] | None = None) -> int:
    """Runs a worker until it is told to stop; returns the exit code."""
    job = job or build_job(settings)
    wipe_if_stale(_folder(job))
    stamp(_folder(job))
    hand_over_at_once()
    resume_at_rest()
    add_services(job, on_ready)
    worker = faust.Worker(job.app, override_logging=False, redirect_stdouts=False, loglevel="INFO", quiet=True)
    worker.spinner = None  # it would write terminal codes into logs
    gc.collect()
    gc.freeze()  # models and word lists stay for good: looking through them again would hold everything up for 50 ms and more
    try:
        worker.execute_from_commandline()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def _folder(job: Job) -> Path:
    """Where the worker's tables lie, as `faust_app` has it."""
    return Path(job.settings.data_dir) / "worker"


def add_services(job: Job, on_ready: Callable[[Job], None] | None = None) -> None:
    """The tasks that live beside the agents."""
    feed = RuleFeed(job.settings, job.engine.rules, job.work)
    page = StatusPage(job)

    @job.app.task
    async def rules() -> None:
        while True:  # an exception that left a task would end the whole worker
            try:
                await feed.catch_up()
                job.rules_known.set()
                await feed.follow()
            except KafkaError as error:
                log.warning("the rules topic cannot be read (%s): trying again", type(error).__name__)
                await asyncio.sleep(RETRY_S)
            finally:
                await feed.close()

    @job.app.task
    async def status() -> None:
        if job.settings.web_port:
            await page.start()
        if on_ready is not None:
            on_ready(job)
        try:
            while True:
                stamp(_folder(job))
                await asyncio.sleep(STAMP_EVERY_S)
        finally:
            await page.stop()
