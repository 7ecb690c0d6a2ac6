"""The worked cases of docs/times.md are what the code answers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from models.times import find_times

NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
PAGE = Path(__file__).parents[3] / "docs" / "times.md"


def rows() -> list[list[str]]:
    """The table rows after the heading "Worked cases"."""
    lines = PAGE.read_text(encoding="utf-8").split("## Worked cases")[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells if row[0] not in ("words", "---")]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_documented_case(row: list[str]) -> None:
    words, start, end, grain, recurrence = row
    found = find_times(words, NOW)
    assert [t.original_form for t in found] == [words]
    said = found[0]
    assert (said.normalized_time or "").startswith(start) and bool(said.normalized_time) == bool(start)
    assert (said.end_time or "").startswith(end) and bool(said.end_time) == bool(end)
    assert (said.grain or "", said.recurrence or "") == (grain, recurrence)
