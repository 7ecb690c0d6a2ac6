"""Dictionaries: what merges, what never does, and that a bad file leaves the good one in force."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.entities.gazetteer import Gazetteer
from models.errors import ResourceError

GOOD = """
[[entity]]
type = "environment"
canonical = "压测环境"
aliases = ["压测服", "load test env"]
"""


def write(path: Path, content: str, stamp: int) -> None:
    path.write_text(content, encoding="utf-8")
    os.utime(path, ns=(stamp, stamp))


def names(gazetteer: Gazetteer, text: str) -> list[str]:
    return [entry.canonical for _, _, entry in gazetteer.find(text)]


def test_aliases_of_any_case_and_width_stand_for_the_canonical_name(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    write(path, GOOD, 1)
    gazetteer = Gazetteer.load(path)
    assert names(gazetteer, "压测服和 ＬＯＡＤ test ENV 都好了") == ["压测环境", "压测环境"]


def test_the_bare_word_is_never_the_specific_one() -> None:
    gazetteer = Gazetteer.load()
    assert names(gazetteer, "环境挂了") == []
    assert names(gazetteer, "测试环境挂了，生产环境正常") == ["测试环境", "生产环境"]


def test_latin_aliases_match_whole_words() -> None:
    assert names(Gazetteer.load(), "upstairs groups") == []
    assert names(Gazetteer.load(), "sent by UPS today") == ["UPS"]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (GOOD + '\n[[entity]]\ntype = "x"\n', "line 7", "`canonical`"),
        (GOOD + '\n[[entity]]\ntype = "x"\ncanonical = "丙"\naliases = "丁"\n', "line 7", "`aliases`"),
        (GOOD + '\n[[entity]]\ntype = "x"\ncanonical = "丙"\naliases = ["压测服"]\n', "line 7", "already stands for"),
        (GOOD + '\n[[entity]]\ntype = "x"\ncanonical = "丙"\ncolour = 1\n', "line 7", "`colour`"),
        (GOOD + '\n[[entity]]\ntype = "x\n', "line 8", ""),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, line: str, reason: str) -> None:
    path = tmp_path / "terms.toml"
    write(path, content, 1)
    with pytest.raises(ResourceError) as caught:
        Gazetteer.load(path)
    assert "terms.toml" in str(caught.value)
    assert line in str(caught.value)
    assert reason in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"gone\.toml"):
        Gazetteer.load(tmp_path / "gone.toml")


def test_a_line_that_is_no_utf8_is_named_and_a_byte_order_mark_is_none(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert names(Gazetteer.load(path), "压测服") == ["压测环境"]
    path.write_bytes(GOOD.encode() + b"\n# \xff\n")
    with pytest.raises(ResourceError, match="line 7: not UTF-8"):
        Gazetteer.load(path)
