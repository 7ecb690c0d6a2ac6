"""Hop 1, ingest: raw bytes -> a validated, masked, cleaned, language-tagged utterance, keyed by person (I1-I3, W1).

Stateless, so a repeated or replayed record gives the same bytes. What must never be stored is masked here, before the first
topic that is not raw; the record keeps only which kinds were masked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from models import language, privacy, text
from models.errors import RecordError
from models.records import AsrSegment, Dead, Pause, Source, ToolResult, Utterance, encode
from streams.messages import Message, Output
from streams.stages.asr import utterance_from
from streams.stages.validation import decode_input
from tables.person import person_key

TAKES: dict[str, tuple[str, ...]] = {"utterances.raw": ("utterance/1",), "asr.raw": ("asr/1",)}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r'"w"\s*:\s*"([^"]*)"')
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Ingest:
    """The ingest stage. `keep_dead_bytes` false keeps the bytes of dead letters only by reference (topic and offset)."""

    def __init__(self, keep_dead_bytes: bool = True) -> None:
        self._keep_dead_bytes = keep_dead_bytes

    def process(self, messages: Sequence[Message]) -> list[Output]:
        """The outputs of a batch, in its order. Never raises for what a record holds."""
        return [output for message in messages for output in self.process_one(message)]

    def process_one(self, message: Message) -> list[Output]:
        """The clean utterance of one raw record, nothing for a partial ASR revision, or its dead letter."""
        try:
            utterance = self.read(message)
        except RecordError as error:
            return [dead_letter(message, "ingest", error, self._keep_dead_bytes)]
        if utterance is None:
            return []
        person = person_key(utterance.tenant, utterance.user_id, utterance.session_id)
        return [Output(topic="utterances.clean", person=person, key=person.encode(), value=encode(utterance))]

    def read(self, message: Message) -> Utterance | None:
        """The utterance in a raw record; None for a partial revision. Raises `RecordError`."""
        record = decode_input(message.value, *TAKES[message.topic])
        assert isinstance(record, Utterance | AsrSegment)
        person = person_key(record.tenant, record.user_id, record.session_id)
        if message.key is not None and message.key != person.encode():
            raise RecordError("key_mismatch", "the record's key is not that of its tenant and user")
        utterance = record if isinstance(record, Utterance) else utterance_from(record)
        return None if utterance is None else tidy(utterance, message)


def tidy(utterance: Utterance, message: Message) -> Utterance:
    """The utterance masked, cleaned and tagged; its spans and pauses moved along."""
    if utterance.speaker.role == "tool" and utterance.tool is not None:
        utterance.text = tool_line(utterance.tool)
        utterance.quoted, utterance.pauses = [], []
    utterance.lang = language.primary(utterance.lang)
    found = privacy.find_never(utterance.text, utterance.lang)
    masked = privacy.mask(utterance.text, found) if found else utterance.text
    lang = language.detect(masked)
    cleaned = text.clean(masked, utterance.lang or lang.lang)
    if not cleaned.text.strip():
        raise RecordError("text_blank", "`text` holds nothing that can be read")

    def moved(offset: int) -> int:
        return cleaned.move(_through_mask(offset, utterance.text, found))

    utterance.quoted = [(moved(start), moved(end)) for start, end in utterance.quoted]
    utterance.pauses = [Pause(at=moved(pause.at), ms=pause.ms) for pause in utterance.pauses]
    if utterance.tool is not None:
        utterance.tool = ToolResult(
            name=mask_label(utterance.tool.name), ok=utterance.tool.ok, fields=mask_value(utterance.tool.fields)
        )
    utterance.meta = mask_value(utterance.meta)
    utterance.channel = mask_label(utterance.channel)
    who = utterance.speaker
    if who.name or who.title:
        utterance.speaker = msgspec.structs.replace(
            who, name=who.name and mask_label(who.name), title=who.title and mask_label(who.title)
        )
    utterance.event_id = utterance.event_id or f"{message.topic}:{message.partition}:{message.offset}"
    utterance.original_text = masked
    utterance.text = cleaned.text
    utterance.lang = utterance.lang or lang.lang
    utterance.language_mix = lang.mix
    utterance.personal_data = sorted({item.type for item in found})
    utterance.source = Source(topic=message.topic, partition=message.partition, offset=message.offset)
    return utterance


def tool_line(tool: ToolResult) -> str:
    """What is kept of a tool's answer (W10): its name, whether it worked, and its key values; the raw body is dropped."""
    values = "; ".join(f"{name}={_scalar(value)}" for name, value in tool.fields.items() if _scalar(value))
    return f"{tool.name}: {values or ('ok' if tool.ok else 'failed')}"


