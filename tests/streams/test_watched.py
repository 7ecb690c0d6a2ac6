"""Word lists and weights are picked up again while running; a bad one is named and the good one stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.cues.cue_score import load_weights
from models.entities.gazetteer import Gazetteer
from models.errors import ResourceError
from models.units import distillation
from models.units.distillation import distil
from streams.models import Models
from streams.settings import load_settings
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


FOLDER = Path(distillation.LEXICON).parent
LISTS = ("segmenting", "distillation", "references", "affect")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Models]:
    """The stages' models with a user's own copy of the four lists."""
    folder = tmp_path_factory.mktemp("lists")
    for name in LISTS:
        (folder / f"{name}.toml").write_bytes((FOLDER / f"{name}.toml").read_bytes())
    chosen = [f"lists.{name}={folder / name}.toml" for name in LISTS]
    return folder, Models.load(load_settings(chosen, environ={}))


def test_words_that_join_or_drop_are_picked_up(watched: tuple[Path, Models]) -> None:
    folder, models = watched
    path = folder / "distillation.toml"
    good = path.read_text(encoding="utf-8")
    text = "乌拉巴拉，合同金额是48,000元"
    assert distil(text, patterns=models.segments.value.distilling).startswith("乌拉巴拉")
    write(path, good.replace("empty = '''(?:", "empty = '''(?:乌拉巴拉|"), 1_000_000_000)
    models.refresh()
    assert distil(text, patterns=models.segments.value.distilling) == "合同金额是48,000元"
    write(path, good.replace("empty = '''(?:", "empty = '''(?:((乌拉|"), 2_000_000_000)
    models.refresh()
    assert distil(text, patterns=models.segments.value.distilling) == "合同金额是48,000元"
    line = 1 + good[: good.index("empty =")].count("\n")
    assert any(f"distillation.toml: line {line}" in error for error in models.segments.errors)


def test_joining_words_are_picked_up(watched: tuple[Path, Models]) -> None:
    folder, models = watched
    path = folder / "segmenting.toml"
    good = path.read_text(encoding="utf-8")
    before = models.segments.value.joining
    write(path, good.replace("new_topic = '''", "new_topic = '''乌拉|"), 1_000_000_000)
    models.refresh()
    assert models.segments.value.joining["new_topic"].search("乌拉一下")
    write(path, "new_topic = 3\n", 2_000_000_000)
    models.refresh()
    assert models.segments.value.joining["new_topic"].search("乌拉一下")
    assert not before["new_topic"].search("乌拉一下")


@pytest.mark.parametrize("name", ["references", "affect"])
def test_words_of_filters_one_and_two_are_picked_up(watched: tuple[Path, Models], name: str) -> None:
    folder, models = watched
    path = folder / f"{name}.toml"
    good = path.read_text(encoding="utf-8")
    old = (models.coreference, models.affect)
    write(path, good + "\n# changed\n", 1_000_000_000)
    models.refresh()
    new = (models.coreference, models.affect)
    assert (new[0] is not old[0], new[1] is not old[1]) == (name == "references", name == "affect")
    write(path, good + "\n[broken\n", 2_000_000_000)
    models.refresh()
    assert (models.coreference, models.affect) == new
    files = (models.references, models.affect_words)
    assert any(f"{name}.toml" in (file.error or "") and "line" in (file.error or "") for file in files)
