"""Every kind of bad record through the topics: a dead letter with the right reason each, in order, the good ones processed."""

from __future__ import annotations

import base64
import json

from streams.routing import route
from tests.streams.conftest import Cluster
from tests.streams.test_validation import BAD, GOOD

ODD_BUT_GOOD = {
    "nul": {"text": "我\u0000想退货"},
    "marks": {"text": "\u202e我想退货\u202c"},
    "emoji": {"text": "😀😀"},
    "spaced id": {"user_id": "用户 1"},
    "slashed id": {"user_id": "a:b/c"},
    "uuid": {"user_id": "5f0c2f7e-2b7e-4a43-9d8e-0a7f0c1c9f10"},
    "anonymous": {"user_id": None},
}


def record(event_id: str, **fields: object) -> bytes:
    return json.dumps({**GOOD, "event_id": event_id, **fields}, ensure_ascii=False).encode()


def test_each_kind_through_the_topics(embedded: Cluster) -> None:
    megabyte = record("megabyte", text="长" * 333_000)
    assert len(megabyte) > 999_000
    good = [record(f"good-{name}", **fields) for name, fields in ODD_BUT_GOOD.items()]
    fed = [("utterances.raw", b"default/somebody", raw) for _, raw in BAD]
    fed += [(*route(megabyte), megabyte), ("utterances.raw", b"default/somebody-else", record("stolen"))]
    fed += [(*route(raw), raw) for raw in good]
    embedded.start_worker()
    embedded.send(fed)
    processed = {json.loads(r.value)["event_id"] for r in embedded.read("cues.bundles", count=len(good))}
    assert processed == {f"good-{name}" for name in ODD_BUT_GOOD}
    letters = [json.loads(r.value) for r in embedded.read("dead.letters", count=len(BAD) + 2)]
    reasons = [reason for reason, _ in BAD]
    somebody = [
        letter for letter in letters if base64.b64decode(letter["original_b64"]) not in (megabyte, record("stolen"))
    ]
    assert [letter["reason"] for letter in somebody] == reasons
    others = {base64.b64decode(letter["original_b64"]): letter["reason"] for letter in letters}
    assert others[megabyte] == "text_too_long"
    assert others[record("stolen")] == "key_mismatch"
    assert all(letter["stage"] == "ingest" and letter["source"]["topic"] == "utterances.raw" for letter in letters)
