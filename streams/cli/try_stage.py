"""`cuestream try STAGE [CASE]`: one stage on JSON lines from standard input, or on one case given as an argument."""

from __future__ import annotations

import argparse
import importlib
import sys

STAGES = ("times", "pii", "coref", "affect", "intent", "entropy", "language")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument(
        "case",
        nargs="?",
        help='a JSON object {"id", "text", "now"?, "context"?, "speaker_role"?, "lang"?}, or plain text',
    )


def run(args: argparse.Namespace) -> int:
    """0, or 1 where a line could not be answered."""
    import msgspec

    from streams.settings import load_settings
    from streams.trials import answer_lines

    trial = importlib.import_module(f"streams.trials.{args.stage}").build(load_settings(args.assignments))
    lines = sys.stdin
    if args.case is not None:
        text = (
            args.case
            if args.case.lstrip().startswith("{")
            else msgspec.json.encode({"id": None, "text": args.case}).decode()
        )
        lines = [text]
    failed = False
    for answer in answer_lines(trial, lines):
        failed |= b'"error":' in answer[:200] and "error" in msgspec.json.decode(answer)
        sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    return int(failed)
