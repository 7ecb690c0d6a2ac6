"""`cuestream tune LABELS BUNDLES`: the cue weights that put the labelled cues first (R3)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from models.errors import ResourceError
from models.train.tune_cues import tune


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("labels", type=Path, help='JSON lines {"probe_event_id", "relevant_event_ids"}')
    parser.add_argument("bundles", type=Path, help="bundles.jsonl of `cuestream offline --set recall.max_cues=20`")
    parser.add_argument("--mlp", type=Path, default=None, help="train the small network instead, and write it here")


def run(args: argparse.Namespace) -> int:
    """0 and the table on standard output; 2 where a file cannot be read, 1 where no bundle has a label."""
    try:
        report = tune(args.labels, args.bundles, args.mlp)
    except (OSError, ValueError, KeyError) as error:
        raise ResourceError(f"{args.labels} or {args.bundles}: not labels and bundles ({error})") from error
    if report is None:
        print("no bundle has both a label and cues to choose between", file=sys.stderr)
        return 1
    print(report)
    return 0