def _scalar(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)


@lru_cache(maxsize=4096)
def mask_label(text: str) -> str:
    """A name, title or channel, masked as a text is: a form may put anything there. They recur, so answers are kept."""
    masked: str = mask_value(text)
    return masked


def mask_value(value: Any) -> Any:
    """A JSON value with every string in it masked."""
    if isinstance(value, str):
        found = privacy.find_never(value, None)
        return privacy.mask(value, found) if found else value
    if isinstance(value, dict):
        return {mask_value(name): mask_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [mask_value(item) for item in value]
    return value


def _through_mask(offset: int, original: str, found: Sequence[privacy.PersonalData]) -> int:
    """Where an offset into the original lies in the masked text; inside a masked span, at its start."""
    shift = 0
    for item in found:
        if offset <= item.start:
            break
        placeholder = len(privacy.placeholder(item))
        if offset < item.end:
            return item.start + shift
        shift += placeholder - (item.end - item.start)
    return offset + shift


def dead_letter(message: Message, stage: str, error: RecordError, keep_bytes: bool = True) -> Output:
    """The dead letter of a record: the reason, where it lies, and its bytes, masked where they hold personal data.

    `ts` is the record's own event time where it can be read, else the epoch: the wall clock would differ in a replay.
    """
    safe = _safe_bytes(message.value) if keep_bytes else None
    dead = Dead(
        stage=stage,
        reason=error.reason,
        error=error.detail or error.reason,
        source=Source(topic=message.topic, partition=message.partition, offset=message.offset),
        original_b64=None if safe is None else base64.b64encode(safe).decode(),
        ts=_event_time(message.value),
    )
    person = message.key.decode("utf-8", "replace") if message.key is not None else None
    return Output(topic="dead.letters", person=person, key=message.key, value=encode(dead))


def _safe_bytes(raw: bytes) -> bytes | None:
    """The bytes with what must not be stored masked: as they came where there is nothing; None where it cannot be taken out.

    It is looked for as a reader of the record would see it: behind JSON escapes, and spread over a recogniser's words.
    """
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _safe_fragment(raw)
    masked = mask_value(value)
    if isinstance(masked, dict) and (
        masked.get("text") != value.get("text") or _spoken_secret(_words_of(masked.get("words")))
    ):
        masked["words"] = []
    return raw if masked == value else msgspec.json.encode(masked)


def _safe_fragment(raw: bytes) -> bytes | None:
    """As `_safe_bytes`, of bytes that are no JSON: cut short, or something else."""
    units = _ESCAPE.sub(_unescaped, raw.decode("utf-8", "ignore")).encode("utf-16-le", "surrogatepass")
    seen = units.decode("utf-16-le", "replace")  # escaped pairs become one character, half of one the replacement mark
    words, masked = _WORD.findall(seen), mask_value(seen)
    if words and (masked != seen or _spoken_secret(words)):
        return None
    return raw if masked == seen else masked.encode("utf-8", "replace")


def _words_of(words: Any) -> list[str]:
    return [str(word.get("w", "")) for word in words if isinstance(word, dict)] if isinstance(words, list) else []


def _spoken_secret(words: list[str]) -> bool:
    """Whether words hold, put together, what must not be stored."""
    return bool(words) and any(privacy.find_never(gap.join(words), None) for gap in ("", " "))


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match.group(1), 16))


def _event_time(raw: bytes) -> datetime:
    try:
        ts = msgspec.convert(msgspec.json.decode(raw)["ts"], datetime)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, KeyError, TypeError, IndexError):
        return EPOCH
    return EPOCH if ts.tzinfo is None else ts
