"""The operator's commands: topics and dead letters, their exit codes, and what they say when something is wrong."""

from __future__ import annotations

import json
import time

import pytest

from streams.admin import check_topics
from streams.cli.main import main
from streams.settings import load_settings
from tests.streams.conftest import Cluster

BAD = json.dumps({"schema": "utterance/1", "session_id": "S", "text": "你好", "ts": "2026-03-02T10:00:00"}).encode()


def run(cluster: Cluster, *arguments: str) -> int:
    return main([*arguments, "--set", f"broker={cluster.address}", "--set", f"data_dir={cluster.folder}"])


def dead_letters(cluster: Cluster, count: int) -> list[dict[str, object]]:
    limit = time.monotonic() + 30
    found: list[dict[str, object]] = []
    while len(found) < count and time.monotonic() < limit:
        found = [json.loads(record.value) for record in cluster.read("dead.letters")]
        time.sleep(0.1)
    return found


def test_dead_letters_are_listed_and_fed_again(embedded: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    embedded.send([("utterances.raw", b"default/~S", BAD), ("utterances.raw", None, b"\xff not json")])
    embedded.start_worker()
    assert len(dead_letters(embedded, 2)) == 2
    assert run(embedded, "dead", "list", "--reason", "ts_without_zone") == 0
    out, err = capsys.readouterr()
    assert "ts_without_zone" in out and "1 dead letters" in err
    assert run(embedded, "dead", "list", "--json") == 0
    letters = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {letter["reason"] for letter in letters} == {"ts_without_zone", "not_utf8"}
    assert run(embedded, "dead", "retry", "--reason", "ts_without_zone") == 0
    assert [letter["reason"] for letter in dead_letters(embedded, 3)].count("ts_without_zone") == 2
    again = [record for record in embedded.read("utterances.raw") if record.value == BAD]
    assert [record.key for record in again] == [b"default/~S"] * 2, "with its key, where its person's records go"


def test_topics_says_what_is_wrong_and_what_to_do(embedded: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(embedded, "topics", "check") == 0
    assert run(embedded, "topics", "create") == 0
    assert run(embedded, "topics", "check", "--set", "partitions=8") == 1
    assert "4 partitions, the settings say 8" in capsys.readouterr().out
    assert run(embedded, "topics", "check", "--set", "topic_prefix=other.", "--set", "app_id=other") == 1
    assert "run `cuestream topics create`" in capsys.readouterr().out


@pytest.mark.kafka
def test_topics_on_a_real_kafka(kafka: Cluster) -> None:
    assert check_topics(kafka.settings) == []
    other = load_settings([f"broker={kafka.address}", "topic_prefix=two.", "app_id=two", "partitions=2"], environ={})
    assert len(check_topics(other)) == 15
    assert (
        run(kafka, "topics", "create", "--set", "topic_prefix=two.", "--set", "app_id=two", "--set", "partitions=2")
        == 0
    )
    assert check_topics(other) == []


def test_without_a_broker_the_message_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "check", "--set", "broker=127.0.0.1:1"]) == 1
    assert "no broker answers at 127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize("assignment", ["nonsense=1", "recall.max_cues=many", "recall"])
def test_a_wrong_setting_is_wrong_use(assignment: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "check", "--set", assignment]) == 2
    assert capsys.readouterr().err
