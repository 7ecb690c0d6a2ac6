"""The embedded broker as a child process that is owned (`up`, `demo`, tests).

Its data is on disk before it acknowledges, so it may be killed at any time. It ends with its owner, however that ends.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from models.errors import ResourceError

log = logging.getLogger(__name__)
START_LIMIT_S = 20.0
WATCH_S = 0.25
MODULE = "streams.embedded"
"""What is run as the broker."""
_PR_SET_PDEATHSIG = 1


class EmbeddedBroker:
    """A broker on 127.0.0.1 with its data in a folder. Use as a context manager.

    `port` 0 takes the folder's last one, or a free one. The address stands in ``broker.json`` of the folder while it runs, so that
    other commands find it. With `keep_up`, a broker that dies is started again on its data.
    """

    def __init__(self, data_dir: Path, port: int = 0, keep_up: bool = False) -> None:
        self._folder = data_dir
        self._port = port
        self._keep_up = keep_up
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()

    @property
    def address(self) -> str:
        """``host:port`` for clients."""
        return f"127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Process id of the running broker."""
        assert self._process is not None, "the broker is not running"
        return self._process.pid

    def start(self) -> None:
        """Starts the broker and returns when it answers. Raises `ResourceError` if it does not."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._stop_stale()
        self._port = self._port or self._last_port() or _free_port()
        self._launch()
        if self._keep_up:
            threading.Thread(target=self._watch, name="broker", daemon=True).start()

    def _launch(self) -> None:
        with (self._folder / "broker.log").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, "--port", str(self._port), "--data", str(self._folder / "broker")],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent,
                start_new_session=True,
            )
        self._wait()
        record = {"address": self.address, "pid": self._process.pid, "owner": os.getpid()}
        (self._folder / "broker.json").write_text(json.dumps(record), encoding="utf-8")
        (self._folder / "broker" / "port").write_text(str(self._port), encoding="utf-8")

    def _watch(self) -> None:
        """Starts the broker again when it dies. Its own thread, which lives on: a child ends with the thread that made it."""
        while not self._stopping.wait(WATCH_S):
            if self._process is not None and self._process.poll() is not None:
                log.error("the embedded broker died (exit code %s): starting it again", self._process.returncode)
                with suppress(ResourceError):
                    self._launch()

    def _last_port(self) -> int:
        """The port that this folder's broker had, if it is free; else 0."""
        try:
            port = int((self._folder / "broker" / "port").read_text(encoding="utf-8"))
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except (OSError, ValueError):
            return 0
        return port

    def stop(self) -> None:
        """Stops the broker; its data stays."""
        self._stopping.set()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        with suppress(FileNotFoundError):
            (self._folder / "broker.json").unlink()

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _stop_stale(self) -> None:
        """Ends a broker that outlived its owner; refuses to share the folder with one whose owner lives."""
        record = _read_record(self._folder)
        if record is None or not _is_broker(record["pid"]):
            return
        if _alive(record["owner"]) and record["owner"] != os.getpid():
            raise ResourceError(
                f"{self._folder}: in use by the running process {record['owner']} (broker {record['address']}); "
                "stop it, or choose another folder with --set data_dir=…"
            )
        os.kill(record["pid"], signal.SIGKILL)
        limit = time.monotonic() + 5
        while _is_broker(record["pid"]) and time.monotonic() < limit:
            time.sleep(0.02)

    def _wait(self) -> None:
        assert self._process is not None
        limit = time.monotonic() + START_LIMIT_S
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                break
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=0.2):
                return
            time.sleep(0.01)
        self.stop()
        raise ResourceError(
            f"the embedded broker did not start on port {self._port}: see {self._folder / 'broker.log'}"
        )


def running_broker(data_dir: Path) -> str | None:
    """The address of the broker that runs on a data folder, or None."""
    record = _read_record(data_dir)
    return record["address"] if record is not None and _is_broker(record["pid"]) else None


def _read_record(folder: Path) -> dict[str, Any] | None:
    try:
        return json.loads((folder / "broker.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(pid) != "Z"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "?"


def _is_broker(pid: int) -> bool:
    """Whether the process is (still) a broker of ours: a recycled process id must never be killed."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return MODULE.encode() in command and _state(pid) != "Z"


def _die_with_parent() -> None:
    with suppress(OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
