"""The embedded broker: a Kafka-protocol server from the package index, owned as a child process (`up`, `demo`, tests).

It keeps its data on disk and survives a kill. A group member that was killed holds its place for 60 s in this broker unless the
broker is restarted too, so the broker dies with its owner, however that ends, and is started anew with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from models.errors import ResourceError

START_LIMIT_S = 20.0
_PR_SET_PDEATHSIG = 1


class EmbeddedBroker:
    """A broker on 127.0.0.1 with its data in a folder. Use as a context manager.

    `port` 0 picks a free one. The address stands in ``broker.json`` of the folder while it runs, so that other commands find it.
    """

    def __init__(self, data_dir: Path, port: int = 0) -> None:
        self._folder = data_dir
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

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
        self._port = self._port or _free_port()
        executable = _executable()
        with (self._folder / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [executable, "start", "--only", "kafka", "--kafka-port", str(self._port), "--data-dir", str(self._folder / "broker")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent,
                start_new_session=True,
            )  # fmt: skip
        self._wait()
        record = {"address": self.address, "pid": self._process.pid, "owner": os.getpid()}
        (self._folder / "broker.json").write_text(json.dumps(record), encoding="utf-8")

    def stop(self) -> None:
        """Stops the broker; its data stays."""
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
    return b"noida-db" in command and _state(pid) != "Z"


def _die_with_parent() -> None:
    with suppress(OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _executable() -> str:
    import noida_db

    path = Path(noida_db.__file__).parent / "noida-db"
    if not path.is_file():
        raise ResourceError(f"{path}: the embedded broker is not installed: pip install noida-db")
    return str(path)
