"""A user's own labelled lines: every bad line is named, good ones become examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.errors import ResourceError
from models.train.user_lines import SHOWN, read_lines

GOOD = {"text": "这个价格我们不能接受", "context": [{"speaker": "agent", "text": "报价八万"}], "intent": "refuse", "emotion": "frustration",
        "load": {"stress": 0.6}, "speaker_role": "customer", "title": "CTO"}  # fmt: skip


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text(
        "\n".join(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines), encoding="utf-8"
    )
    return path


def test_a_line_becomes_an_example(tmp_path: Path) -> None:
    (example,) = read_lines(written(tmp_path, GOOD, ""), "intent")
    assert (example.intent, example.emotion, example.finer, example.role, example.title) == (
        "refuse",
        "anger",
        {"anger": 1.0},
        "customer",
        "CTO",
    )
    assert example.load == [0.6, None, None, None]
    assert [turn.text for turn in example.context] == ["报价八万"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not json", "not JSON"), ("[1]", "not an object"), ("[" * 100_000, "recursion"), ({"intent": "refuse"}, "`text`"), ({"text": " ", "intent": "refuse"}, "`text`"),
        ({"text": "a", "intent": "wish"}, "expected one of commit, clarify"), ({"text": "a", "emotion": "meh"}, "expected one of calm"),
        ({"text": "a", "load": {"stress": 3}}, "from 0 to 1"), ({"text": "a", "load": {"stress": True}}, "from 0 to 1"),
        ({"text": "a", "load": {"stress": float("nan")}}, "from 0 to 1"), ({"text": "a", "load": {"hurry": 1}}, "some of stress"),
        ({"text": "a", "context": ["b"], "intent": "refuse"}, "`context`"), ({"text": "a", "speaker_role": "boss", "intent": "refuse"}, "`speaker_role`"),
        ({"text": "a"}, "says nothing"), ({"text": "a", "intnet": "refuse"}, "unknown field intnet"), ({"text": "a", "intent": ["refuse"]}, "expected one of"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: object, why: str) -> None:
    path = written(tmp_path, GOOD, line, GOOD)
    with pytest.raises(ResourceError) as caught:
        read_lines(path)
    assert f"{path}:2: " in str(caught.value) and why in str(caught.value)


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ResourceError) as caught:
        read_lines(written(tmp_path, *["{}"] * 50))
    assert str(caught.value).startswith("50 of 50 lines") and str(caught.value).count("\n") == SHOWN + 1


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_says_where_to_read_on(tmp_path: Path, content: str) -> None:
    with pytest.raises(ResourceError, match=r"docs/intent-labels\.md"):
        read_lines(written(tmp_path, content))


def test_a_file_that_says_nothing_of_what_is_trained(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="no line says anything about load"):
        read_lines(written(tmp_path, {"text": "a", "intent": "refuse"}), "load")
    with pytest.raises(ResourceError, match="no such file"):
        read_lines(tmp_path / "none.jsonl")
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ResourceError, match="cannot be read"):
        read_lines(tmp_path / "latin")
