"""``python -m streams.embedded --port PORT --data DIR``: the broker as a process of its own, on the loopback address."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import signal
import sys
from pathlib import Path

from streams.embedded.api import Api
from streams.embedded.server import serve
from streams.embedded.store import Store

HOST = "127.0.0.1"


async def run(port: int, data: Path) -> None:
    """Serves until SIGTERM or SIGINT."""
    task = asyncio.ensure_future(serve(Api(Store(data), HOST, port), HOST, port))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m streams.embedded")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    gc.freeze()
    asyncio.run(run(arguments.port, arguments.data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
