"""One typed definition of every record on a topic (contract section 2).

A record is decoded once a hop with ``decode`` and encoded once with ``encode``; in between it is one of these structs.
Times are aware datetimes; spans are character offsets ``[start, end)`` into the record's own ``text``; scores are 0..1.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

Role = Literal["customer", "agent", "third_party", "tool", "system"]
IntentLabel = Literal["commit", "clarify", "challenge", "request", "refuse", "neutral"]
EmotionLabel = Literal[
    "calm", "joy", "gratitude", "surprise", "sadness", "disappointment", "fear", "anger", "frustration", "disgust"
]
INTENTS: tuple[IntentLabel, ...] = ("commit", "clarify", "challenge", "request", "refuse", "neutral")
EMOTIONS: tuple[EmotionLabel, ...] = (
    "calm", "joy", "gratitude", "surprise", "sadness", "disappointment", "fear", "anger", "frustration", "disgust",
)  # fmt: skip
UnitType = Literal[
    "action_request", "status_update", "commitment", "complaint", "preference", "identity", "constraint", "decision",
    "fact", "correction", "rule", "question", "refusal", "hypothesis", "event",
]  # fmt: skip
Severity = Literal["high", "medium", "low"]
UnitStatus = Literal["current", "superseded", "corrected", "expired", "erased"]
Layer = Literal["session", "profile", "knowledge"]

Aware = Annotated[datetime, Meta(tz=True)]
Text = Annotated[str, Meta(min_length=1)]
Score = Annotated[float, Meta(ge=0.0, le=1.0)]


class Source(Struct, frozen=True, kw_only=True):
    """Where a record came in: the raw topic, never an intermediate one."""

    topic: str
    partition: int
    offset: int


class Speaker(Struct, frozen=True, kw_only=True):
    """Who speaks. `weight` multiplies the affect load; `title` ("CTO") is evidence for intent and authority."""

    id: str | None = None
    name: str | None = None
    role: Role = "customer"
    title: str | None = None
    weight: Annotated[float, Meta(ge=0.0, le=10.0)] = 1.0


class Pause(Struct, frozen=True, kw_only=True):
    """A silence of `ms` milliseconds before the character at offset `at`."""

    at: Annotated[int, Meta(ge=0)]
    ms: Annotated[int, Meta(ge=0)]


class ToolResult(Struct, frozen=True, kw_only=True):
    """What a tool returned: its name, whether it worked, and its key values. The raw body is never kept."""

    name: str
    ok: bool = True
    fields: dict[str, Any] = field(default_factory=dict)


class Utterance(Struct, kw_only=True):
    """utterance/1: one thing somebody said or wrote. Ingest fills the last four fields."""

    schema: Literal["utterance/1", "resolved/1", "affect/1"] = "utterance/1"
    event_id: str | None = None
    tenant: Text = "default"
    user_id: str | None = None
    session_id: Text
    speaker: Speaker = field(default_factory=Speaker)
    channel: str = "app"
    clearance: int = 0
    modality: Literal["text", "speech"] = "text"
    text: str
    lang: str | None = None
    ts: Aware
    remember: bool = True
    pauses: list[Pause] = field(default_factory=list)
    asr_revision: int | None = None
    """Which revision of a recognised segment this is: a later final one takes the place of an earlier one."""
    asr_confidence: Score | None = None
    tool: ToolResult | None = None
    reply_to: str | None = None
    quoted: list[tuple[int, int]] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    original_text: str | None = None
    language_mix: dict[str, float] = field(default_factory=dict)
    personal_data: list[str] = field(default_factory=list)
    source: Source | None = None


class Word(Struct, frozen=True, kw_only=True):
    """A recognised word with its time in the audio (ms) and probability."""

    w: str
    start_ms: int
    end_ms: int
    p: float | None = None


class AsrSegment(Struct, kw_only=True):
    """asr/1: one revision of a recognised segment. Only `is_final` revisions become utterances."""

    schema: Literal["asr/1"] = "asr/1"
    tenant: Text = "default"
    user_id: str | None = None
    session_id: Text
    segment_id: Text
    revision: int = 0
    is_final: bool
    speaker: Speaker = field(default_factory=Speaker)
    channel: str = "voice"
    clearance: int = 0
    text: str
    start_ms: int = 0
    end_ms: int = 0
    words: list[Word] = field(default_factory=list)
    lang: str | None = None
    ts: Aware
    remember: bool = True
    reply_to: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


class Mention(Struct, frozen=True, kw_only=True):
    """A reference and the traceable guess at what it means. `start == end` marks an elided (zero) mention."""

    text: str
    start: int
    end: int
    core_referent: str
    resolved_entity: str | None = None
    antecedent_span: tuple[int, int] | None = None
    antecedent_event_id: str | None = None
    context_window: str | None = None
    distance: int | None = None
    confidence: float = 0.0
    method: str = ""
    needs_human_review: bool = False


class Entity(Struct, frozen=True, kw_only=True):
    """Something named. `id` is the canonical form that two texts share; strong ids never merge on a differing digit."""

    id: str
    type: str
    text: str
    start: int
    end: int
    strength: Literal["strong", "weak"] = "weak"


class TimeExpression(Struct, frozen=True, kw_only=True):
    """A time expression read against the utterance's own clock. Unknown is null, never a guess.

    `normalized_time` and `end_time` (exclusive; null for an instant or an open end) are RFC 3339 strings in the zone of
    `relative_base`; `grain` is the finest unit that was said; `recurrence` is a cycle pattern such as ``every_monday``.
    """

    original_form: str
    start: int
    end: int
    normalized_time: str | None = None
    end_time: str | None = None
    grain: str | None = None
    recurrence: str | None = None
    relative_base: str | None = None


class Resolved(Utterance, kw_only=True):
    """resolved/1: the utterance with its references, entities and times (filter 1)."""

    schema: Literal["resolved/1", "affect/1"] = "resolved/1"
    resolved_text: str
    mentions: list[Mention] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    times: list[TimeExpression] = field(default_factory=list)


class Intent(Struct, frozen=True, kw_only=True):
    """The speech act with the probabilities of all six; `corrected_by` names a rule that overruled the model."""

    label: IntentLabel
    probs: dict[str, float]
    corrected_by: str | None = None


class Load(Struct, frozen=True, kw_only=True):
    """Emotional load after the speaker-role weighting, each 0..1."""

    stress: Score
    certainty: Score
    urgency: Score
    cooperation: Score


class Emotion(Struct, frozen=True, kw_only=True):
    """The dominant emotion and the probabilities of all ten."""

    label: EmotionLabel
    probs: dict[str, float]


class Affect(Resolved, kw_only=True):
    """affect/1: the resolved utterance with intent, load and emotion (filter 2)."""

    schema: Literal["affect/1"] = "affect/1"
    intent: Intent
    load: Load
    emotion: Emotion
    commitment_strength: Score = 0.0
    confidence: Score = 0.75
    recurring: bool = False


class Validity(Struct, frozen=True, kw_only=True):
    """How long a unit or rule holds, and how it is checked (the temporal metadata mesh)."""

    type: Literal["permanent", "periodic", "transient"] = "permanent"
    effective_from: Aware | None = None
    effective_to: Aware | None = None
    cycle_pattern: str | None = None
    last_verified: Aware | None = None
    verifier: str | None = None
    fallback: str | None = None


class UnitSource(Struct, frozen=True, kw_only=True):
    """The place a unit was said: the raw record plus session, turn, channel and modality."""

    topic: str
    partition: int
    offset: int
    session_id: str
    turn: int
    channel: str
    modality: str


class Slot(Struct, frozen=True, kw_only=True):
    """Subject and attribute: two current units with one slot are in conflict unless the attribute is multi-valued."""

    subject: str
    attribute: str


class Unit(Struct, kw_only=True):
    """unit/1: what is remembered. `unit_id` is a UUIDv5 of tenant, event id and span, so a replay gives the same."""

    schema: Literal["unit/1"] = "unit/1"
    tenant: str
    user_id: str | None
    unit_id: str
    content: str
    resolved_content: str
    summary: str
    source_event_ids: list[str]
    start: int
    end: int
    ts: Aware
    speaker: Speaker
    lang: str | None = None
    entropy: float
    type: UnitType
    priority_flag: bool = False
    layer: Layer = "session"
    topic: str | None = None
    slot: Slot | None = None
    severity: Severity = "low"
    resolution_status: Literal["none", "pending", "resolved"] = "none"
    resolved_at: Aware | None = None
    intent: Intent
    load: Load
    emotion: Emotion
    commitment_strength: float = 0.0
    recurring: bool = False
    entities: list[Entity] = field(default_factory=list)
    times: list[TimeExpression] = field(default_factory=list)
    validity: Validity = field(default_factory=Validity)
    write_class: Literal["must", "conditional"] = "conditional"
    expires_at: Aware | None = None
    clearance: int = 0
    confidence: float = 0.75
    status: UnitStatus = "current"
    superseded_by: str | None = None
    pipeline_version: str
    source: UnitSource


class Task(Struct, kw_only=True):
    """task/1: a transition of one session's task (new, deepen, return, archive, expire, logout)."""

    schema: Literal["task/1"] = "task/1"
    tenant: str
    user_id: str | None
    session_id: str
    task_id: str
    transition: str
    current_stage: str
    intent_chain: list[str]
    critical_entities: dict[str, str]
    constraints: list[str] = field(default_factory=list)
    confirmed_facts: dict[str, str] = field(default_factory=dict)
    timeout_at: Aware | None = None
    event_id: str
    ts: Aware
    pipeline_version: str = ""


