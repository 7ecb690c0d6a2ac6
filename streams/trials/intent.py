"""`cuestream try intent`: the parsed intent of a turn, its target resolved through the task that its context runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from models.context import Turn, turns_from_context
from models.entities.finder import find_entities
from models.entities.gazetteer import Gazetteer
from models.records import Affect, Emotion, Entity, Intent, Load, Speaker, TaskView
from models.tasks.intents import CHAT, INFORM, NONE, ParsedIntent, is_strong_id, parse_intent
from streams.settings import Settings
from streams.trials import Case, Trial, own_models, run_lines
from tables.sessions import SessionState, remember_turn
from tables.tasks import step

_START = datetime(2000, 1, 1, tzinfo=UTC)


def build(settings: Settings | None = None) -> Trial:
    """Loads the dictionaries; the rules come with the module."""
    own = own_models(settings)
    gazetteer = own.gazetteer.value if own else Gazetteer.load()

    def answer(case: Case) -> dict[str, Any]:
        earlier = case.get("context")
        turns = turns_from_context(earlier if isinstance(earlier, list) else [])
        lang = case.get("lang")
        session = SessionState(session_id="try", last_ts=_START)
        for number, turn in enumerate(turns):
            _take(session, turn, number, find_entities(turn.text, lang, gazetteer))
        entities = find_entities(case["text"], lang, gazetteer)
        last = turns_from_context([{"speaker": case.get("speaker_role") or "customer", "text": case["text"]}])[0]
        parsed, view = _take(session, last, len(turns), entities)
        return {
            "action": parsed.action,
            "target": _target(parsed, view),
            "reason": parsed.reason,
            "entities": [
                *({"id": e.id, "type": e.type, "text": e.text} for e in parsed.entities),
                *_known(parsed, view),
            ],
        }

    return answer


def _take(session: SessionState, turn: Turn, number: int, entities: list[Entity]) -> tuple[ParsedIntent, TaskView]:
    """Talks one turn through the task machine; returns its intent and the task that it continues."""
    record = Affect(
        event_id=f"try-{number}", session_id="try", speaker=Speaker(role=turn.role), text=turn.text, resolved_text=turn.text,
        ts=_START + timedelta(seconds=30 * number), entities=entities, intent=Intent(label="neutral", probs={}),
        load=Load(stress=0.0, certainty=0.5, urgency=0.0, cooperation=0.5), emotion=Emotion(label="calm", probs={}),
    )  # fmt: skip
    parsed = parse_intent(turn.text, entities=entities)
    done = step(session, record, parsed)
    remember_turn(
        session, Turn(event_id=record.event_id or "", role=turn.role, text=turn.text, ts=record.ts, entities=entities)
    )
    return parsed, done.view


def _known(parsed: ParsedIntent, view: TaskView) -> list[dict[str, str | None]]:
    """The task's ids that a turn without ids of its own is about."""
    if any(entity.strength == "strong" for entity in parsed.entities) or parsed.action in (CHAT, INFORM, NONE):
        return []
    said = {entity.id for entity in parsed.entities}
    return [
        {"id": value, "type": name, "text": None}
        for name, value in view.critical_entities.items()
        if value not in said and is_strong_id(value)
    ]


def _target(parsed: ParsedIntent, view: TaskView) -> str | None:
    """The target, named after what the running task holds where the turn only points to it ("cancel it")."""
    known = _known(parsed, view)
    if not known:
        return parsed.target
    kind = (known[0]["type"] or "").removesuffix("_id")
    if parsed.target in (None, "current"):
        return f"current_{kind}"
    return parsed.target if parsed.target.startswith("current_") else f"current_{parsed.target}"


if __name__ == "__main__":
    run_lines(build)
