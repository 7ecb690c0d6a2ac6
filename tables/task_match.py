"""Which task a customer's turn belongs to (T2): ids first, then words of return and change, then the matter, then the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from models.records import Affect, Entity
from models.tasks.constraints import asked_for
from models.tasks.intents import CHAT, INFORM, ParsedIntent, common_words, is_strong_id
from models.tasks.slot_values import content_tokens
from tables.sessions import SessionState, TaskState

SHORT_TURN = 12
"""A question of at most so many characters (Chinese) or half as many words (other) leans on what was said before."""


TOPIC_TEXT = 500
"""Characters of a turn whose words count as what it is about."""


class Choice(Struct):
    """`task` is the task continued; None for a new one or none. `recalled`: entities the turn points to, said before."""

    continues: Literal["deepen", "return", "new", "none"]
    task: TaskState | None = None
    recalled: list[Entity] = field(default_factory=list)


def choose(session: SessionState, turn: Affect, parsed: ParsedIntent, has_content: bool) -> Choice:
    """The task that a customer's turn continues. `has_content`: it brings a constraint, which needs a task to hold it."""
    active = next((task for task in session.tasks if task.task_id == session.active_task), None)
    if parsed.action == CHAT:
        return Choice("deepen", active) if active is not None else Choice("none")
    by_id = _by_ids(session, active, parsed)
    if by_id is not None:
        return by_id
    topic = set(turn_topic(turn, parsed))
    if (parsed.group or "").startswith("off:") and not (active and mark_of(parsed) in active.topic):
        return Choice("none")
    if parsed.marker == "back" or (active is None and session.tasks):
        best = _best(session.tasks, active if parsed.marker == "back" else None, topic, parsed)
        if best is not None:
            return Choice("deepen" if best is active else "return", best)
    if active is None:
        latest = max(session.tasks, key=lambda t: (t.last_ts, t.task_id), default=None)
        if (
            latest is not None
            and not parsed.named
            and parsed.marker != "switch"
            and _is_short(turn.text)
            and parsed.asks
        ):
            return Choice("return", latest)
        return _first(session, turn, parsed, has_content)
    if _belongs(active, turn, parsed, topic):
        return Choice("deepen", active)
    others = [task for task in session.tasks if task is not active]
    other = _best(others, None, topic, parsed) if parsed.named and parsed.marker != "switch" else None
    return Choice("new") if other is None or mark_of(parsed) not in other.topic else Choice("return", other)


def mark_of(parsed: ParsedIntent) -> str | None:
    """The mark under which a task keeps its matter among its topic words: "#order"."""
    return f"#{parsed.group}" if parsed.group else None


def new_marks(task: TaskState, parsed: ParsedIntent) -> list[str]:
    """The mark of a turn's matter, where its task has none yet or the same. What is only touched on leaves no mark."""
    mark, known = mark_of(parsed), _marks(task)
    if mark is None or (known and mark not in known):
        return []
    return [mark]


def turn_topic(turn: Affect, parsed: ParsedIntent) -> list[str]:
    """The content words of a turn, in order of the alphabet so that rows are the same in every run."""
    words = content_tokens((turn.resolved_text or turn.text)[:TOPIC_TEXT])
    common = common_words()
    return sorted(word for word in words if word not in common)[:24]


def _by_ids(session: SessionState, active: TaskState | None, parsed: ParsedIntent) -> Choice | None:
    """By the strong ids of the turn: the task that has one, or, for an id of a kind that the running task has already, a new one."""
    ids = [entity for entity in parsed.entities if entity.strength == "strong"]
    if not ids:
        return None
    for task in sorted(session.tasks, key=lambda t: (t is not active, -t.last_ts.timestamp(), t.task_id)):
        if any(entity.id in task.critical_entities.values() for entity in ids):
            return Choice("deepen" if task is active else "return", task)
    if active is None:
        return Choice("new") if parsed.marker != "back" or not session.tasks else None
    held = {name.split("_")[0] for name, value in active.critical_entities.items() if is_strong_id(value)}
    if any(entity.type.lower().split("_")[0] in held for entity in ids):
        return Choice("new")
    return (
        Choice("deepen", active)
        if (_compatible(active, parsed) or parsed.pointing) and parsed.marker != "switch"
        else Choice("new")
    )


