"""`cuestream reindex`: the vectors of all that is remembered made anew by the encoder of the settings, on a stopped installation."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import msgspec

from models.errors import ResourceError
from streams.settings import Settings, load_settings

SHOWN_EVERY_S = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.description = (
        "Makes the vectors of all units anew with the encoder of the settings (CUESTREAM_ENCODER), from the text in their rows. Stop the "
        "workers (or `cuestream up`) first. A run that was cut short is begun again and goes on with who is missing."
    )


def run(args: argparse.Namespace) -> int:
    """0 when every vector is the encoder's."""
    from models.encoder import Encoder
    from streams.broker import EmbeddedBroker, running_broker
    from streams.cli.common import DEFAULT_BROKER
    from streams.reindex import reindex

    settings = load_settings(args.assignments)
    folder = Path(settings.data_dir)
    if not settings.broker and running_broker(folder) is not None:
        raise ResourceError(f"`cuestream up` is running on {folder}: stop it first, and start it afterwards")
    own = not settings.broker and (folder / "broker").is_dir()
    encoder = Encoder.load(settings.encoder or None)
    with EmbeddedBroker(folder) if own else nullcontext() as broker:
        address = broker.address if broker is not None else settings.broker or DEFAULT_BROKER
        settings = msgspec.structs.replace(settings, broker=address)
        print(
            f"vectors of {encoder.name} ({encoder.dimension} numbers), rows of {_where(settings, own)}", file=sys.stderr
        )
        progress = Progress()
        persons, vectors = reindex(
            settings, encoder.name, lambda texts: [found.passage for found in encoder.encode(texts)], progress.show
        )
        progress.close()
    print(f"{persons} persons, {vectors} vectors made anew; workers take them up when they start")
    return 0


def _where(settings: Settings, own: bool) -> str:
    return f"{settings.data_dir} (its broker runs for this command only)" if own else settings.broker


class Progress:
    """A line on standard error, at most once a second; rewritten in place on a terminal."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._last = ""

    def show(self, line: str) -> None:
        """Shows a line unless one was shown just now."""
        self._last = line
        now = time.monotonic()
        if now - self._shown >= SHOWN_EVERY_S:
            self._shown = now
            self._write(line)

    def close(self) -> None:
        """Shows where it ended."""
        if self._last:
            self._write(self._last)
            if sys.stderr.isatty():
                sys.stderr.write("\n")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r{line}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()
