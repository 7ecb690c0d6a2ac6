"""JSON Schemas of the records on the topics, from their one definition. ``python -m models.schemas docs/schemas`` writes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from models import records

RECORDS: dict[str, type[msgspec.Struct]] = {
    "utterance": records.Utterance,
    "asr": records.AsrSegment,
    "resolved": records.Resolved,
    "affect": records.Affect,
    "unit": records.Unit,
    "task": records.Task,
    "command": records.Command,
    "rule": records.Rule,
    "audit": records.Audit,
    "bundle": records.Bundle,
    "review": records.Review,
    "dead": records.Dead,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a record kind."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(RECORDS[name])}


def document(name: str) -> str:
    """The schema as it stands in `docs/schemas`."""
    return msgspec.json.format(msgspec.json.encode(schema(name)), indent=2).decode() + "\n"


def main(folder: str) -> None:
    """Writes one file a record kind into the folder."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name in RECORDS:
        (target / f"{name}-1.json").write_text(document(name), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
