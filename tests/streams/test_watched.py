"""Word lists and weights are picked up again while running; a bad one is named and the good one stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.cue_score import load_weights
from models.errors import ResourceError
from models.gazetteer import Gazetteer
from streams.watched import Watched

GOOD = '[[entity]]\ntype = "environment"\ncanonical = "压测环境"\naliases = ["压测服"]\n'


def write(path: Path, content: str, stamp: int) -> None:
    path.write_text(content, encoding="utf-8")
    os.utime(path, ns=(stamp, stamp))


def names(gazetteer: Gazetteer, text: str) -> list[str]:
    return [entry.canonical for _, _, entry in gazetteer.find(text)]


def test_the_good_dictionary_stays_when_the_new_one_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    write(path, GOOD, 1_000_000_000)
    file = Watched(path, Gazetteer.load)
    assert not file.refresh()
    write(path, GOOD + "[[entity]]\n", 2_000_000_000)
    assert not file.refresh()
    assert file.error is not None and "line 5" in file.error
    assert names(file.value, "压测服") == ["压测环境"]
    write(path, GOOD.replace("压测服", "压力服"), 3_000_000_000)
    assert file.refresh()
    assert file.error is None
    assert names(file.value, "压力服 压测服") == ["压测环境"]


def test_a_file_that_vanishes_leaves_the_good_one(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    write(path, GOOD, 1_000_000_000)
    file = Watched(path, Gazetteer.load)
    path.unlink()
    assert not file.refresh()
    assert file.error is not None and "terms.toml" in file.error
    assert names(file.value, "压测服") == ["压测环境"]


def test_a_bad_file_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"gone\.toml"):
        Watched(tmp_path / "gone.toml", Gazetteer.load)
    bad = tmp_path / "weights.toml"
    bad.write_text("cue = 7\n", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"weights\.toml"):
        Watched(bad, load_weights)


def test_the_shipped_file_is_not_watched() -> None:
    file = Watched(None, load_weights)
    assert not file.refresh()
