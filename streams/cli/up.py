"""`cuestream up`: the embedded broker and a worker on this machine. After a kill it goes on where it was."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from streams.settings import Settings, WorkerSection, load_settings

EMBEDDED_SESSION_S, EMBEDDED_HEARTBEAT_S = 6.0, 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "--port", type=int, default=0, help="the broker's port (default: the one it had, or a free one)"
    )


def run(args: argparse.Namespace) -> int:
    """The worker's exit code."""
    from streams.admin import create_topics
    from streams.broker import EmbeddedBroker
    from streams.worker import build_job, run_worker, set_up_logging

    set_up_logging()
    settings = embedded(load_settings(args.assignments))
    with EmbeddedBroker(Path(settings.data_dir), args.port, keep_up=True) as broker:
        settings = msgspec.structs.replace(settings, broker=broker.address)
        create_topics(settings)
        print(f"broker {broker.address}, data in {settings.data_dir}", file=sys.stderr)
        job = build_job(settings)
        return run_worker(settings, job, on_ready=lambda _: _announce(settings))


def embedded(settings: Settings) -> Settings:
    """The settings for one machine: quick group membership unless told otherwise."""
    if settings.worker.session_timeout != WorkerSection().session_timeout:
        return settings
    worker = msgspec.structs.replace(
        settings.worker, session_timeout=EMBEDDED_SESSION_S, heartbeat=EMBEDDED_HEARTBEAT_S
    )
    return msgspec.structs.replace(settings, worker=worker)


def _announce(settings: Settings) -> None:
    page = f", status http://127.0.0.1:{settings.web_port}" if settings.web_port else ""
    print(f"up: send events to {settings.broker}{page}; Ctrl-C stops", file=sys.stderr, flush=True)