def _first(session: SessionState, turn: Affect, parsed: ParsedIntent, has_content: bool) -> Choice:
    """No task runs: a wish, a question, a constraint or an answer opens one; what is only told does not."""
    before = session.turns[-1] if session.turns else None
    answered = (
        before is not None and before.role == "agent" and bool(_ASKS.search(before.text) or asked_for(before.text))
    )
    if parsed.action not in (INFORM, "none") or has_content or parsed.asks or answered or parsed.group:
        return Choice("new", recalled=_recall(session, turn, parsed))
    return Choice("none")


def _recall(session: SessionState, turn: Affect, parsed: ParsedIntent) -> list[Entity]:
    """The newest id in the discourse of the last 15 minutes that a pointing turn can mean ("cancel this order")."""
    if not parsed.pointing or parsed.group not in ("order", "ticket", None):
        return []
    for earlier in reversed(session.turns):
        if earlier.ts is not None and (turn.ts - earlier.ts).total_seconds() >= 900:
            return []
        ids = [entity for entity in earlier.entities if entity.strength == "strong"]
        if ids:
            return ids[:1] if len({entity.id for entity in ids}) == 1 else []
    return []


def _belongs(active: TaskState, turn: Affect, parsed: ParsedIntent, topic: set[str]) -> bool:
    """Whether a turn without ids goes on with the running task. Most turns do: it takes a reason to leave."""
    common = bool(topic & set(active.topic))
    leans = parsed.pointing or common
    if parsed.marker == "switch":
        return parsed.pointing and (_compatible(active, parsed) or common)
    if not parsed.named:
        fresh = (
            parsed.action in _FRESH and len(topic) > 1 and not _is_short(turn.text) and not _ANSWERS.match(turn.text)
        )
        return leans or not fresh
    if _compatible(active, parsed):
        return True
    if parsed.accessory:
        return leans or parsed.marker == "deepen" or _is_short(turn.text)
    if not (parsed.wants or parsed.asks):
        return True
    return leans and bool({f"#{group}" for group in parsed.groups} & _marks(active)) and not parsed.wants


_ASKS = re.compile(r"[?？]\s*$")
_ANSWERS = re.compile(
    r"(?i)\s*(?:是的|嗯|好|对[，,]|行|可以|没有|不用|yes|yeah|yep|perfect|great|sure|ok|okay|no|not)(?![a-z])"
)
_FRESH = frozenset({"recommend", "buy", "write"})
"""Actions that often begin something new when they come with words of their own."""


def _is_short(text: str) -> bool:
    if any("\u4e00" <= c <= "\u9fff" for c in text):
        return sum(c.isalnum() for c in text) <= SHORT_TURN
    return len(text.split()) <= SHORT_TURN // 2


def _marks(task: TaskState) -> set[str]:
    return {word for word in task.topic if word.startswith("#")}


def _compatible(task: TaskState, parsed: ParsedIntent) -> bool:
    """Whether a task and a turn can be about one matter: the same, or one of them has none."""
    marks = _marks(task)
    return parsed.group is None or not marks or f"#{parsed.group}" in marks


def _best(
    tasks: Sequence[TaskState], active: TaskState | None, topic: set[str], parsed: ParsedIntent
) -> TaskState | None:
    """The task that a returning turn means: by its matter and words; of equals the latest that is not running."""
    best: tuple[tuple[float, bool, float, str], TaskState] | None = None
    for task in tasks:
        words = set(task.topic)
        named = {f"#{group}" for group in parsed.groups} | ({mark_of(parsed)} if parsed.group else set())
        score = 2.0 * len(named & words) + len(topic & words) + 0.5 * _shared_characters(topic, words)
        if parsed.named and not _compatible(task, parsed):
            score -= 1.0
        rank = (score, task is not active, task.last_ts.timestamp(), task.task_id)
        if best is None or rank > best[0]:
            best = (rank, task)
    if best is None:
        return None
    pointed = parsed.marker == "back" or parsed.pointing
    return best[1] if best[0][0] > 0 or (pointed and best[0][0] >= 0) else None


def _shared_characters(topic: set[str], words: set[str]) -> int:
    """Chinese words that share a character with a word of the task (椅子, 办公椅), counted once each."""
    letters = {c for word in words if not word.startswith("#") for c in word if "\u4e00" <= c <= "\u9fff"}
    return sum(1 for word in topic if len(word) > 1 and any(c in letters for c in word))
