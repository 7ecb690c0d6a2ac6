"""A final ASR segment as an utterance: pauses from word gaps, confidence from the words (I1).

Partial revisions are replaced by their final and leave no trace, so this stage needs no state. A later final revision has the
same event id; the engine lets it take the place of the earlier one (`tables.erasure.take_back`).
"""

from __future__ import annotations

from models.records import AsrSegment, Pause, Utterance, Word

MIN_PAUSE_MS = 200
"""Shorter gaps are articulation, not hesitation."""


def word_pauses(text: str, words: list[Word]) -> list[Pause]:
    """Silences of `MIN_PAUSE_MS` and more, each before the character where the next word starts."""
    pauses: list[Pause] = []
    cursor, previous_end = 0, None
    for word in words:
        at = text.find(word.w, cursor) if word.w else -1
        if at < 0:
            at = cursor
        if previous_end is not None and word.start_ms - previous_end >= MIN_PAUSE_MS:
            pauses.append(Pause(at=at, ms=word.start_ms - previous_end))
        cursor = min(len(text), at + len(word.w))
        previous_end = word.end_ms
    return pauses


def utterance_from(segment: AsrSegment) -> Utterance | None:
    """The utterance of a final segment, or None for a partial one. Its event id is ``session_id/segment_id``."""
    if not segment.is_final:
        return None
    known = [word.p for word in segment.words if word.p is not None]
    confidence = min(1.0, max(0.0, sum(known) / len(known))) if known else None
    return Utterance(
        event_id=f"{segment.session_id}/{segment.segment_id}",
        tenant=segment.tenant,
        user_id=segment.user_id,
        session_id=segment.session_id,
        speaker=segment.speaker,
        channel=segment.channel,
        clearance=segment.clearance,
        modality="speech",
        text=segment.text,
        lang=segment.lang,
        ts=segment.ts,
        remember=segment.remember,
        pauses=word_pauses(segment.text, segment.words),
        asr_revision=segment.revision,
        asr_confidence=confidence,
        reply_to=segment.reply_to,
        meta=segment.meta,
    )
