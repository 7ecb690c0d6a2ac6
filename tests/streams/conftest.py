"""Brokers and workers for the tests of the Faust side, all on loopback, all ended with the test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from streams.admin import create_topics
from streams.broker import EmbeddedBroker
from streams.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]


class Cluster:
    """A broker's address, a folder for workers, and what a test does with them."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        self.settings: Settings = load_settings([f"broker={address}", f"data_dir={folder}"], environ={})
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self, *command: str, name: str = "worker") -> subprocess.Popen[bytes]:
        """A worker process with the counting engine, or with the given module and arguments."""
        arguments = command or ("tests.streams.counting", self.address, str(self.folder / name))
        log = (self.folder / f"{name}.log").open("ab")
        worker = subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, stdout=log, stderr=log)
        self.workers.append(worker)
        return worker

    def send(self, records: list[tuple[str, bytes | None, bytes]]) -> None:
        """Produces (logical topic, key, value), in order; what has no key goes to partition 0."""
        producer = KafkaProducer(bootstrap_servers=self.address, max_request_size=4 * 2**20)
        for topic, key, value in records:
            producer.send(
                self.settings.topic_prefix + topic, key=key, value=value, partition=0 if key is None else None
            )
        producer.flush()
        producer.close()

    def read(self, topic: str, count: int | None = None, seconds: float = 60.0) -> list[Any]:
        """The records of a topic: up to its end, or until there are `count` (at most `seconds`)."""
        consumer = KafkaConsumer(bootstrap_servers=self.address, enable_auto_commit=False, fetch_max_wait_ms=50)
        places = [TopicPartition(self.settings.topic_prefix + topic, n) for n in range(self.settings.partitions)]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        found: list[Any] = []
        limit = time.monotonic() + seconds
        ends = consumer.end_offsets(places)
        while time.monotonic() < limit:
            for records in consumer.poll(timeout_ms=100).values():
                found += records
            if count is not None and len(found) >= count:
                break
            if count is None and all(consumer.position(place) >= ends[place] for place in places):
                break
        consumer.close()
        return found

    def committed(self, topic: str) -> dict[int, int]:
        """The worker group's committed offset by partition."""
        from kafka.admin import KafkaAdminClient

        admin = KafkaAdminClient(bootstrap_servers=self.address)
        offsets = admin.list_group_offsets(self.settings.app_id)
        admin.close()
        offsets = offsets.get(self.settings.app_id, offsets)
        return {
            place.partition: meta.offset
            for place, meta in offsets.items()
            if place.topic == self.settings.topic_prefix + topic
        }

    def stop(self) -> None:
        """Ends every worker."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            try:
                worker.wait(timeout=15)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Cluster]:
    """An embedded broker with the topics made."""
    with EmbeddedBroker(tmp_path / "broker") as broker:
        cluster = Cluster(broker.address, tmp_path)
        create_topics(cluster.settings)
        yield cluster
        cluster.stop()


def kafka_command() -> Path | None:
    """The script that starts a real Kafka: CUESTREAM_TEST_KAFKA, or one that lies beside the checkout."""
    named = os.environ.get("CUESTREAM_TEST_KAFKA")
    found = Path(named) if named else ROOT.parent / "shared" / "kafka" / "kafka"
    return found if found.is_file() and shutil.which("java") else None


def started_kafka(command: Path, data: Path) -> int:
    """Starts a broker and gives its port. Another process may take a free port before the broker does: then another one is tried."""
    for attempt in range(3):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        data.mkdir()
        done = subprocess.run(
            [str(command), "start", "--port", str(port), "--data", str(data)], check=attempt == 2, timeout=120
        )
        if done.returncode == 0:
            return port
        subprocess.run([str(command), "stop", "--data", str(data)], check=False, timeout=120)
        shutil.rmtree(data)
    raise AssertionError("unreachable")


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Cluster]:
    """A real Apache Kafka of one broker with the topics made."""
    command = kafka_command()
    if command is None:
        pytest.skip("no Apache Kafka: set CUESTREAM_TEST_KAFKA to a script that starts one, and install Java 17")
    data = tmp_path / "kafka"
    port = started_kafka(command, data)
    try:
        cluster = Cluster(f"127.0.0.1:{port}", tmp_path)
        create_topics(cluster.settings)
        yield cluster
        cluster.stop()
    finally:
        subprocess.run([str(command), "stop", "--data", str(data)], check=False, timeout=120)
