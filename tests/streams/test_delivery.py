"""At least once in, exactly once in effect: bad records, a SIGKILL in the middle, a wiped data folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

import pytest
from kafka.errors import KafkaError

from streams.admin import create_topics
from streams.broker import EmbeddedBroker
from streams.routing import route
from tests.streams.conftest import Cluster

BAD = [
    ("not_json", lambda n: b"this is not json %d" % n),
    ("not_utf8", lambda n: b'{"schema":"utterance/1","n":%d,"text":"\xff\xfe"}' % n),
    ("missing_session_id", lambda n: _event(n, session_id=None)),
    ("unknown_schema", lambda n: _event(n, schema="utterance/9")),
    ("ts_without_zone", lambda n: _event(n, ts="2026-03-02T10:00:00")),
    ("text_null", lambda n: _event(n, text=None)),
    ("text_not_string", lambda n: _event(n, text=7)),
    ("text_blank", lambda n: _event(n, text="  ")),
]


def _event(number: int, **fields: object) -> bytes:
    base = {
        "schema": "utterance/1",
        "event_id": f"e{number}",
        "user_id": f"用户 {number % 17}",
        "session_id": "S",
        "text": f"第{number}句话",
        "ts": "2026-03-02T10:00:00+08:00",
    }
    return json.dumps({**base, **fields}, ensure_ascii=False).encode()


def mixed(count: int) -> tuple[list[tuple[str, bytes | None, bytes]], Counter[str], dict[bytes, list[str]]]:
    """`count` records of which every tenth is bad, the reasons they should get, and each person's good events in order."""
    records, reasons = [], Counter()
    persons: dict[bytes, list[str]] = defaultdict(list)
    for number in range(count):
        if number % 10 == 9:
            reason, make = BAD[(number // 10) % len(BAD)]
            value = make(number)
            reasons[reason] += 1
        else:
            value = _event(number)
        topic, key = route(value)
        if number % 10 != 9:
            assert key is not None
            persons[key].append(f"e{number}")
        records.append((topic, key, value))
    return records, reasons, persons


def check(cluster: Cluster, reasons: Counter[str], persons: dict[bytes, list[str]], raw: int) -> None:
    """Every good event applied once and in its order, every bad one dead-lettered with its reason, all offsets committed."""
    good = sum(len(events) for events in persons.values())
    counted: dict[bytes, dict[str, int]] = defaultdict(dict)
    for record in cluster.read("cues.bundles"):
        found = json.loads(record.value)
        known = counted[record.key].setdefault(found["event_id"], found["count"])
        assert known == found["count"], "a repeated output differs from the first"
    assert sum(len(events) for events in counted.values()) == good
    for person, events in persons.items():
        assert [counted[person][event] for event in events] == list(range(1, len(events) + 1))
    dead: dict[tuple[str, int, int], str] = {}
    order: dict[int, list[int]] = defaultdict(list)
    for record in cluster.read("dead.letters"):
        letter = json.loads(record.value)
        source = letter["source"]
        place = (source["topic"], source["partition"], source["offset"])
        if place not in dead:
            order[source["partition"]].append(source["offset"])
        dead[place] = letter["reason"]
    assert Counter(dead.values()) == reasons
    assert all(offsets == sorted(offsets) for offsets in order.values())
    limit = time.monotonic() + 15
    while sum(cluster.committed("utterances.raw").values()) < raw and time.monotonic() < limit:
        time.sleep(0.2)
    assert sum(cluster.committed("utterances.raw").values()) == raw


def wait_until_all_are_there(cluster: Cluster, good: int) -> None:
    """Waits until every good event has its output."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        with suppress(KafkaError, KeyError):  # the broker may be away
            seen = {json.loads(record.value)["event_id"] for record in cluster.read("cues.bundles")}
            if len(seen) >= good:
                return
        time.sleep(0.5)


def run_with_a_kill(cluster: Cluster, events: int) -> None:
    """Feeds the events, kills the worker in the middle, starts it again, waits for the rest."""
    records, reasons, persons = mixed(events)
    first = cluster.start_worker()
    cluster.send(records)
    good = events - sum(reasons.values())
    cluster.read("cues.bundles", count=good // 3)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert len(cluster.read("cues.bundles")) < good, "the kill came too late to test anything"
    cluster.start_worker()
    wait_until_all_are_there(cluster, good)
    check(cluster, reasons, persons, events)


@pytest.mark.kafka
def test_a_kill_on_a_real_kafka(kafka: Cluster) -> None:
    run_with_a_kill(kafka, 1000)


def test_a_kill_on_the_embedded_broker(embedded: Cluster) -> None:
    run_with_a_kill(embedded, 1000)


def share_and_hand_over(cluster: Cluster) -> None:
    """Two workers share the partitions; one is killed, and the other takes its persons over with their rows."""
    records, reasons, persons = mixed(1000)
    good = 1000 - sum(reasons.values())
    first, second = cluster.start_worker(name="one"), cluster.start_worker(name="two")
    cluster.send(records[:500])
    cluster.read("cues.bundles", count=300)
    second.kill()
    second.wait()
    cluster.send(records[500:])
    wait_until_all_are_there(cluster, good)
    check(cluster, reasons, persons, 1000)
    assert first.poll() is None


def test_two_workers_on_the_embedded_broker(embedded: Cluster) -> None:
    share_and_hand_over(embedded)


@pytest.mark.kafka
def test_two_workers_on_a_real_kafka(kafka: Cluster) -> None:
    share_and_hand_over(kafka)


def test_the_broker_dies_under_a_running_worker(tmp_path: Path) -> None:
    """It is started again on its data; the worker waits and goes on; nothing that was acknowledged is gone."""
    records, reasons, persons = mixed(1000)
    good = 1000 - sum(reasons.values())
    with EmbeddedBroker(tmp_path / "broker", keep_up=True) as broker:
        cluster = Cluster(broker.address, tmp_path)
        create_topics(cluster.settings)
        cluster.start_worker()
        cluster.send(records)
        cluster.read("cues.bundles", count=good // 3)
        first = broker.pid
        os.kill(first, signal.SIGKILL)
        limit = time.monotonic() + 20
        while broker.pid == first and time.monotonic() < limit:
            time.sleep(0.05)
        wait_until_all_are_there(cluster, good)
        check(cluster, reasons, persons, 1000)
        cluster.stop()


def test_good_and_bad_records_in_order(embedded: Cluster) -> None:
    records, reasons, persons = mixed(1000)
    embedded.start_worker()
    embedded.send(records)
    embedded.read("cues.bundles", count=900)
    check(embedded, reasons, persons, 1000)


@pytest.mark.kafka
def test_nothing_is_missing_from_the_changelog_after_kills(kafka: Cluster) -> None:
    """Kills leave writes in the local store whose changelog records never left: a repeat must put them again.

    Many keys that are written once, three kills, then the data folder is wiped: each person's count must come back whole.
    """
    records, reasons, persons = mixed(1500)
    worker = kafka.start_worker()
    kafka.send(records)
    good = 1500 - sum(reasons.values())
    for share in (0.2, 0.4, 0.6):
        kafka.read("cues.bundles", count=int(good * share), seconds=120)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker = kafka.start_worker()
    limit = time.monotonic() + 120
    while (
        len({json.loads(r.value)["event_id"] for r in kafka.read("cues.bundles")}) < good and time.monotonic() < limit
    ):
        time.sleep(0.5)
    worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=30)
    shutil.rmtree(kafka.folder / "worker")
    more = [_event(9000 + n, event_id=f"after-{n}", user_id=f"用户 {n % 17}") for n in range(17)]
    kafka.send([(*route(value), value) for value in more])
    kafka.start_worker()
    last: dict[bytes, int] = {}
    limit = time.monotonic() + 60
    while len(last) < 17 and time.monotonic() < limit:
        for record in kafka.read("cues.bundles"):
            found = json.loads(record.value)
            if found["event_id"].startswith("after-"):
                last[record.key] = found["count"]
    assert last == {person: len(events) + 1 for person, events in persons.items()}
