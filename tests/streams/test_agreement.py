"""`offline` and the topics agree, record for record, byte for byte, with bad records among them."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

from bench.conversation import utterances
from streams.offline import FILES
from streams.offline import run as run_offline
from streams.routing import route
from tests.streams.conftest import Cluster
from tests.streams.test_delivery import BAD


def mixed_input() -> list[bytes]:
    """500 utterances of two languages with 50 bad records, an ASR call, two commands and a rule among them."""
    lines: list[bytes] = []
    for number, line in enumerate(utterances(500, persons=23)):
        lines.append(line)
        if number % 10 == 9:
            lines.append(BAD[(number // 10) % len(BAD)][1](number))
        if number % 50 == 25:
            lines += _call(number)
        if number == 120:
            lines.append(line)  # the same event again: changes nothing
        if number == 130:
            lines.append(
                line.replace("，".encode(), b",").replace(b'"text": "', b'"text": "X')
            )  # the same id, other words
    lines.append(_command("forget", "person-3", {"text": "OD-10021"}))
    lines.append(_command("logout", "person-4", {}))
    return lines


def _call(number: int) -> list[bytes]:
    base = {
        "schema": "asr/1", "tenant": "bench", "user_id": f"caller-{number}", "session_id": f"call-{number}", "segment_id": "g1",
        "speaker": {"id": "c", "role": "customer"}, "ts": "2026-03-02T11:00:00+08:00",
    }  # fmt: skip
    partial = {**base, "revision": 1, "is_final": False, "text": "我想退"}
    final = {
        **base, "revision": 2, "is_final": True, "text": "我想退掉那台扫地机器人", "end_ms": 2100,
        "words": [{"w": "我想", "start_ms": 0, "end_ms": 400, "p": 0.9}, {"w": "退掉", "start_ms": 1600, "end_ms": 1900, "p": 0.8}],
    }  # fmt: skip
    return [json.dumps(item, ensure_ascii=False).encode() for item in (partial, final)]


def _command(kind: str, user: str, scope: dict[str, str]) -> bytes:
    return json.dumps(
        {"schema": "command/1", "command_id": f"{kind}-{user}", "kind": kind, "tenant": "bench", "user_id": user, "scope": scope,
         "ts": "2026-03-02T12:00:00+08:00"}
    ).encode()  # fmt: skip


def by_person(values: list[bytes]) -> dict[str, list[bytes]]:
    """The records of each person in order, a repeated one once; dead letters by their source."""
    found: dict[str, dict[bytes, None]] = defaultdict(dict)
    for value in values:
        record = json.loads(value)
        name = f"{record['tenant']}/{record['user_id']}" if "tenant" in record else json.dumps(record["source"])
        found[name][value] = None
    return {name: list(records) for name, records in sorted(found.items())}


def agree(cluster: Cluster, folder: Path, worker: tuple[str, ...]) -> None:
    """Runs the same input both ways and compares every topic."""
    lines = mixed_input()
    source = folder / "input.jsonl"
    source.write_bytes(b"\n".join(lines) + b"\n")
    counts = run_offline([str(source)], folder / "out", cluster.settings, processes=1)
    assert counts["dead.letters"] >= 51 and counts["cues.bundles"] > 200
    cluster.start_worker(*worker)
    routed = [(*route(line), line) for line in lines]
    cluster.send([item for item in routed if item[0] != "memory.commands"])
    expected = {topic: by_person((folder / "out" / name).read_bytes().splitlines()) for topic, name in FILES.items()}
    _wait_for(cluster, "utterances.affect", sum(map(len, expected["utterances.affect"].values())))
    cluster.send([item for item in routed if item[0] == "memory.commands"])
    for topic, wanted in expected.items():
        _wait_for(cluster, topic, sum(map(len, wanted.values())))
        real = by_person([record.value for record in cluster.read(topic)])
        assert real == wanted, topic


def _wait_for(cluster: Cluster, topic: str, count: int) -> None:
    limit = time.monotonic() + 90
    while len(cluster.read(topic)) < count and time.monotonic() < limit:
        time.sleep(0.3)


def test_offline_equals_the_topics_on_the_embedded_broker(embedded: Cluster, tmp_path: Path) -> None:
    agree(embedded, tmp_path, worker_command(embedded))


@pytest.mark.kafka
def test_offline_equals_the_topics_on_a_real_kafka(kafka: Cluster, tmp_path: Path) -> None:
    agree(kafka, tmp_path, worker_command(kafka))


def test_the_number_of_processes_does_not_show(tmp_path: Path) -> None:
    from streams.settings import load_settings

    source = tmp_path / "input.jsonl"
    source.write_bytes(b"\n".join(mixed_input()[:200]) + b"\n")
    settings = load_settings(environ={})
    for processes in (1, 2):
        run_offline([str(source)], tmp_path / str(processes), settings, processes=processes)
    for name in FILES.values():
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def worker_command(cluster: Cluster) -> tuple[str, ...]:
    """The command line's own worker on the cluster."""
    return (
        "streams.cli.main", "worker", "--set", f"broker={cluster.address}", "--set", f"data_dir={cluster.folder / 'real'}",
        "--set", "web_port=0", "--set", "worker.session_timeout=6", "--set", "worker.heartbeat=1",
    )  # fmt: skip
