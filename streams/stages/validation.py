"""Raw bytes to a typed input record, or a `RecordError` whose reason says what is wrong (I3).

The fast path is one typed decode. Only when that fails is the record looked at field by field to name the reason; the
reasons are stable codes, and neither they nor the details repeat what the record says.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from models.errors import RecordError
from models.records import AsrSegment, Command, Rule, Utterance

MAX_TEXT = 20_000
"""Characters of one utterance. Longer texts are documents, not turns, and are refused."""

FIRST_YEAR, LAST_YEAR = 1970, 2199

Input = Utterance | AsrSegment | Command | Rule
INPUT_TYPES: dict[str, type[Input]] = {
    "utterance/1": Utterance,
    "asr/1": AsrSegment,
    "command/1": Command,
    "rule/1": Rule,
}
_decoders = {schema: msgspec.json.Decoder(kind) for schema, kind in INPUT_TYPES.items()}
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){5,7}")
Record = TypeVar("Record", Utterance, AsrSegment, Command, Rule)


class _Peek(msgspec.Struct):
    schema: str | None = None


_peek = msgspec.json.Decoder(_Peek)


def schema_of(raw: bytes) -> str:
    """The schema a raw record names, decoded cheaply; raises `RecordError` where there is none."""
    try:
        schema = _peek.decode(raw).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        schema = None
    if schema is None:
        obj = _json_object(raw)
        raise RecordError(
            "missing_schema" if obj.get("schema") is None else "unknown_schema",
            "`schema` must be a name like utterance/1",
        )
    return schema


def decode_input(raw: bytes, *expected: str) -> Input:
    """Decodes and validates one input record.

    `expected` are the schemas that the topic takes. Raises `RecordError`.
    """
    schema = schema_of(raw)
    if schema not in expected:
        raise RecordError("unknown_schema", f"this topic takes {', '.join(expected)}")
    try:
        record = _decoders[schema].decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _why(raw, error) from None
    _check(record)
    return record


def _json_object(raw: bytes) -> dict[str, Any]:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        raise RecordError("not_utf8", "the record is not valid UTF-8") from None
    try:
        obj = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        if re.search(rb"\\u[dD][89a-fA-F]", raw):
            raise RecordError("lone_surrogate", "a \\u escape is half of a surrogate pair") from None
        raise RecordError("not_json", _without_values(str(error))) from None
    except RecursionError:
        raise RecordError("not_json", "nested too deeply") from None
    if not isinstance(obj, dict):
        raise RecordError("not_an_object", "the record must be a JSON object")
    return obj


def _why(raw: bytes, error: Exception) -> RecordError:
    """The reason that a typed decode failed, most telling first."""
    try:
        obj = _json_object(raw)
    except RecordError as found:
        return found
    if obj.get("session_id") in (None, "") and obj.get("schema") in ("utterance/1", "asr/1"):
        return RecordError("missing_session_id", "`session_id` is required")
    if "ts" not in obj or obj["ts"] is None:
        return RecordError("missing_ts", "`ts` is required: RFC 3339 with an offset")
    if not isinstance(obj["ts"], str):
        return RecordError("bad_ts", "`ts` must be an RFC 3339 string")
    try:
        ts = msgspec.convert(obj["ts"], datetime)
        if ts.tzinfo is None:
            return RecordError("ts_without_zone", "`ts` needs an offset, for example +08:00")
    except msgspec.ValidationError:
        return RecordError("bad_ts", "`ts` is not an RFC 3339 time")
    if obj.get("schema") in ("utterance/1", "asr/1", "rule/1"):
        if "text" not in obj:
            return RecordError("text_missing", "`text` is required")
        if obj["text"] is None:
            return RecordError("text_null", "`text` is null")
        if not isinstance(obj["text"], str):
            return RecordError("text_not_string", "`text` must be a string")
    return RecordError("bad_field", _without_values(str(error)))


def _without_values(message: str) -> str:
    """A decoder's message without quoted values of the record."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "…", message)[:200]


def _check(record: Input) -> None:
    if not FIRST_YEAR <= record.ts.year <= LAST_YEAR:
        raise RecordError("ts_out_of_range", f"`ts` must lie in {FIRST_YEAR} to {LAST_YEAR}")
    user = record.user_id if not isinstance(record, Rule) else None
    if user is not None:
        if not user.strip():
            raise RecordError("bad_user_id", "`user_id` is empty: use null for an anonymous session")
        if _IP.fullmatch(user):
            raise RecordError("user_id_is_an_address", "an IP address is not a person: use null")
    if isinstance(record, Utterance):
        _check_utterance(record)
    elif isinstance(record, AsrSegment):
        _check_text(record.text)
        if record.end_ms < record.start_ms or any(w.end_ms < w.start_ms for w in record.words):
            raise RecordError("bad_word_times", "an end lies before its start")
    elif (
        isinstance(record, Command)
        and record.kind in ("forget", "correct")
        and record.user_id is None
        and record.session_id is None
    ):
        raise RecordError("missing_person", "`user_id` (or `session_id` of an anonymous session) is required")


def _check_text(text: str) -> None:
    if not text:
        raise RecordError("text_empty", "`text` is empty")
    if len(text) > MAX_TEXT:
        raise RecordError("text_too_long", f"`text` has more than {MAX_TEXT} characters")
    if not text.strip():
        raise RecordError("text_blank", "`text` holds only spaces")


def _check_utterance(record: Utterance) -> None:
    if record.schema != "utterance/1":
        raise RecordError("unknown_schema", "this topic takes utterance/1")
    if record.event_id is not None and not record.event_id.strip():
        raise RecordError("bad_event_id", "`event_id` is empty: leave it out instead")
    if not (record.speaker.role == "tool" and record.tool is not None):
        _check_text(record.text)
    length = len(record.text)
    if any(not 0 <= start <= end <= length for start, end in record.quoted):
        raise RecordError("span_outside_text", "a `quoted` span lies outside the text")
    if any(pause.at > length for pause in record.pauses):
        raise RecordError("span_outside_text", "a pause lies outside the text")
    if record.tool is not None and record.speaker.role != "tool":
        raise RecordError("bad_field", "`tool` belongs to speaker role tool")
