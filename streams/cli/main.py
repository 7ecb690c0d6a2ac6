"""`cuestream`: finds the command's module and runs it. Nothing heavy is imported before a command needs it.

Exit codes: 0 done, 1 something was dead-lettered or failed, 2 wrong use.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from models.errors import CuestreamError, ResourceError

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("up", "everything on one machine: embedded broker, worker, status page"),
    "demo": ("demo", "a real-looking conversation through everything, and what comes to mind"),
    "worker": ("worker", "a worker against CUESTREAM_BROKER; as many as there are partitions"),
    "topics": ("topics", "create or check the topics"),
    "offline": ("offline", "the same stages over files, without a broker"),
    "try": ("try_stage", "one stage on JSON lines: times, pii, coref, affect, intent, entropy, language"),
    "recall": ("recall", "one bundle from the running worker's state, as a probe"),
    "reindex": ("reindex", "the vectors of all that is remembered made anew, for another encoder"),
    "train": ("train", "retrain a model: intent, emotion, load, affect, segments, types, entropy, coref, encoder"),
    "tune": ("tune", "cue weights from labelled lines, by grid search or as a small network"),
    "dead": ("dead", "list dead letters, or feed them again"),
}
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser; only the module of the command asked for is imported."""
    parser = argparse.ArgumentParser(
        prog="cuestream", description="Memory for chat and voice agents, as a stream-processing job."
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, summary) in COMMANDS.items():
        sub = subparsers.add_parser(name, help=summary, description=summary)
        if name == command:
            importlib.import_module(f"streams.cli.{module}").add_arguments(sub)
            sub.add_argument(
                "--set", dest="assignments", action="append", default=[], metavar="KEY=VALUE", help="override a setting"
            )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    for name in BLAS_THREADS:  # before numpy is imported: its idle threads spin, and take the second core from the rest
        os.environ.setdefault(name, "1")
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = next((item for item in arguments if item in COMMANDS), None)
    args = build_parser(command).parse_args(arguments)
    try:
        return int(importlib.import_module(f"streams.cli.{COMMANDS[args.command][0]}").run(args))
    except ResourceError as error:
        print(f"cuestream {args.command}: {error}", file=sys.stderr)
        return 2
    except CuestreamError as error:
        print(f"cuestream {args.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
