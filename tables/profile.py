"""The profile (W3): what lastingly holds of a person, as short lines for every bundle. A bounded list of slot numbers."""

from __future__ import annotations

from models.records import Unit
from tables.store import PROFILE, PersonRows
from tables.units import load

MAX_SLOTS = 48
"""Profile units kept at hand; of more, the longest not refreshed leaves the list (not the memory)."""
MAX_LINES = 16


def consider(rows: PersonRows, slot: int, unit: Unit) -> None:
    """Adds a unit of the profile layer to the list."""
    if unit.layer != "profile" or unit.type == "rule" or unit.status != "current":
        return
    slots = [known for known in rows.numbers(PROFILE) if known != slot] + [slot]
    rows.save(PROFILE, value=slots[-MAX_SLOTS:])


def forget(rows: PersonRows, slot: int) -> None:
    """Takes a slot off the list."""
    slots = rows.numbers(PROFILE)
    if slot in slots:
        kept = [known for known in slots if known != slot]
        if kept:
            rows.save(PROFILE, value=kept)
        else:
            rows.delete(PROFILE)


def lines(rows: PersonRows, clearance: int, limit: int = MAX_LINES) -> list[str]:
    """The current profile as lines, wishes and identity before the rest, newest first; nothing above the clearance."""
    known = [(slot, unit) for slot in rows.numbers(PROFILE) if (unit := load(rows, slot)) is not None]
    seen = [(slot, unit) for slot, unit in known if unit.status == "current" and unit.clearance <= clearance]
    seen.sort(key=lambda item: (item[1].type not in ("preference", "identity", "correction"), -item[0]))
    return [unit.summary or unit.resolved_content for _, unit in seen[:limit]]
