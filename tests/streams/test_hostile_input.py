"""Bad input as a user or front end could send it, through all stages: a record or a dead letter with a reason, quickly; and files cut short."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from models import privacy
from models.affect import AffectModel
from models.affect_net import SHIPPED as AFFECT
from models.coreference import CoreferenceModel
from models.encoder import SHIPPED as ENCODER
from models.entities.finder import find_entities
from models.entities.gazetteer import Gazetteer
from models.errors import ResourceError
from models.times import find_times
from models.units.clauses import WEIGHTS, BoundaryModel
from models.units.unit_types import TypeModel
from streams.offline import Offsets, Runner
from streams.routing import route
from streams.settings import load_settings
from tests.streams.conftest import ROOT

NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
TEXTS = {
    "a megabyte": "长" * 333_000,
    "ten thousand digits": "1234567890" * 1000,
    "one repeated character": "的" * 20_000,
    "nines": "9" * 20_000,
    "opening brackets": "(" * 20_000,
    "unbalanced brackets": "（【《「(" * 400 + "明天开会" + ")" * 3,
    "spaces": " " * 10_000,
    "one character": "嗯",
    "a mark": "？",
    "three hundred clauses": "我想退货，" * 300,
    "no such day": "2月30日下午三点开会",
    "emoji and combining marks": "👩‍👩‍👧‍👦e\u0301 明天👍🏽下午三点开会",
    "quotes": '"' * 5000,
    "line breaks": "\n明天\r\n" * 500,
}


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[dict[str, list[dict[str, Any]]], float]]:
    """What each text's record became, by topic, and the CPU seconds it took."""
    settings = load_settings(["recall.on=none"], environ={})
    runner, offsets = Runner(settings), Offsets(settings.partitions)
    found = {}
    for number, (name, text) in enumerate(TEXTS.items()):
        record = {
            "schema": "utterance/1",
            "event_id": name,
            "user_id": f"u{number}",
            "session_id": "S",
            "text": text,
            "ts": NOW.isoformat(),
        }
        raw = json.dumps(record, ensure_ascii=False).encode()
        begun = time.process_time()
        ((_, outputs),) = runner.process([(0, offsets.place(*route(raw), raw))])
        topics: dict[str, list[dict[str, Any]]] = {}
        for topic, value in outputs:
            topics.setdefault(topic, []).append(json.loads(value))
        found[name] = topics, time.process_time() - begun
    return found


@pytest.mark.parametrize("name", list(TEXTS))
def test_every_text_is_taken_or_refused_with_a_reason(answers: dict[str, Any], name: str) -> None:
    topics, seconds = answers[name]
    refused = {"a megabyte": "text_too_long", "spaces": "text_blank"}.get(name)
    if refused:
        assert [letter["reason"] for letter in topics["dead.letters"]] == [refused]
        assert TEXTS[name][:50] not in topics["dead.letters"][0]["error"]
    else:
        assert "dead.letters" not in topics
        (affect,) = topics["utterances.affect"]
        assert abs(sum(affect["intent"]["probs"].values()) - 1) < 0.01
    assert seconds < 10, "20,000 characters are 80 full windows of the encoder at most"


def test_a_day_that_is_not_is_reported_and_has_no_value(answers: dict[str, Any]) -> None:
    (resolved,) = answers["no such day"][0]["utterances.resolved"]
    (found,) = resolved["times"]
    assert found["original_form"].startswith("2月30日") and found["normalized_time"] is None


def test_offsets_hold_with_emoji_and_combining_marks(answers: dict[str, Any]) -> None:
    (resolved,) = answers["emoji and combining marks"][0]["utterances.resolved"]
    assert [resolved["text"][t["start"] : t["end"]] for t in resolved["times"]] == [
        t["original_form"] for t in resolved["times"]
    ]
    assert resolved["times"]


def test_three_hundred_clauses_become_units_that_cover_them(answers: dict[str, Any]) -> None:
    units = answers["three hundred clauses"][0]["memory.units"]
    assert all(0 <= unit["start"] < unit["end"] <= 1500 for unit in units)


READERS: dict[str, Callable[[str], Any]] = {
    "times": lambda text: find_times(text, NOW),
    "pii": lambda text: privacy.find_personal_data(text, None),
    "pii at ingest": lambda text: privacy.find_never(text, None),
    "entities": lambda text: find_entities(text, None, GAZETTEER),
}
GAZETTEER = Gazetteer.load()


@pytest.mark.parametrize("character", ["9", "的", "(", " "])
@pytest.mark.parametrize("reader", list(READERS))
def test_ten_kilobytes_of_one_character(reader: str, character: str) -> None:
    """20 ms on a quiet machine (docs/figures.md); a test machine that does other work gets three times that."""
    read, text = READERS[reader], character * (10_240 // len(character.encode()))
    read(text[:100])
    took = []
    for _ in range(3):
        begun = time.thread_time()
        read(text)
        took.append(time.thread_time() - begun)
    assert min(took) < 0.06


@pytest.mark.parametrize(
    ("names", "load"),
    [
        (("affect.npz",), lambda folder: AffectModel.load(folder / "affect.npz")),
        (("unit_types.npz",), lambda folder: TypeModel.load(folder / "unit_types.npz")),
        (("segments_zh.npz",), lambda folder: BoundaryModel.load(folder / "segments_zh.npz")),
        (("coreference.npz", "coreference.onnx"), CoreferenceModel.load),
        (("coreference.onnx", "coreference.npz"), CoreferenceModel.load),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_weights_file_cut_short_is_named(
    tmp_path: Path, names: tuple[str, ...], load: Callable[[Path], Any], kept: float
) -> None:
    for name in names:
        shutil.copy(WEIGHTS / name, tmp_path / name)
    whole = (tmp_path / names[0]).read_bytes()
    (tmp_path / names[0]).write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ResourceError, match=names[0].replace(".", r"\.")):
        load(tmp_path)


@pytest.mark.parametrize("cut", ["affect.npz", "encoder.onnx"])
def test_a_worker_does_not_start_on_a_cut_file(tmp_path: Path, cut: str) -> None:
    if cut == "affect.npz":
        (tmp_path / cut).write_bytes(AFFECT.read_bytes()[:5000])
        extra = ["--set", f"weights={tmp_path}"]
    else:
        shutil.copytree(ENCODER, tmp_path / "encoder")
        (tmp_path / "encoder" / cut).write_bytes((ENCODER / cut).read_bytes()[:5000])
        extra = ["--set", f"encoder={tmp_path / 'encoder'}"]
    done = subprocess.run(
        [sys.executable, "-m", "streams.cli.main", "up", "--set", f"data_dir={tmp_path / 'data'}", "--set", "web_port=0", *extra],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert cut in done.stderr and "Traceback" not in done.stderr
