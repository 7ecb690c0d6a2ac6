"""A recogniser's later final revision takes the place of the earlier one (contract: later revisions replace earlier ones)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streams.engine import Engine
from streams.settings import load_settings
from tests.streams.test_engine import World, line, of


def segment(revision: int, text: str, minute: int = 1) -> bytes:
    record = {
        "schema": "asr/1", "session_id": "S1", "user_id": "u1", "segment_id": "g1", "revision": revision, "is_final": True,
        "speaker": {"id": "u1", "role": "customer"}, "text": text, "ts": f"2026-03-02T10:{minute:02d}:00+08:00",
    }  # fmt: skip
    return json.dumps(record, ensure_ascii=False).encode()


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(load_settings(environ={}))


def last_units(world: World, lines: list[bytes]) -> dict[str, dict[str, Any]]:
    """The units as the compacted topic holds them."""
    return {unit["unit_id"]: unit for unit in of(world.step(world.clean(lines)), "memory.units")}


@pytest.mark.parametrize("second", ["我的收货城市是苏州。", "我的收货城市是苏州工业园区。"])
def test_a_later_final_replaces_what_the_earlier_one_left(engine: Engine, second: str) -> None:
    world = World(engine)
    units = last_units(world, [segment(3, "我的收货城市是苏黎。"), segment(4, second)])
    assert [unit["content"] for unit in units.values() if unit["status"] == "current"] == [second]
    assert not any(b"\xe8\x8b\x8f\xe9\xbb\x8e" in value for value in world.rows.values())  # 苏黎 is in no row
    asked = of(world.step(world.clean([line(9, "我的收货城市是哪里？", remember=False)])), "cues.bundles")[0]
    assert [cue["text"] for cue in asked["cues"]] == [second.rstrip("。")]


def test_the_audit_names_the_revision(engine: Engine) -> None:
    world = World(engine)
    outputs = world.step(world.clean([segment(3, "我的收货城市是苏黎。"), segment(4, "我的收货城市是苏州。")]))
    assert ("corrected", "asr_revision") in [(a["action"], a["reason"]) for a in of(outputs, "memory.audit")]
    assert not of(outputs, "dead.letters")


def test_an_earlier_revision_that_comes_late_changes_nothing(engine: Engine) -> None:
    world = World(engine)
    world.step(world.clean([segment(4, "我的收货城市是苏州。")]))
    before = dict(world.rows)
    assert world.step(world.clean([segment(2, "我的收货城市是苏黎。")])) == []
    assert world.rows == before


def test_one_revision_with_other_words_is_a_dead_letter(engine: Engine) -> None:
    world = World(engine)
    outputs = world.step(world.clean([segment(3, "我的收货城市是苏黎。"), segment(3, "我的收货城市是苏州。")]))
    assert [letter["reason"] for letter in of(outputs, "dead.letters")] == ["event_id_reused"]


def test_a_statement_repeated_elsewhere_stays(engine: Engine) -> None:
    world = World(engine)
    said = "我的收货城市是苏州。"
    world.step(
        world.clean([line(1, said), segment(1, said, minute=2), segment(2, "我想问一下收货城市怎么改？", minute=3)])
    )
    asked = of(world.step(world.clean([line(9, "我的收货城市是哪里？", remember=False)])), "cues.bundles")[0]
    assert said.rstrip("。") in [cue["text"] for cue in asked["cues"]]


def test_batches_do_not_matter(engine: Engine) -> None:
    lines = [
        line(0, "你好，我叫王芳。"),
        segment(3, "我的收货城市是苏黎。"),
        segment(4, "我的收货城市是苏州。"),
        line(5, "谢谢！"),
    ]
    whole, parts = World(engine), World(engine)
    expected = whole.step(whole.clean(lines))
    found = [output for message in parts.clean(lines) for output in parts.step([message])]
    assert found == expected and parts.rows == whole.rows
