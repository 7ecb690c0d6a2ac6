"""`cuestream demo`: the shipped conversation through `up`, turn by turn, and what comes to mind at each."""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from models.errors import UnavailableError
from streams.broker import running_broker
from streams.settings import load_settings

START_LIMIT_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the data in this folder, to look at it with `cuestream up --set data_dir=DIR`",
    )
    parser.add_argument("--json", action="store_true", help="print the bundles as JSON lines instead")


def run(args: argparse.Namespace) -> int:
    """0 when every turn was answered."""
    from streams.demo.feed import Feeder, load_conversation
    from streams.demo.show import Screen

    folder = Path(args.keep) if args.keep else Path(tempfile.mkdtemp(prefix="cuestream-demo-"))
    screen = Screen(sys.stdout, as_json=args.json)
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "worker.log"
    with log.open("wb") as stream:
        worker = subprocess.Popen(
            [sys.executable, "-m", "streams.cli.main", "up", "--set", f"data_dir={folder}", "--set", "web_port=0"],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        screen.note("starting the embedded broker and a worker …")
        _wait_until_up(worker, log)
        broker = running_broker(folder)
        if broker is None:
            raise UnavailableError("the embedded broker ended before the demo began")
        settings = load_settings([f"broker={broker}", f"data_dir={folder}"])
        screen.note(f"up after {time.monotonic() - begun:.1f} s; the conversation comes in on the raw topics")
        with Feeder(settings) as feeder:
            conversation = load_conversation()
            for place, record in enumerate(conversation, 1):
                screen.turn(place, len(conversation), record, feeder.feed(record))
            screen.summary(feeder.totals, time.monotonic() - begun)
        return 0
    finally:
        _stop(worker)
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _wait_until_up(worker: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + START_LIMIT_S
    while time.monotonic() < limit:
        said = log.read_text(encoding="utf-8", errors="replace")
        if "up: send events" in said:
            return
        if worker.poll() is not None:
            raise UnavailableError(f"the worker ended at its start: {said.strip()[-500:]}")
        time.sleep(0.05)
    raise UnavailableError(f"the worker was not up after {START_LIMIT_S:g} s: {said.strip()[-500:]}")


def _stop(worker: subprocess.Popen[bytes]) -> None:
    """Ends the worker, and with it its broker."""
    if worker.poll() is None:
        worker.send_signal(signal.SIGTERM)
        try:
            worker.wait(timeout=10)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
