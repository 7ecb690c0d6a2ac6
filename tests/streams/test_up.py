"""`cuestream up`: quick to its first event, and after a kill of everything it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka.errors import KafkaError

from models.errors import CuestreamError
from streams.broker import running_broker
from tests.streams.conftest import ROOT, Cluster


@contextmanager
def up(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A running `up`, ended with the block."""
    with (folder / "up.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streams.cli.main", "up", "--set", f"data_dir={folder / 'data'}", "--set", "web_port=0"],
            cwd=ROOT, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=20)


def reachable(folder: Path, seconds: float) -> Cluster:
    """The cluster, once the broker answers."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        address = running_broker(folder / "data")
        if address is not None:
            cluster = Cluster(address, folder)
            try:
                cluster.read("utterances.raw")
                return cluster
            except (KafkaError, KeyError, CuestreamError):
                pass
        time.sleep(0.05)
    raise AssertionError((folder / "up.log").read_text(encoding="utf-8"))


def utterance(number: int) -> tuple[str, bytes, bytes]:
    record = {
        "schema": "utterance/1", "event_id": f"e{number}", "user_id": f"u{number % 5}", "session_id": "S",
        "speaker": {"id": "c", "role": "customer"}, "text": f"订单 OD-{10000 + number} 什么时候发货？", "ts": "2026-03-02T10:00:00+08:00",
    }  # fmt: skip
    return "utterances.raw", f"default/u{number % 5}".encode(), json.dumps(record, ensure_ascii=False).encode()


def answered(cluster: Cluster, count: int, seconds: float) -> set[str]:
    """The events that have a bundle, once there are `count`."""
    limit = time.monotonic() + seconds
    seen: set[str] = set()
    while len(seen) < count and time.monotonic() < limit:
        seen = {json.loads(record.value)["event_id"] for record in cluster.read("cues.bundles")}
        time.sleep(0.05)
    return seen


def test_first_event_soon_and_on_after_a_kill_of_everything(tmp_path: Path) -> None:
    begun = time.monotonic()
    with up(tmp_path) as process:
        cluster = reachable(tmp_path, 20)
        cluster.send([utterance(0)])
        assert answered(cluster, 1, 30) == {"e0"}
        # 10 s on an idle machine; a loaded one gets three times that
        assert time.monotonic() - begun < 10 * max(1.0, min(3.0, os.getloadavg()[0] / 2))
        cluster.send([utterance(number) for number in range(1, 60)])
        answered(cluster, 10, 30)
        broker = json.loads((tmp_path / "data" / "broker.json").read_text(encoding="utf-8"))["pid"]
        process.kill()
        os.kill(broker, signal.SIGKILL)
        process.wait()
    address = cluster.address
    with up(tmp_path):
        cluster = reachable(tmp_path, 20)
        assert cluster.address == address, "front ends find it where it was"
        cluster.send([utterance(number) for number in range(60, 70)])
        assert answered(cluster, 70, 60) == {f"e{number}" for number in range(70)}
        units = [json.loads(record.value) for record in cluster.read("memory.units") if record.value]
        assert len({unit["unit_id"] for unit in units}) == len(
            {(unit["source_event_ids"][0], unit["start"]) for unit in units}
        )
    assert running_broker(tmp_path / "data") is None, "nothing is left running"
