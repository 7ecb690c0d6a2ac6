"""Units, turns and toy vectors for the tests of memory and recall."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from msgspec.structs import replace

from models.cues.cue_score import CosineNorm, Cosines, RecallWeights, load_weights
from models.cues.terms import terms
from models.records import Affect, Emotion, Entity, Intent, Load, Speaker, Unit, UnitSource

DIMENSION = 32
START = "2026-03-01T10:00:00+08:00"
CALM = Emotion(label="calm", probs={"calm": 1.0})
NEUTRAL = Intent(label="neutral", probs={"neutral": 1.0})
EASY = Load(stress=0.1, certainty=0.6, urgency=0.1, cooperation=0.5)


def toy_vector(text: str, like: str = "") -> np.ndarray:
    """A unit vector that depends on the text's terms alone: shared terms bring texts near."""
    out = np.full(DIMENSION, 0.6, dtype=np.float64)
    for term in terms(f"{text} {like}"):
        seed = int.from_bytes(term.encode()[:8].ljust(8, b"\0"), "little") % (2**32)
        out += np.random.default_rng(seed).normal(size=DIMENSION) * 0.15
    return (out / np.linalg.norm(out)).astype(np.float32)


def toy_weights() -> RecallWeights:
    """The shipped weights with the cosines of toy vectors."""
    norm = CosineNorm(mean=0.75, deviation=0.085, remark_mean=0.78, remark_deviation=0.08, prior=40.0)
    return replace(load_weights(), cosine=Cosines(zh=norm, other=norm))


def entity(name: str, strength: str = "strong") -> Entity:
    return Entity(id=name.casefold(), type="thing", text=name, start=0, end=len(name), strength=strength)  # type: ignore[arg-type]


def unit(text: str, event: str = "e1", ts: str = START, **changes: Any) -> Unit:
    """A unit as the write policy would make it; any field may be set."""
    session = changes.pop("session", ts[:10])
    number = changes.pop("turn", 1)
    fields: dict[str, Any] = {
        "tenant": "t", "user_id": "u1", "unit_id": f"unit-{event}", "content": text, "resolved_content": text, "summary": text,
        "source_event_ids": [event], "start": 0, "end": len(text), "ts": datetime.fromisoformat(ts), "speaker": Speaker(),
        "lang": "zh" if not text.isascii() else "en", "entropy": 0.5, "type": "fact", "intent": NEUTRAL, "load": EASY, "emotion": CALM,
        "pipeline_version": "test",
        "source": UnitSource(topic="utterances.raw", partition=0, offset=0, session_id=session, turn=number, channel="app", modality="text"),
    }  # fmt: skip
    return Unit(**{**fields, **changes})


def turn(text: str, event: str = "now", ts: str = "2026-03-09T10:00:00+08:00", **changes: Any) -> Affect:
    """A customer's turn as filter 2 leaves it; any field may be set."""
    fields: dict[str, Any] = {
        "event_id": event, "tenant": "t", "user_id": "u1", "session_id": "s-now", "speaker": Speaker(), "text": text,
        "lang": "zh" if not text.isascii() else "en", "ts": datetime.fromisoformat(ts), "resolved_text": text, "intent": NEUTRAL,
        "load": EASY, "emotion": CALM,
    }  # fmt: skip
    return Affect(**{**fields, **changes})
