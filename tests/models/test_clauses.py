"""Clause split: marks, no marks, pauses, hard input."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import ResourceError
from models.records import Pause
from models.units.clause_features import BITS, features, tokenize
from models.units.clauses import WEIGHTS, BoundaryModel, split_clauses


def parts(text: str, pauses: list[Pause] | None = None) -> list[str]:
    return [text[c.start : c.end] for c in split_clauses(text, pauses or [])]


def test_marks_part_clauses() -> None:
    assert parts("水管漏了，赶紧派人来。") == ["水管漏了，", "赶紧派人来。"]
    assert parts("The pump broke, but we fixed it.") == ["The pump broke,", "but we fixed it."]


def test_a_comma_in_a_list_or_number_is_no_boundary() -> None:
    assert len(parts("The price is 1,250 euros.")) == 1
    assert len(parts("我买了苹果、香蕉和梨。")) == 1


def test_speech_without_marks_is_split() -> None:
    found = parts("我上午去了医院但是医生不在所以想改到下周")
    assert len(found) >= 2
    assert any(part.startswith("但是") for part in found)


def test_a_pause_is_evidence() -> None:
    text = "周一能交初稿不过图纸还缺两张"
    at = text.index("不过")
    quiet = {c.start: c.odds for c in split_clauses(text)}
    paused = {c.start: c.odds for c in split_clauses(text, [Pause(at=at, ms=1200)])}
    assert at in paused
    assert paused[at] > quiet.get(at, 0.0)


def test_a_short_pause_changes_nothing() -> None:
    text = "周一能交初稿不过图纸还缺两张"
    assert split_clauses(text, [Pause(at=3, ms=100)]) == split_clauses(text)


def test_line_breaks_always_part() -> None:
    assert len(parts("first item\nsecond item")) == 2


@pytest.mark.parametrize("text", ["", " ", "\n", "。", "🙂", "啊", "a", "\u202e", "\ud800", "ＡＢ１"])
def test_tiny_texts(text: str) -> None:
    found = split_clauses(text)
    assert len(found) <= 1
    assert all(0 <= c.start < c.end <= len(text) for c in found)


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="我在的了。，,. aBc1\n“（）’-去说：；?", max_size=80))
def test_clauses_are_disjoint_and_leave_nothing_out(text: str) -> None:
    found = split_clauses(text)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    covered = "".join(text[c.start : c.end] for c in found)
    assert "".join(covered.split()) == "".join(text.split())


@pytest.mark.parametrize("unit", ["9", "的", "(", " ", "a", "，", "我说"])
def test_long_monotonous_text_takes_linear_time(unit: str) -> None:
    split_clauses("热身。")
    text = unit * (10_000 // len(unit))
    begun = time.process_time()
    split_clauses(text)
    assert time.process_time() - begun < 1.5


def test_many_clauses() -> None:
    assert len(split_clauses("我去了商店，" * 300)) >= 300


def test_features_do_not_depend_on_neighbouring_calls() -> None:
    one = features(tokenize("我明天去北京，你来吗？"))
    features(tokenize("something else entirely"))
    assert np.array_equal(one, features(tokenize("我明天去北京，你来吗？")))


def test_bad_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="missing.npz"):
        BoundaryModel.load(tmp_path / "missing.npz")
    short = tmp_path / "short.npz"
    np.savez(short, weights=np.zeros(7), apart_weights=np.zeros(7), numbers=np.zeros(4))
    with pytest.raises(ResourceError, match=r"shape \(7,\)"):
        BoundaryModel.load(short)
    broken = tmp_path / "nan.npz"
    blank = np.full(2**BITS, np.nan)
    np.savez(broken, weights=blank, apart_weights=blank, numbers=np.zeros(4))
    with pytest.raises(ResourceError, match="finite"):
        BoundaryModel.load(broken)
    cut = tmp_path / "cut.npz"
    cut.write_bytes((WEIGHTS / "segments_zh.npz").read_bytes()[:1000])
    with pytest.raises(ResourceError, match="cut.npz"):
        BoundaryModel.load(cut)
