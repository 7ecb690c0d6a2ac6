"""What must never be stored, planted in every field of every kind of record: afterwards it is in no topic but the raw ones, no row, no log."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from models.records import Rule
from streams.offline import Offsets, Runner
from streams.routing import route
from streams.settings import load_settings
from tables.rulebook import RuleBook

TS = "2026-03-02T10:00:00+08:00"
SECRETS = [
    ("我的身份证号是11010519491231002X，请登记", "11010519491231002X"),
    ("身份证号１１０１０５１９４９１２３１００２Ｘ", "１１０１０５１９４９１２３１００２Ｘ"),
    ("身份证 1101 0519 4912 3100 2X", "1101 0519 4912 3100 2X"),
    ("我的卡号是6222 0212 3456 7890 128，退款打到这张卡上", "6222 0212 3456 7890 128"),
    ("卡号六二二二零二一二三四五六七八九零一二八", "六二二二零二一二三四五六七八九零一二八"),
    ("银行卡号是 6 2 2 2 0 2 1 2 3 4 5 6 7 8 9 0 1 2 8", "6 2 2 2 0 2 1 2 3 4 5 6 7 8 9 0 1 2 8"),
    ("验证码是八三九二零一", "八三九二零一"),
    ("密码是 hunter2XyZ!9 别告诉别人", "hunter2XyZ!9"),
    ("My password is Tr0ub4dor&3 ok?", "Tr0ub4dor&3"),
    ("use ghp_16C7e42F292c6912E7710c838347Ae178B4a please", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("my SSN is 219-09-9999", "219-09-9999"),
    (
        "my social security number is two one nine zero nine nine nine nine nine",
        "two one nine zero nine nine nine nine nine",
    ),
    ("my card is 4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("passport E87654321", "E87654321"),
    ("我家在成都市武侯区科华北路62号12楼1203室", "科华北路62号"),
    ("Ship it to 12 Elm Street, Springfield, IL 62704 please.", "12 Elm Street"),
    ("我妈确诊了乳腺癌，在做化疗", "乳腺癌"),
    ("我们去年离婚了，孩子归我", "离婚"),
    ("my dad was diagnosed with lung cancer", "lung cancer"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Zq\n-----END RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAx7Zq"),
]


def utterance(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "schema": "utterance/1", "event_id": f"e{number}", "user_id": f"u{number % 3}", "session_id": "S",
        "speaker": {"id": "c", "role": "customer"}, "text": "好的", "ts": TS, **fields,
    }  # fmt: skip


def planted(text: str, number: int) -> Iterator[bytes]:
    """A text in every place that a front end, a recogniser, a tool or an operator could put it; whole, escaped, refused, cut."""
    heard = {
        "schema": "asr/1", "session_id": "S", "user_id": "u1", "segment_id": f"g{number}", "revision": 1, "is_final": True,
        "speaker": {"id": "c", "role": "customer"}, "text": text, "start_ms": 0, "end_ms": 900, "ts": TS,
        "words": [{"w": w, "start_ms": i * 100, "end_ms": i * 100 + 50, "p": 0.9} for i, w in enumerate(text.split() if text.isascii() else list(text))],
    }  # fmt: skip
    records: list[dict[str, Any]] = [
        utterance(number, text=text),
        utterance(number + 1, text=text, ts="tomorrow"),
        utterance(number + 2, meta={"context": [{"speaker": "customer", "text": text}], text[:200]: 1}),
        utterance(number + 3, text="x", speaker={"role": "tool"}, tool={"name": text[:80], "fields": {"note": text, "deep": [{"x": text}]}}),
        utterance(number + 4, speaker={"role": "customer", "name": text, "title": text}, channel=text),
        heard,
        {**heard, "segment_id": f"h{number}", "ts": "never"},
        {**heard, "segment_id": f"i{number}", "text": 7},
        {**heard, "segment_id": f"p{number}", "is_final": False},
        {"schema": "command/1", "command_id": f"c{number}", "kind": "correct", "user_id": "u1", "scope": {"text": "合同"}, "text": text, "ts": TS},
        {"schema": "command/1", "command_id": f"d{number}", "kind": "forget", "user_id": "u1", "scope": {"text": text}, "ts": TS},
        {"schema": "command/1", "command_id": f"d{number}", "kind": "forget", "user_id": "u1", "scope": {"text": text + "。"}, "ts": TS},
    ]  # fmt: skip
    for place, record in enumerate(records):
        yield json.dumps(record, ensure_ascii=bool(place % 2)).encode()
        yield json.dumps({**record, "event_id": f"cut{number}"}, ensure_ascii=not place % 2).encode()[:-3]


def seen(value: bytes) -> str:
    """A record as a curious reader sees it: escapes undone, dead letters opened, a recogniser's words put together."""
    row = json.loads(value)
    text = json.dumps(row, ensure_ascii=False)
    if isinstance(row, dict) and row.get("original_b64"):
        raw = base64.b64decode(row["original_b64"]).decode("utf-8", "replace")
        opened = re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m.group(1), 16)), raw)
        text += (
            raw
            + opened
            + "".join(re.findall(r'"w": ?"(.*?)"', opened))
            + " ".join(re.findall(r'"w": ?"(.*?)"', opened))
        )
    return text


@pytest.mark.parametrize("keep_bytes", [True, False])
def test_a_planted_secret_is_nowhere(
    keep_bytes: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(["recall.on=all", f"privacy.dead_letter_bytes={str(keep_bytes).lower()}"], environ={})
    runner, offsets = Runner(settings), Offsets(settings.partitions)
    lines = [line for place, (text, _) in enumerate(SECRETS) for line in planted(text, 10 * place)]
    with caplog.at_level(logging.DEBUG):
        answers = runner.process([(number, offsets.place(*route(line), line)) for number, line in enumerate(lines)])
    published = [(topic, seen(value)) for _, outputs in answers for topic, value in outputs if value]
    rows = [(repr(key), value.decode("utf-8", "replace")) for key, value in runner._rows.items()]
    told = capfd.readouterr()
    logs = [("log", "\n".join(record.getMessage() for record in caplog.records)), ("output", told.out + told.err)]
    assert {topic for topic, _ in published} >= {
        "utterances.clean",
        "utterances.affect",
        "cues.bundles",
        "dead.letters",
        "memory.audit",
    }
    for _, secret in SECRETS:
        found = sorted({where for where, text in (*published, *rows, *logs) if secret in text or secret in where})
        assert not found, f"{secret} in {found}"
    dead = [
        json.loads(text)
        for topic, text in published
        if topic == "dead.letters" and text.startswith("{") and not keep_bytes
    ]
    assert all(letter["original_b64"] is None for letter in dead)


def test_rules_keep_the_institutions_address_and_no_identity() -> None:
    book = RuleBook()
    for number, text in enumerate(("退货请寄到成都市武侯区科华北路62号12楼1203室", "经办人身份证号11010519491231002X")):
        book.put(msgspec.convert({"rule_id": str(number), "tenant": "t", "ts": TS, "text": text}, Rule))
    address, identity = (rule.text for rule in book.of("t").values())
    assert "科华北路62号" in address and "11010519491231002X" not in identity
