"""The write policy (W1-W3, W6): whether a reading becomes memory, in which class and layer, and until when.

must         identity, preferences, decisions, closed matters, milestones, what a person states about their life: no expiry
conditional  open task state: expires after 7 to 30 days
not          small talk, trials, rejected proposals, reasoning, recital of recalled text, quotes, pure questions
never        what holds nothing but masked personal data (masking itself happens at ingest)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, Protocol

from msgspec import Struct

from models.privacy.spans import PLACEHOLDER
from models.records import Affect, Audit, Layer, Severity, UnitType, Validity
from models.tasks.slot_values import content_tokens
from models.tasks.slots import read_slots
from models.units import claims

WriteClass = Literal["must", "conditional", "not", "never"]
STATUS_DAYS, REQUEST_DAYS, OPEN_DAYS = 14, 30, 30
"""Expiry of task status, of open requests, of open matters (complaints, promises), counted from the day they fall due, if they do."""
REVIEW_MONTHS = 12
"""A preference is due for review after so many months; it is kept until somebody says otherwise."""
ANONYMOUS_HOURS = 24
"""Memory of an anonymous session ends with the session: at its logout, at the latest after this."""
LONG_ANSWER, LEAD = 400, 300
"""An agent's turn of more than `LONG_ANSWER` characters is general text: past its first `LEAD`, only promises and status are kept."""

_PROFILE_ATTRIBUTES = frozenset(
    [
        "preference",
        "favourite",
        "residence",
        "employer",
        "role",
        "diet",
        "allergy",
        "name",
        "address_as",
        "wish",
        "responsibility",
        "location",
        "delivery",
        "my",
    ]
)
_LASTING = frozenset({"preference", "identity"})
_AGENT_KEEPS = frozenset(
    {"commitment", "status_update", "decision", "event", "fact", "correction", "refusal", "constraint", "rule"}
)


class Reading(Protocol):
    """What filter 3 read in a segment: see ``models/units/unit_reading.py``."""

    @property
    def type(self) -> UnitType: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def resolution_status(self) -> str: ...
    @property
    def validity(self) -> Validity: ...


class Decision(Struct, frozen=True, kw_only=True):
    """`write_class` must or conditional is written; `reason` says why or why not, without content."""

    write_class: WriteClass
    reason: str
    layer: Layer = "session"
    expires_at: datetime | None = None
    milestone: str | None = None

    @property
    def written(self) -> bool:
        """Whether a unit is made."""
        return self.write_class in ("must", "conditional")


def foreign_spans(turn: Affect) -> list[tuple[int, int]]:
    """Spans of the turn's text that are not its speaker's claims: quoted ones and injected recall blocks (I6)."""
    return sorted({*((a, b) for a, b in turn.quoted), *claims.foreign_spans(turn.text)})


def decide(
    turn: Affect,
    text: str,
    reading: Reading,
    *,
    small_talk: bool = False,
    hypothetical: bool = False,
    rejected: bool = False,
    lasting: bool | None = None,
) -> Decision:
    """What becomes of one segment of a turn. `text`: its resolved words, foreign spans cut out.

    `lasting`: it says something lasting about a person (residence, name, likes), whatever its type; None: read it here.
    """
    if lasting is None:
        lasting = turn.speaker.role == "customer" and (says_lasting(text) or _stands(turn, text, reading))
    refusal = _refusal(turn, text, reading, small_talk, hypothetical, rejected, lasting)
    if refusal is not None:
        return refusal
    milestone = claims.milestone(text)
    anonymous = turn.user_id is None
    layer = _layer(turn, reading, lasting)
    expires = _expiry(turn, text, reading, milestone, layer)
    write_class: WriteClass = "must" if expires is None else "conditional"
    reason = f"milestone:{milestone}" if milestone else layer if layer != "session" else reading.type
    if anonymous:
        layer = "session"
        limit = turn.ts + timedelta(hours=ANONYMOUS_HOURS)
        expires = min(expires, limit) if expires else limit
        write_class = "conditional"
    return Decision(write_class=write_class, reason=reason, layer=layer, expires_at=expires, milestone=milestone)


def says_lasting(text: str) -> bool:
    """Whether a statement sets a slot of a person's profile: residence, name, likes, wishes, diet, role …"""
    return any(fact.mode != "gone" and fact.attribute.split(":")[0] in _PROFILE_ATTRIBUTES for fact in read_slots(text))


def _stands(turn: Affect, text: str, reading: Reading) -> bool:
    """Whether a wish is meant for good: its sentence says so, if in another clause ("From now on, send me bullet points")."""
    if reading.type not in ("action_request", "preference", "constraint", "decision", "refusal"):
        return False
    whole = turn.resolved_text or turn.text
    at = whole.find(text[:24])
    if at < 0:
        return claims.says("standing", text)
    before = max((whole.rfind(stop, 0, at) for stop in ("。", "！", "？", "!", "?", ". ", "\n")), default=-1)
    return claims.says("standing", whole[before + 1 : at + len(text)])


def refused_audit(turn: Affect, decision: Decision, version: str = "") -> Audit:
    """The audit line of a segment that was not kept: why, and from which event; nothing of its content."""
    return Audit(
        tenant=turn.tenant, user_id=turn.user_id, action="refused", reason=f"{decision.write_class}:{decision.reason}",
        event_id=turn.event_id or "", ts=turn.ts, pipeline_version=version,
    )  # fmt: skip