class Scope(Struct, kw_only=True):
    """What a command is about: everything, one unit, a text, a topic, or a stretch of time."""

    all: bool = False
    unit_id: str | None = None
    text: str | None = None
    topic: str | None = None
    from_: Aware | None = field(default=None, name="from")
    to: Aware | None = None


class Command(Struct, kw_only=True):
    """command/1: a person's or an operator's order about a memory."""

    schema: Literal["command/1"] = "command/1"
    command_id: Text
    kind: Literal["forget", "correct", "invalidate", "logout", "organisation_change"]
    tenant: Text = "default"
    user_id: str | None = None
    session_id: str | None = None
    scope: Scope = field(default_factory=Scope)
    text: str | None = None
    ts: Aware
    issued_by: str | None = None


class Rule(Struct, kw_only=True):
    """rule/1: a policy or fact of the institution, in force from `effective_from` until `effective_to`."""

    schema: Literal["rule/1"] = "rule/1"
    rule_id: Text
    tenant: Text = "default"
    text: Text
    category: str | None = None
    scope: dict[str, str] = field(default_factory=dict)
    effective_from: Aware | None = None
    effective_to: Aware | None = None
    supersedes: str | None = None
    clearance: int = 0
    validity: Validity | None = None
    ts: Aware


class Audit(Struct, kw_only=True):
    """audit/1: what was written, refused, superseded, corrected or erased, and why. Never the erased text."""

    schema: Literal["audit/1"] = "audit/1"
    tenant: str
    user_id: str | None
    action: Literal["written", "refused", "superseded", "corrected", "expired", "erased", "invalidated", "resolved"]
    reason: str
    event_id: str
    unit_id: str | None = None
    by_unit_id: str | None = None
    ts: Aware
    pipeline_version: str = ""


