"""The exported schemas are those of the records as they are."""

from pathlib import Path

import pytest

from models.schemas import RECORDS, document

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_exported_schema_is_current(name: str) -> None:
    written = (FOLDER / f"{name}-1.json").read_text(encoding="utf-8")
    assert written == document(name), "run: .venv/bin/python -m models.schemas docs/schemas"