def review_due(unit_type: str, ts: datetime, now: datetime) -> bool:
    """Whether a preference has stood unreviewed for 12 months (of 30.44 days)."""
    return unit_type == "preference" and now - ts >= timedelta(days=30.44 * REVIEW_MONTHS)


def _refusal(
    turn: Affect, text: str, reading: Reading, small_talk: bool, hypothetical: bool, rejected: bool, lasting: bool
) -> Decision | None:
    role = turn.speaker.role
    if role == "system":
        return Decision(write_class="not", reason="system_text")
    if role == "tool":
        return Decision(write_class="not", reason="tool_result_is_task_fact")
    bare = PLACEHOLDER.sub(" ", text)
    if bare != text and not claims.tells_besides_data(bare):
        return Decision(write_class="never", reason="personal_data")
    if not any(c.isalnum() for c in text) or small_talk or claims.is_small_talk(text):
        return Decision(write_class="not", reason="small_talk")
    if not content_tokens(text):
        return Decision(write_class="not", reason="no_content")
    if rejected and not (role == "customer" and read_slots(text)):
        return Decision(write_class="not", reason="rejected_proposal")
    if role == "agent":
        return _agent_refusal(turn, text, reading)
    if hypothetical and reading.type != "hypothesis":
        return Decision(write_class="not", reason="trial")
    if (
        role == "customer"
        and not lasting
        and claims.says("trial", text)
        and reading.type not in ("decision", "refusal")
    ):
        return Decision(write_class="not", reason="trial") if not claims.tells(text) else None
    may_ask = role == "customer" and not lasting and reading.type in ("question", "fact", "action_request")
    if may_ask and claims.asks_only(text) and not _names_matter(turn, text):
        return Decision(write_class="not", reason="question")
    return None


def _names_matter(turn: Affect, text: str) -> bool:
    """A question about an open matter ("RF-3310 怎么还没到账?") is the state of a task and worth keeping."""
    strong = any(entity.strength == "strong" and entity.text in turn.text for entity in turn.entities)
    return strong and (claims.says("pending", text) or turn.intent.label in ("challenge", "refuse"))


def _agent_refusal(turn: Affect, text: str, reading: Reading) -> Decision | None:
    if claims.says("recital", text):
        return Decision(write_class="not", reason="recital")
    if claims.says("reasoning", text):
        return Decision(write_class="not", reason="model_reasoning")
    if reading.type == "commitment" and not claims.says("proposal", text):
        return None
    if reading.type == "question" or claims.says("proposal", text) or text.rstrip().endswith(("?", "？", "吗。", "吗")):
        return Decision(write_class="not", reason="agent_question")
    if claims.says("about_user", text):
        return Decision(write_class="not", reason="recital")
    if _deep_in_answer(turn, text) and reading.type not in ("commitment", "status_update", "decision"):
        return Decision(write_class="not", reason="general_answer")
    return None if reading.type in _AGENT_KEEPS or reading.type == "action_request" else Decision(
        write_class="not", reason="agent_talk"
    )  # fmt: skip


def _deep_in_answer(turn: Affect, text: str) -> bool:
    return len(turn.text) > LONG_ANSWER and turn.text.find(text[:24]) > LEAD


def _layer(turn: Affect, reading: Reading, lasting: bool) -> Layer:
    if reading.type == "rule":
        return "knowledge" if turn.speaker.role in ("agent", "third_party") else "session"
    if turn.speaker.role == "customer" and (lasting or reading.type in _LASTING):
        return "profile"
    return "session"


def _expiry(turn: Affect, text: str, reading: Reading, milestone: str | None, layer: Layer) -> datetime | None:
    """Open task state expires; what a person is, likes, did and decided does not."""
    if layer != "session":
        return None
    pending = reading.resolution_status == "pending" or claims.says("pending", text)
    matter = claims.says("transaction", text) or any(entity.strength == "strong" for entity in turn.entities)
    if reading.type in ("correction", "decision") or turn.speaker.role == "third_party":
        return None
    if milestone is not None and not pending:
        return None
    due = _due(turn, text)
    if reading.type == "commitment" and turn.speaker.role == "agent":
        return due + timedelta(days=OPEN_DAYS)
    if reading.type == "action_request" and not claims.tells(text):
        return due + timedelta(days=REQUEST_DAYS)
    if not (pending or reading.type == "action_request") or not matter:
        return None
    if reading.type == "status_update":
        return due + timedelta(days=STATUS_DAYS if milestone is None else OPEN_DAYS)
    return due + timedelta(days=OPEN_DAYS)


def _due(turn: Affect, text: str) -> datetime:
    """When what is promised falls due: the latest time named, if it is later than the turn and within a year."""
    latest = turn.ts
    for time in turn.times:
        stated = time.end_time or time.normalized_time
        if not stated or time.original_form not in turn.text:
            continue
        try:
            moment = datetime.fromisoformat(stated)
        except ValueError:
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=turn.ts.tzinfo)
        if latest < moment < turn.ts + timedelta(days=366):
            latest = moment
    return latest


def trimmed(turn: Affect, start: int, end: int) -> Sequence[tuple[int, int]]:
    """The parts of a segment that are the speaker's own words; empty where all of it is quoted or injected."""
    parts = claims.own_spans(start, end, foreign_spans(turn))
    return [(a, b) for a, b in parts if any(c.isalnum() for c in turn.text[a:b])]
