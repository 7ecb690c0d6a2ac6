"""An earlier turn of the conversation, as the filters see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from models.records import Entity, Role, TimeExpression

CONTEXT_TURNS = 10
"""How many earlier turns a stage is given at most; filter 1 looks back 80 tokens, which these hold."""


class Turn(Struct, frozen=True, kw_only=True):
    """One earlier turn: who said it, the words as resolved then, and what was read in them."""

    event_id: str = ""
    speaker_id: str | None = None
    speaker_name: str | None = None
    role: Role = "customer"
    text: str
    ts: datetime | None = None
    entities: list[Entity] = field(default_factory=list)
    times: list[TimeExpression] = field(default_factory=list)
    intent: str | None = None


_ROLES: dict[str, Role] = {
    "customer": "customer", "user": "customer", "agent": "agent", "assistant": "agent", "third_party": "third_party",
    "tool": "tool", "system": "system",
}  # fmt: skip


def turns_from_context(items: Sequence[Any]) -> list[Turn]:
    """Turns from contract-style context ``[{"speaker", "text"}, …]``, oldest first; malformed items are left out."""
    turns = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("text"), str):
            continue
        speaker = str(item.get("speaker") or "customer")
        role = _ROLES.get(speaker, "customer")
        name = speaker if speaker not in _ROLES else None
        turns.append(Turn(speaker_id=speaker, speaker_name=name, role=role, text=item["text"]))
    return turns[-CONTEXT_TURNS:]
