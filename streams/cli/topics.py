"""`cuestream topics create|check`."""

from __future__ import annotations

import argparse

from streams.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("action", choices=("create", "check"))


def run(args: argparse.Namespace) -> int:
    """0, or 1 where `check` found something wrong."""
    from streams.admin import check_topics, create_topics

    settings = load_settings(args.assignments)
    if args.action == "create":
        created = create_topics(settings)
        print("\n".join(f"created {name}" for name in created) or "every topic exists")
    problems = check_topics(settings)
    print("\n".join(problems) or f"all topics are right: {settings.partitions} partitions each")
    return 1 if problems else 0
