"""A user's own labelled lines for filter 2, checked line by line: JSON lines with a text and at least one label.

``{"text", "context"?: [{"speaker","text"}…], "speaker_role"?, "title"?, "intent"?, "emotion"?, "load"?: {"stress"?: 0..1, …}}``;
``docs/intent-labels.md`` says what the labels mean. One line in five, by a hash of its text, is kept back for measuring.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, get_args

from models.affect_net import GROUPS
from models.context import turns_from_context
from models.errors import ResourceError
from models.records import EMOTIONS, INTENTS, Role
from models.train.affect_data import GROUP_OF, Example

AXES = ("stress", "certainty", "urgency", "cooperation")
FIELDS = frozenset({"id", "text", "context", "speaker_role", "title", "intent", "emotion", "load", "lang", "part", "domain", "hard", "group"})  # fmt: skip
LABELS = {"intent": "intent", "emotion": "emotion", "load": "load"}
SHOWN = 20
"""Errors shown at once; the rest is counted."""
WEIGHT = 8.0
"""Of a user's line beside one of the large sets: as our own lines have it."""


def read_lines(path: Path, wanted: str = "") -> list[Example]:
    """The examples of a file; `wanted` (intent, emotion, load) must be labelled in at least one line.

    Raises ResourceError that names every bad line by number (the first `SHOWN`), or the file.
    """
    try:
        rows = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise ResourceError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ResourceError(f"{path}: cannot be read ({error})") from error
    found: list[Example] = []
    errors: list[str] = []
    for number, line in enumerate(rows, 1):
        if not line.strip():
            continue
        try:
            found.append(example_of(json.loads(line)))
        except (ValueError, RecursionError) as error:
            what = f"not JSON ({error})" if isinstance(error, json.JSONDecodeError) else str(error)
            errors.append(f"{path}:{number}: {what}")
    if errors:
        more = f"\n… and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        raise ResourceError(f"{len(errors)} of {len(rows)} lines cannot be used:\n" + "\n".join(errors[:SHOWN]) + more)
    if not found:
        raise ResourceError(f"{path}: holds no line; see docs/intent-labels.md for what one looks like")
    if wanted and not any(labels(example, wanted) for example in found):
        raise ResourceError(
            f"{path}: no line says anything about {wanted}; give at least some lines the field `{LABELS[wanted]}`"
        )
    return found


def labels(example: Example, block: str) -> bool:
    """Whether an example is labelled for intent, emotion or load."""
    if block == "load":
        return any(value is not None for value in example.load)
    return bool(example.intent if block == "intent" else example.emotion)


def example_of(row: Any) -> Example:
    """The example of a decoded line. Raises ValueError that says what is wrong with it."""
    if not isinstance(row, dict):
        raise ValueError("not an object")
    unknown = sorted(set(row) - FIELDS)
    if unknown:
        raise ValueError(f"unknown field {', '.join(unknown)}; known: {', '.join(sorted(FIELDS))}")
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("`text` is missing or empty")
    context = row.get("context") or []
    if not isinstance(context, list) or not all(
        isinstance(t, dict) and isinstance(t.get("text"), str) for t in context
    ):
        raise ValueError('`context` must be a list of {"speaker", "text"}')
    role: Role = row.get("speaker_role") or "customer"
    intent, emotion = row.get("intent"), row.get("emotion")
    _one_of("speaker_role", role, get_args(Role))
    _one_of("intent", intent, (None, *INTENTS))
    _one_of("emotion", emotion, (None, *EMOTIONS))
    load = _load(row.get("load") or {})
    if intent is None and emotion is None and all(value is None for value in load):
        raise ValueError("says nothing: give it `intent`, `emotion` or `load`")
    group = None if emotion is None else GROUP_OF[emotion]
    levels: list[float | None] | None = None if group is None else [0.8 if name == group else 0.05 for name in GROUPS]
    return Example(
        text=text, source="user", weight=WEIGHT, context=turns_from_context(context), speaker_id=role, role=role,
        title=row.get("title"), intent=intent, emotion=group, levels=levels,
        finer={group: float(emotion != group)} if group in ("joy", "sadness", "anger") else {},
        load=load, held_out=zlib.crc32(text.strip().encode("utf-8", "replace")) % 5 == 0,
    )  # fmt: skip


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise ValueError(
            f"`{name}` is {value!r}, expected one of {', '.join(str(a) for a in allowed if a is not None)}"
        )


def _load(load: Any) -> list[float | None]:
    if not isinstance(load, dict) or not set(load) <= set(AXES):
        raise ValueError(f"`load` must be an object with some of {', '.join(AXES)}")
    for axis, value in load.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"`load.{axis}` is {value!r}, expected a number from 0 to 1")
    return [None if load.get(axis) is None else float(load[axis]) for axis in AXES]
