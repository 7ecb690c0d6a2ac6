"""The engine over dict rows with the shipped models: batches, repeats, probes, failures, people, the sources' examples."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from streams.engine import Engine
from streams.messages import Message, Output
from streams.offline import Offsets
from streams.routing import route
from streams.settings import load_settings
from streams.stages.ingest import Ingest
from tables.person import MAX_SESSIONS

CONVERSATION = [
    ("customer", "帮我查一下订单 OD-88921 的物流到哪了。"),
    ("agent", "订单 OD-88921 已从东莞仓发货，我们保证周五之前送到。"),
    ("customer", "它现在停工了吗？"),
    ("customer", "以后给我的报告都用表格，金额单位用万元。"),
    ("customer", "I usually take my coffee black, no sugar."),
    ("customer", "你们客服态度太差了，我要投诉！"),
    ("customer", "顺便帮我取消这个订单。"),
    ("agent", "好的收到！关于接口文档，麻烦补充下错误码说明，另外测试账号权限我们已开通，谢谢！"),
]


class World:
    """Ingest, engine, rows, offsets: what a worker holds."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.ingest = engine, Ingest()
        self.rows: dict[bytes, bytes] = {}
        self._raw, self._clean = Offsets(4), Offsets(4)
        engine.forget_caches()

    def clean(self, lines: Iterable[bytes]) -> list[Message]:
        """The ingest hop's messages."""
        found = []
        for line in lines:
            for output in self.ingest.process_one(self._raw.place(*route(line), line)):
                if output.topic == "utterances.clean" and output.value is not None:
                    found.append(self._clean.place(output.topic, output.key, output.value))
        return found

    def step(self, messages: list[Message], apply: bool = True) -> list[Output]:
        """One batch; with `apply` false the process is killed after its outputs were published."""
        batch = self.engine.process(messages, self.rows)
        if apply:
            for _, key, value in batch.puts:
                if value is None:
                    self.rows.pop(key, None)
                else:
                    self.rows[key] = value
        return batch.outputs


def line(number: int, text: str, role: str = "customer", **fields: Any) -> bytes:
    record = {
        "schema": "utterance/1", "event_id": f"e{number}", "user_id": "u1", "session_id": "S1", "text": text,
        "speaker": {"id": role, "role": role}, "ts": f"2026-03-02T10:{number:02d}:00+08:00", **fields,
    }  # fmt: skip
    return json.dumps(record, ensure_ascii=False).encode()


def conversation() -> list[bytes]:
    return [line(number, text, role) for number, (role, text) in enumerate(CONVERSATION)]


def of(outputs: list[Output], topic: str) -> list[dict[str, Any]]:
    return [json.loads(output.value or b"null") for output in outputs if output.topic == topic]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(load_settings(environ={}))


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_where_a_batch_is_cut_changes_nothing(engine: Engine, cut: int) -> None:
    whole = World(engine)
    expected = whole.step(whole.clean(conversation()))
    parts = World(engine)
    messages = parts.clean(conversation())
    found = [output for at in range(0, len(messages), cut) for output in parts.step(messages[at : at + cut])]
    assert found == expected
    assert parts.rows == whole.rows


def test_a_restart_goes_on_where_it_was(engine: Engine) -> None:
    whole = World(engine)
    expected = whole.step(whole.clean(conversation()))
    parts = World(engine)
    messages = parts.clean(conversation())
    found = []
    for message in messages:
        engine.forget_caches()
        found += parts.step([message])
    assert found == expected


def test_a_kill_before_the_rows_replays_to_equal_outputs(engine: Engine) -> None:
    world = World(engine)
    messages = world.clean(conversation())
    world.step(messages[:4])
    before = dict(world.rows)
    first = world.step(messages[4:], apply=False)
    assert world.rows == before
    engine.forget_caches()
    assert world.step(messages[4:]) == first


def test_a_repeat_puts_its_rows_again_and_publishes_nothing(engine: Engine) -> None:
    world = World(engine)
    messages = world.clean(conversation())
    world.step(messages)
    after = dict(world.rows)
    batch = engine.process(messages, world.rows)
    assert batch.outputs == []
    assert {key for _, key, _ in batch.puts} == set(after)
    assert all(after[key] == value for _, key, value in batch.puts)
    assert batch.puts[-1][1].startswith(b"p\0")


def test_the_same_id_with_other_words_is_a_dead_letter(engine: Engine) -> None:
    world = World(engine)
    outputs = world.step(world.clean([line(1, "我的收货城市是杭州。"), line(1, "我的收货城市是苏州。")]))
    dead = of(outputs, "dead.letters")
    assert [letter["reason"] for letter in dead] == ["event_id_reused"]
    assert dead[0]["source"]["topic"] == "utterances.raw" and dead[0]["source"]["offset"] == 1
    assert ["杭州" in unit["content"] for unit in of(outputs, "memory.units")] == [True]


def test_a_probe_gets_a_bundle_and_leaves_no_trace(engine: Engine) -> None:
    world = World(engine)
    world.step(world.clean(conversation()))
    before = dict(world.rows)
    probe = line(20, "How do I take my coffee?", remember=False)
    outputs = world.step(world.clean([probe]))
    bundle = of(outputs, "cues.bundles")[0]
    assert bundle["cues"][0]["source_event_ids"] == ["e4"]
    assert world.rows == before
    assert not of(outputs, "memory.units") and not of(outputs, "tasks.events")
    assert world.step(world.clean([probe]))[-1].value == outputs[-1].value


