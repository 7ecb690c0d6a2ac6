"""Type, severity, resolution and validity of units."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from models.encoder import Encoder
from models.entropy import segment
from models.errors import ResourceError
from models.records import TimeExpression
from models.units.unit_reading import read_unit
from models.units.unit_types import CLASSES, Cues, TypeModel

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=timezone(timedelta(hours=8)))
LINES = Path(__file__).parent.parent / "data" / "units.jsonl"
MORE_LINES = Path(__file__).parents[2] / "models" / "train" / "unit_lines.jsonl"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("麻烦把样品寄到苏州", "action_request"),
        ("Please forward the contract to Lena", "action_request"),
        ("样品昨天已经寄出", "status_update"),
        ("我们保证月底前交货", "commitment"),
        ("你们的物流太慢了，我要投诉", "complaint"),
        ("我喜欢喝乌龙茶", "preference"),
        ("I prefer window seats", "preference"),
        ("预算不超过八千", "constraint"),
        ("我决定用第三套方案", "decision"),
        ("你记错了，我住在苏州", "correction"),
        ("退货期限是多久？", "question"),
        ("也许是硬盘坏了", "hypothesis"),
        ("I refuse to accept these terms", "refusal"),
        ("我对花生过敏", "identity"),
    ],
)
def test_types(text: str, kind: str) -> None:
    assert read_unit(text).type == kind


def test_severity() -> None:
    assert read_unit("我被扣了两次款，没人管，我要投诉").severity == "high"
    assert read_unit("麻烦把样品寄到苏州").severity == "medium"
    assert read_unit("会员价是88元").severity == "low"
    text = "务必今天完成，这是总监交代的"
    assert read_unit(text, segment=segment(text)[0]).severity == "high"


def test_resolution() -> None:
    assert read_unit("你们态度太差了，我要投诉").resolution_status == "pending"
    assert read_unit("我们保证月底前交货").resolution_status == "pending"
    assert read_unit("我提交了理赔申请，还在等审核").resolution_status == "pending"
    assert read_unit("上次说的漏水已经修好了").resolution_status == "resolved"
    assert read_unit("The leak has been fixed").resolution_status == "resolved"
    assert read_unit("漏水还没有修好").resolution_status != "resolved"
    assert read_unit("我住在苏州").resolution_status == "none"


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("我每周三晚上上瑜伽课", "every_wednesday"),
        ("我们每年春天都去植树", "every_spring"),
        ("每个月底我们盘点一次", "every_month_end"),
        ("We eat out every Friday", "every_friday"),
        ("I swim on Tuesdays", "every_tuesday"),
        ("大促期间发货会慢一些", "during_promotion"),
    ],
)
def test_periodic(text: str, cycle: str) -> None:
    validity = read_unit(text, said_at=NOW).validity
    assert (validity.type, validity.cycle_pattern) == ("periodic", cycle)


def test_the_time_readers_cycle_counts_first() -> None:
    time = TimeExpression(original_form="隔周", start=0, end=2, recurrence="every_2_weeks")
    assert read_unit("隔周我们开例会", times=[time], said_at=NOW).validity.cycle_pattern == "every_2_weeks"


def test_transient_with_a_stated_length() -> None:
    validity = read_unit("苏州仓因暴雪停运，预计停三天。", said_at=NOW).validity
    assert (validity.type, validity.effective_from, validity.effective_to) == (
        "transient",
        NOW,
        NOW + timedelta(days=3),
    )


def test_transient_until_a_named_time() -> None:
    time = TimeExpression(
        original_form="周五", start=0, end=2, normalized_time="2026-03-06T00:00:00+08:00", grain="day"
    )
    validity = read_unit("系统正在维护，周五恢复", times=[time], said_at=NOW).validity
    assert validity.effective_to == datetime.fromisoformat("2026-03-06T00:00:00+08:00")
    odd = TimeExpression(original_form="x", start=0, end=1, normalized_time="not a time")
    assert read_unit("系统正在维护", times=[odd], said_at=NOW).validity.effective_to is None


def test_permanent() -> None:
    assert read_unit("以后都用英文给我写邮件", said_at=NOW).validity.type == "permanent"
    assert read_unit("I am allergic to cats", said_at=NOW).validity.type == "permanent"


def test_not_worth_a_unit() -> None:
    for text in ("嗯嗯。", "哈哈哈好的好的。", "在吗？", "ok, thanks a lot!"):
        assert read_unit(text, segment=segment(text)[0]).small_talk
    assert not read_unit("好的，地址改成苏州").small_talk


def test_proposals_and_bare_refusals() -> None:
    assert read_unit("要不我们换成季付方案？").hypothetical
    assert not read_unit("先别急着换方案，等对方回复再说").hypothetical
    assert read_unit("不用了").rejected
    assert not read_unit("这台机器我不要了，退掉原来那台订单 A-77 的款").rejected


def test_labelled_lines_are_sound() -> None:
    lines = [json.loads(line) for line in LINES.open(encoding="utf-8")]
    assert len(lines) > 400
    assert {line["type"] for line in lines} == set(CLASSES)
    assert {line["lang"] for line in lines} == {"zh", "en"}
    assert {line["half"] for line in lines} == {"train", "held"}


def test_training_lines_repeat_no_held_line() -> None:
    held = {json.loads(line)["text"] for line in LINES.open(encoding="utf-8")}
    more = [json.loads(line) for line in MORE_LINES.open(encoding="utf-8")]
    assert {line["type"] for line in more} == set(CLASSES)
    assert {line["severity"] for line in more} == {"low", "medium", "high"}
    assert {line["resolution"] for line in more} == {"none", "pending", "resolved"}
    assert {line["validity"] for line in more} == {"permanent", "transient", "periodic"}
    assert len({line["text"] for line in more} - held) == len(more)


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"no\.npz"):
        TypeModel.load(tmp_path / "no.npz")
    path = tmp_path / "cues.toml"
    path.write_text("[zh]\nrequest = '''(['''\n[en]\n", encoding="utf-8")
    with pytest.raises(ResourceError, match="request"):
        Cues.load(path)
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"\[zh\]"):
        Cues.load(path)


def test_a_vector_of_another_size_or_not_finite_is_left_aside() -> None:
    model = TypeModel.load()
    text = "我喜欢喝乌龙茶"
    alone = model.read(text)
    assert model.read(text, np.zeros(3, np.float32)) == alone
    assert model.read(text, np.full(model.vector_head.center.shape, np.nan, np.float32)) == alone


def test_the_types_were_made_for_the_shipped_encoder() -> None:
    assert TypeModel.load().vector_head.encoder == Encoder.load().name
