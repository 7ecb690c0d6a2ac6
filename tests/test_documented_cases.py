"""The worked cases of docs/privacy.md and docs/coreference.md are what the code answers (those of docs/times.md: tests/models/times)."""

from __future__ import annotations

from pathlib import Path

import pytest

from models import privacy
from models.context import Turn
from models.coreference import CoreferenceModel
from models.entities.finder import find_entities
from models.records import Speaker

DOCS = Path(__file__).parents[1] / "docs"


def rows(page: str, columns: int) -> list[list[str]]:
    """The rows of the first table after the heading "Worked cases"."""
    lines = (DOCS / page).read_text(encoding="utf-8").split("## Worked cases")[1].split("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells[2:] if len(row) == columns]


@pytest.mark.parametrize("row", rows("privacy.md", 2), ids=lambda row: row[0][:24])
def test_a_documented_text_is_masked_as_shown(row: list[str]) -> None:
    said, masked = row
    text = said.replace("sk-sp-…", "sk-sp-a8Kd93LmQz71XcVbN4tYw2RpU6sE0hJf")  # the page does not print a whole key
    assert privacy.mask_never(text) == masked
    assert privacy.mask_never(masked) == masked


@pytest.fixture(scope="module")
def model() -> CoreferenceModel:
    return CoreferenceModel.load()


@pytest.mark.parametrize("row", rows("coreference.md", 4), ids=lambda row: row[1][:24])
def test_a_documented_reference_is_resolved_as_shown(model: CoreferenceModel, row: list[str]) -> None:
    before, said, resolved, method = row
    context = [
        Turn(role="customer" if place % 2 == 0 else "agent", text=text, entities=find_entities(text))
        for place, text in enumerate(part.strip() for part in before.split(" / ") if part.strip())
    ]
    found = model.resolve(said, speaker=Speaker(role="customer"), context=context, entities=find_entities(said))
    assert found.resolved_text == (said if resolved.startswith("unchanged") else resolved)
    methods = {mention.method for mention in found.mentions}
    if "review" in resolved:
        assert any(mention.needs_human_review for mention in found.mentions)
    if method and not method.startswith("network") and method != "unresolved":
        assert method in methods