def test_people_and_tenants_never_meet(engine: Engine) -> None:
    world = World(engine)
    world.step(world.clean([line(1, "I live in Canada, in a small flat.")]))
    for number, fields in enumerate(({"user_id": "u2"}, {"tenant": "other"}, {"user_id": None}), 2):
        outputs = world.step(world.clean([line(number, "Where do I live?", **fields)]))
        assert of(outputs, "cues.bundles")[0]["cues"] == []


def test_an_event_that_fails_leaves_only_its_dead_letter(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(engine)
    messages = world.clean([line(1, "我住在南京。"), line(2, "我养了一只猫。"), line(3, "我每天骑车上班。")])
    run = engine._turns.run

    def fail(utterance: Any, *rest: Any) -> list[Output]:
        outputs = run(utterance, *rest)
        if utterance.event_id == "e2":
            raise ValueError("a fault: 我养了一只猫")
        return outputs

    monkeypatch.setattr(engine._turns, "run", fail)
    outputs = world.step(messages)
    assert [letter["reason"] for letter in of(outputs, "dead.letters")] == ["internal_error"]
    assert {unit["source_event_ids"][0] for unit in of(outputs, "memory.units")} == {"e1", "e3"}
    monkeypatch.undo()
    asked = world.step(world.clean([line(9, "我养了什么？")]))
    assert all("e2" not in cue["source_event_ids"] for cue in of(asked, "cues.bundles")[0]["cues"])


def test_a_hot_row_stays_small(engine: Engine) -> None:
    world = World(engine)
    sizes = []
    for number in range(60):
        text = CONVERSATION[number % len(CONVERSATION)][1]
        record = line(number, f"{text} {number}", session_id=f"S{number // 3}")
        world.step(world.clean([record]))
        sizes.append(max(len(value) for key, value in world.rows.items() if key.startswith(b"p\0")))
    assert sizes[-1] < 2_000
    assert sizes[-1] < 2.5 * sizes[29]
    sessions = [len(value) for key, value in world.rows.items() if key.startswith(b"s\0")]
    assert len(sessions) == MAX_SESSIONS and max(sessions) < 10_000


def test_the_sources_three_examples_from_raw_topic_to_unit(engine: Engine) -> None:
    world = World(engine)
    outputs = world.step(
        world.clean(
            [
                line(1, "好的收到！关于接口文档，麻烦补充下错误码说明，另外测试账号权限我们已开通，谢谢！"),
                line(2, "请务必在5月20日前完成，这是老板亲自交代的"),
                line(3, "我们尽量满足您的要求，价格再商量", "agent"),
            ]
        )
    )
    units = of(outputs, "memory.units")
    first = {unit["type"]: unit for unit in units if unit["source_event_ids"] == ["e1"]}
    assert {"action_request", "status_update"} <= set(first)
    assert [unit["content"] for unit in first.values()] == [
        "关于接口文档，麻烦补充下错误码说明", "另外测试账号权限我们已开通"
    ]  # fmt: skip
    assert [unit["summary"] for unit in first.values()] == ["关于接口文档，补充下错误码说明", "测试账号权限我们已开通"]
    assert 0.7 < first["action_request"]["entropy"] < 0.9 and first["status_update"]["entropy"] < 0.25
    second = [unit for unit in units if unit["source_event_ids"] == ["e2"]]
    assert len(second) == 1 and second[0]["priority_flag"] and "老板" in second[0]["summary"]
    assert second[0]["content"] == "请务必在5月20日前完成，这是老板亲自交代的" and second[0]["entropy"] == 0.5
    assert (second[0]["type"], second[0]["severity"]) == ("action_request", "high")
    assert second[0]["times"][0]["normalized_time"].startswith("2026-05-20")
    third = of(outputs, "utterances.affect")[2]
    assert third["intent"]["label"] != "commit" and third["confidence"] <= 0.3
    (kept,) = [unit for unit in units if unit["source_event_ids"] == ["e3"]]
    assert (kept["content"], kept["type"]) == ("我们尽量满足您的要求，价格再商量", "commitment")


def test_what_must_not_be_stored_is_nowhere(engine: Engine) -> None:
    world = World(engine)
    secret = "6222021234567890128"
    raw = [
        line(1, f"我的银行卡号是{secret}，退款打到这张卡上。"),
        line(2, "好的", meta={"context": [{"speaker": "customer", "text": f"卡号 {secret}"}]}),
        line(3, f"卡号 {secret}", ts="not a time"),
    ]
    offsets = Offsets(4)
    first_hop = [o for r in raw for o in world.ingest.process_one(offsets.place(*route(r), r))]
    outputs = first_hop + world.step(world.clean(raw))
    import base64

    for output in outputs:
        assert secret.encode() not in (output.value or b"")
        letter = msgspec.json.decode(output.value or b"null")
        if output.topic == "dead.letters":
            assert secret.encode() not in base64.b64decode(letter["original_b64"])
    assert all(secret.encode() not in value for value in world.rows.values())
