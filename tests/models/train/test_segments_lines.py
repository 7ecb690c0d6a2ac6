"""Own Chinese lines cut into clauses: well formed, each once, and those held out are nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = {
    name: ROOT / path
    for name, path in {
        "first": "tests/data/segments_zh.txt",
        "more": "models/train/segments_lines_zh.txt",
        "held": "models/train/segments_held_zh.txt",
    }.items()
}


def lines_of(name: str) -> list[str]:
    lines = FILES[name].read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", FILES)
def test_every_clause_has_a_word(name: str) -> None:
    for line in lines_of(name):
        assert line == line.strip()
        assert all(any(ch.isalnum() for ch in clause) for clause in line.split("|")), line


def test_no_line_stands_twice() -> None:
    texts = [line.replace("|", "") for name in FILES for line in lines_of(name)]
    assert len(texts) == len(set(texts))


def test_enough_is_held_out_with_and_without_boundaries() -> None:
    held = lines_of("held")
    assert len(held) > 100
    assert sum("|" not in line for line in held) > 15
