"""Every kind of bad record has its own reason, and no reason repeats what the record says (I3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from models.errors import RecordError
from models.records import Utterance
from streams.messages import Message
from streams.stages.ingest import Ingest
from streams.stages.validation import MAX_TEXT, decode_input

GOOD: dict[str, Any] = {
    "schema": "utterance/1",
    "event_id": "e1",
    "session_id": "S-1",
    "user_id": "acct-1",
    "text": "我想改一下收货地址",
    "ts": "2026-03-02T10:00:00+08:00",
}


def with_(**fields: Any) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def without(*names: str) -> bytes:
    return json.dumps({name: value for name, value in GOOD.items() if name not in names}).encode()


BAD = [
    ("not_json", b"this is not json"),
    ("not_json", b'{"schema": "utterance/1", "text": '),
    ("not_json", b'{"a":' * 100_000),
    ("not_utf8", b'{"schema": "utterance/1", "text": "\xff\xfe"}'),
    ("not_an_object", b'["utterance/1"]'),
    ("missing_schema", without("schema")),
    ("unknown_schema", with_(schema="utterance/9")),
    ("unknown_schema", with_(schema=7)),
    ("missing_session_id", without("session_id")),
    ("missing_session_id", with_(session_id=None)),
    ("missing_session_id", with_(session_id="")),
    ("missing_ts", without("ts")),
    ("missing_ts", with_(ts=None)),
    ("ts_without_zone", with_(ts="2026-03-02T10:00:00")),
    ("ts_out_of_range", with_(ts="9999-12-31T10:00:00+08:00")),
    ("ts_out_of_range", with_(ts="1969-12-31T10:00:00+00:00")),
    ("bad_ts", with_(ts="next Tuesday")),
    ("bad_ts", with_(ts=1772416800)),
    ("text_missing", without("text")),
    ("text_null", with_(text=None)),
    ("text_empty", with_(text="")),
    ("text_blank", with_(text=" \u3000\t")),
    ("text_not_string", with_(text=42)),
    ("text_too_long", with_(text="长" * (MAX_TEXT + 1))),
    (
        "lone_surrogate",
        b'{"schema": "utterance/1", "session_id": "S", "ts": "2026-03-02T10:00:00Z", "text": "a\\ud800b"}',
    ),
    ("span_outside_text", with_(quoted=[[0, 99]])),
    ("span_outside_text", with_(quoted=[[5, 2]])),
    ("span_outside_text", with_(pauses=[{"at": 99, "ms": 300}])),
    ("bad_user_id", with_(user_id=" ")),
    ("user_id_is_an_address", with_(user_id="192.168.0.17")),
    ("bad_event_id", with_(event_id="")),
    ("bad_field", with_(speaker={"role": "boss"})),
    ("bad_field", with_(clearance="high")),
    ("bad_field", with_(tool={"name": "x"})),
]


@pytest.mark.parametrize(("reason", "raw"), BAD, ids=[f"{reason}-{n}" for n, (reason, _) in enumerate(BAD)])
def test_reason(reason: str, raw: bytes) -> None:
    with pytest.raises(RecordError) as caught:
        decode_input(raw, "utterance/1")
    assert caught.value.reason == reason


@pytest.mark.parametrize("text", ["a\u0000b", "\u202eabc\u202c", "😀😀", "é́", "x" * MAX_TEXT])
def test_odd_text_is_taken(text: str) -> None:
    record = decode_input(with_(text=text), "utterance/1")
    assert isinstance(record, Utterance)
    assert record.text == text


@pytest.mark.parametrize("user", ["用户 1", "a:b/c", "5f0c2f7e-2b7e-4a43-9d8e-0a7f0c1c9f10", None])
def test_odd_user_ids_are_taken(user: str | None) -> None:
    record = decode_input(with_(user_id=user), "utterance/1")
    assert isinstance(record, Utterance)
    assert record.user_id == user


def test_details_do_not_repeat_the_record() -> None:
    with pytest.raises(RecordError) as caught:
        decode_input(with_(speaker={"role": "6222021234567890128"}), "utterance/1")
    assert "6222" not in str(caught.value)


@pytest.mark.parametrize(
    ("tag", "text", "lang"),
    [
        ("en-US", "tomorrow at 3pm", "en"),
        ("zh_Hans_CN", "明天见", "zh"),
        ("und", "明天见", "zh"),
        (None, "ＯＫ　ＴＨＡＮＫＳ", "en"),
    ],
)
def test_ingest_writes_a_language_whatever_tag_came(tag: str | None, text: str, lang: str) -> None:
    clean = Ingest().read(Message(topic="utterances.raw", partition=0, offset=0, value=with_(text=text, lang=tag)))
    assert clean is not None and clean.lang == lang
