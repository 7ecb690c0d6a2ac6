"""`cuestream worker`: one worker against the broker of the settings."""

from __future__ import annotations

import argparse

from streams.cli.common import settings_with_broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments: none but settings."""


def run(args: argparse.Namespace) -> int:
    """The worker's exit code."""
    from models.errors import ResourceError
    from streams.admin import check_topics
    from streams.worker import build_job, run_worker, set_up_logging

    settings = settings_with_broker(args.assignments)
    set_up_logging()
    problems = check_topics(settings)
    if problems:
        raise ResourceError("; ".join(problems))
    return run_worker(settings, build_job(settings))
