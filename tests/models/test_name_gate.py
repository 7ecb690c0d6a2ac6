"""The gate before the Chinese tagger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.entities.name_gate import NameGate, name_gate, windows
from models.errors import ResourceError


@pytest.mark.parametrize("said", ["发给王建国", "我住在南京", "阿里巴巴的人来了", "李雷说可以", "从东莞发货"])
def test_opens_for_names(said: str) -> None:
    assert name_gate().opens(said)


@pytest.mark.parametrize("said", ["好的，谢谢", "什么时候能到？", "", "嗯"])
def test_stays_closed_for_plain_talk(said: str) -> None:
    assert not name_gate().opens(said)


@given(st.text(max_size=60))
def test_windows_fit_the_table(text: str) -> None:
    rows = windows(text, 1023)
    assert rows.shape == (10, len(text))
    assert rows.size == 0 or (rows.min() >= 0 and rows.max() <= 1023)


def test_a_window_looks_the_same_wherever_it_stands() -> None:
    assert (windows("甲乙丙丁戊", 1023)[:, 2] == windows("你好甲乙丙丁戊吗", 1023)[:, 4]).all()


def test_a_short_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.npz"
    np.savez(path, weights=np.zeros(4, np.int8))
    with pytest.raises(ResourceError, match=r"gate\.npz"):
        NameGate.load(path)
