"""A worker with the fake engine, run as a process of its own by the tests: ``python fake_worker.py key=value …``."""

from __future__ import annotations

import sys

from streams.app import Job
from streams.settings import load_settings
from streams.stages.ingest import Ingest
from streams.worker import run_worker, set_up_logging
from tests.streams.fakes import FakeEngine

if __name__ == "__main__":
    settings = load_settings(sys.argv[1:])
    set_up_logging()
    sys.exit(run_worker(settings, Job(settings, FakeEngine(), Ingest())))  # type: ignore[arg-type]
