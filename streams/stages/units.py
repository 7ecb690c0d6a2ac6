"""Filter 3 and the write policy as a stage: an utterance's segments -> what is kept of them -> unit/1 and audit/1 (E1-E5, W1-W5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.encoder import Encoded
from models.entropy import Lexicons, Segment, segment
from models.records import Affect, Audit, Entity, TimeExpression, Unit, UnitSource, Utterance
from models.units.corrections import is_bare_correction, read_correction
from models.units.distillation import distil
from models.units.unit_reading import UnitReading, read_unit
from streams.messages import PIPELINE_VERSION
from streams.models import Models
from streams.stages.reading import Reading
from tables import policy, units
from tables.hot_index import HotIndex
from tables.person import PersonState
from tables.sessions import SessionState
from tables.store import PersonRows
from tables.vectors import pack_vector, unpack_vector
from tables.writing import audit, write_unit

SIMILAR = 8
"""Nearest current units that a correction may be about."""


class UnitWriter:
    """Segments an utterance, decides what is kept, writes it, and keeps the person's index in step."""

    def __init__(self, models: Models) -> None:
        self._models = models

    def expire(self, state: PersonState, rows: PersonRows, index: HotIndex, utterance: Utterance) -> list[Unit | Audit]:
        """Units whose time has passed by the utterance's event time: marked, and out of the index (W6)."""
        published: list[Unit | Audit] = []
        for unit in units.expire(state, rows, utterance.ts):
            slot = units.slot_of(rows, unit.unit_id)
            if slot is not None:
                index.remove(slot)
            line = audit(unit, "expired", "expiry_date")
            line.event_id, line.ts = utterance.event_id or "", utterance.ts
            published += [unit, line]
        return published

    def write(
        self,
        affect: Affect,
        reading: Reading,
        encoded: Encoded,
        resolved_encoded: Encoded,
        session: SessionState,
        state: PersonState,
        rows: PersonRows,
        index: HotIndex,
        topic: str | None,
    ) -> list[Unit | Audit]:
        """The units and audit lines of one utterance, in their order in the text."""
        published: list[Unit | Audit] = []
        lexicons = self._models.segments.value
        found = segment(affect.text, encoded, lang=affect.lang, pauses=affect.pauses, lexicons=lexicons)
        parts = [(seg, part) for seg in found for part in policy.trimmed(affect, seg.start, seg.end)]
        alone = len(parts) == 1
        candidates = [_Candidate(affect, reading, seg, start, end) for seg, (start, end) in parts]
        bare = [is_bare_correction(candidate.resolved) for candidate in candidates]
        correcting = any(bare) and not all(bare)
        for candidate, said_wrong in zip(candidates, bare, strict=True):
            if correcting and said_wrong:
                continue
            unit_reading = candidate.read()
            decision = policy.decide(
                affect,
                candidate.resolved,
                unit_reading,
                small_talk=unit_reading.small_talk,
                hypothetical=unit_reading.hypothetical,
                rejected=unit_reading.rejected,
            )
            if not decision.written:
                published.append(policy.refused_audit(affect, decision, PIPELINE_VERSION))
                continue
            unit = candidate.unit(unit_reading, decision, session, topic, lexicons)
            exact = resolved_encoded.passage if alone else resolved_encoded.span_passage(*candidate.place)
            vector = unpack_vector(pack_vector(exact))  # as a rebuilt index reads it: a restart must not change a score
            corrects = correcting or read_correction(candidate.resolved, bool(candidate.times)) is not None
            similar = index.nearest(vector, SIMILAR) if corrects else ()
            written = write_unit(
                state, rows, unit, vector, similar=similar, reason=decision.reason, correcting=correcting
            )
            follow(index, rows, written.units, vector, written.slot)
            published += written.units
            published += written.audits
        return published


class _Candidate:
    """A part of an utterance that may become a unit."""

    def __init__(self, affect: Affect, reading: Reading, seg: Segment, start: int, end: int) -> None:
        self.affect, self.segment = affect, seg
        self.start, self.end = start, end
        self.content = affect.text[start:end].strip()
        self.place = reading.in_resolved(start, end)
        self.resolved = affect.resolved_text[slice(*self.place)].strip()
        self.entities: list[Entity] = [e for e in reading.resolved_entities if _inside(e.start, e.end, *self.place)]
        self.times: list[TimeExpression] = [t for t in affect.times if _inside(t.start, t.end, start, end)]

    def read(self) -> UnitReading:
        """Type, severity, resolution and validity."""
        return read_unit(
            self.resolved, segment=self.segment, affect=self.affect, entities=self.entities, times=self.times
        )

    def unit(
        self, reading: UnitReading, decision: policy.Decision, session: SessionState, topic: str | None, lists: Lexicons
    ) -> Unit:
        """The unit as it is first written."""
        affect = self.affect
        source = affect.source
        assert source is not None
        return Unit(
            tenant=affect.tenant,
            user_id=affect.user_id,
            unit_id=units.unit_id(affect.tenant, affect.event_id or "", self.start, self.end),
            content=self.content,
            resolved_content=self.resolved,
            summary=distil(
                self.content,
                self.resolved,
                entities=self.entities,
                times=self.times,
                lang=affect.lang,
                patterns=lists.distilling,
            ),
            source_event_ids=[affect.event_id or ""],
            start=self.start,
            end=self.end,
            ts=affect.ts,
            speaker=affect.speaker,
            lang=affect.lang,
            entropy=self.segment.entropy,
            type=reading.type,
            priority_flag=self.segment.priority_flag,
            layer=decision.layer,
            topic=topic,
            severity=reading.severity,
            resolution_status=reading.resolution_status,
            resolved_at=affect.ts if reading.resolution_status == "resolved" else None,
            intent=affect.intent,
            load=affect.load,
            emotion=affect.emotion,
            commitment_strength=affect.commitment_strength,
            recurring=affect.recurring,
            entities=self.entities,
            times=self.times,
            validity=reading.validity,
            write_class=decision.write_class,  # type: ignore[arg-type]
            expires_at=decision.expires_at,
            clearance=affect.clearance,
            confidence=affect.confidence,
            pipeline_version=PIPELINE_VERSION,
            source=UnitSource(
                topic=source.topic,
                partition=source.partition,
                offset=source.offset,
                session_id=affect.session_id,
                turn=session.turn,
                channel=affect.channel,
                modality=affect.modality,
            ),
        )


def _inside(start: int, end: int, low: int, high: int) -> bool:
    return low <= start and end <= high


def follow(
    index: HotIndex, rows: PersonRows, changed: Sequence[Unit], vector: NDArray[np.float32], slot: int | None
) -> None:
    """Keeps the derived index in step with the rows just written."""
    for unit in changed:
        place = units.slot_of(rows, unit.unit_id)
        if place is None:
            continue
        if place == slot:
            index.add(place, unit, vector)
        else:
            index.update(place, unit)
