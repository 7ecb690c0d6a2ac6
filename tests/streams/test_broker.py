"""The embedded broker: its data outlives a kill, and it never outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaProducer

from models.errors import ResourceError
from streams.admin import check_topics, create_topics
from streams.broker import EmbeddedBroker, running_broker
from streams.settings import load_settings
from tests.streams.conftest import ROOT, Cluster


def test_records_survive_a_kill(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path)
    broker.start()
    create_topics(load_settings([f"broker={broker.address}"], environ={}))
    producer = KafkaProducer(bootstrap_servers=broker.address)
    for number in range(500):
        producer.send("cuestream.utterances.raw", key=b"k", value=b"%d" % number)
    producer.flush()
    producer.close()
    os.kill(broker.pid, signal.SIGKILL)
    with EmbeddedBroker(tmp_path) as again:
        found = Cluster(again.address, tmp_path).read("utterances.raw")
    assert [record.value for record in found] == [b"%d" % number for number in range(500)]


def test_it_dies_with_its_owner_however_that_ends(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from streams.broker import EmbeddedBroker\n"
        f"b = EmbeddedBroker(pathlib.Path({str(tmp_path)!r})); b.start(); print(b.pid, flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    assert owner.stdout is not None
    assert int(owner.stdout.readline()) > 0
    assert running_broker(tmp_path) is not None
    owner.kill()
    owner.wait()
    limit = time.monotonic() + 5
    while running_broker(tmp_path) is not None and time.monotonic() < limit:
        time.sleep(0.05)
    assert running_broker(tmp_path) is None


def test_a_folder_in_use_is_refused_with_what_to_do(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from streams.broker import EmbeddedBroker\n"
        f"b = EmbeddedBroker(pathlib.Path({str(tmp_path)!r})); b.start(); print(b.pid, flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert owner.stdout is not None
        owner.stdout.readline()
        with pytest.raises(ResourceError, match="stop it, or choose another folder"):
            EmbeddedBroker(tmp_path).start()
    finally:
        owner.kill()
        owner.wait()


def test_check_names_a_wrong_partition_count(embedded: Cluster) -> None:
    assert check_topics(embedded.settings) == []
    other = load_settings([f"broker={embedded.address}", "partitions=8"], environ={})
    problems = check_topics(other)
    assert len(problems) == 15
    assert "4 partitions, the settings say 8" in problems[0]


def test_check_names_missing_topics(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        problems = check_topics(load_settings([f"broker={broker.address}"], environ={}))
    assert len(problems) == 15
    assert all("run `cuestream topics create`" in problem for problem in problems)
