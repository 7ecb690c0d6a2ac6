"""`cuestream offline IN… --out DIR`."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from streams.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="IN",
        help="utterance/1, asr/1, command/1 and rule/1 mixed, in order of arrival: JSONL, .gz, .parquet or -",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="where clean.jsonl … bundles.jsonl are written"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=os.cpu_count() or 1,
        help="worker processes (default: all cores); the output does not depend on it",
    )


def run(args: argparse.Namespace) -> int:
    """0, or 1 where something was dead-lettered."""
    from streams.offline import Progress
    from streams.offline import run as run_offline

    settings = load_settings(args.assignments)
    counts = run_offline(
        args.inputs, args.out, settings, max(1, min(args.processes, settings.partitions)), Progress(time.monotonic)
    )
    return 1 if counts["dead.letters"] else 0