class CueValidity(Struct, frozen=True, kw_only=True):
    """Whether a cue's fact still holds, and the event time at which that was found out."""

    status: Literal["valid", "unverified", "failed", "fallback"] = "valid"
    checked_at: Aware | None = None


class Cue(Struct, kw_only=True):
    """One memory that should come to mind, with the terms of its score and a sentence why."""

    unit_id: str
    source_event_ids: list[str]
    text: str
    score: float
    terms: dict[str, float]
    weights: dict[str, float]
    why: str
    validity: CueValidity = field(default_factory=CueValidity)


class TaskView(Struct, kw_only=True):
    """The running task as a bundle shows it."""

    task_id: str | None = None
    current_stage: str | None = None
    intent_chain: list[str] = field(default_factory=list)
    critical_entities: dict[str, str] = field(default_factory=dict)
    continues: Literal["deepen", "return", "new", "none"] = "none"
    timeout_at: Aware | None = None


class Budget(Struct, kw_only=True):
    """Tokens by section of the assembled context; `truncated` names what was cut."""

    limit: int = 0
    used: int = 0
    sections: dict[str, int] = field(default_factory=dict)
    truncated: list[str] = field(default_factory=list)


class Context(Struct, kw_only=True):
    """The messages a generator is given, and their budget."""

    messages: list[dict[str, str]] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)


class Bundle(Struct, kw_only=True):
    """bundle/1: what comes to mind for one turn, best cue first."""

    schema: Literal["bundle/1"] = "bundle/1"
    bundle_id: str
    event_id: str
    tenant: str
    user_id: str | None
    session_id: str
    ts: Aware
    task: TaskView
    cues: list[Cue]
    constraints: list[str] = field(default_factory=list)
    confirmed_facts: dict[str, str] = field(default_factory=dict)
    profile: list[str] = field(default_factory=list)
    knowledge: list[str] = field(default_factory=list)
    abstained: bool = False
    context: Context = field(default_factory=Context)
    debug_marker: str = ""
    variant: str = "default"
    pipeline_version: str = ""
    timings_ms: dict[str, float] = field(default_factory=dict)


class Review(Struct, kw_only=True):
    """review/1: a guess that a person should confirm or reject."""

    schema: Literal["review/1"] = "review/1"
    review_id: str
    tenant: str
    user_id: str | None
    event_id: str
    kind: str
    mention: Mention | None = None
    text: str = ""
    ts: Aware


class Dead(Struct, kw_only=True):
    """dead/1: a record that a stage could not take. `original_b64` is null where its bytes may not be kept."""

    schema: Literal["dead/1"] = "dead/1"
    stage: str
    reason: str
    error: str
    source: Source
    original_b64: str | None
    ts: Aware


_encoder = msgspec.json.Encoder()


def encode(record: Struct) -> bytes:
    """The record as one line of UTF-8 JSON, fields in their declared order: the same record gives the same bytes."""
    return _encoder.encode(record)
