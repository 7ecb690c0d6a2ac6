"""Which raw topic and key an input record belongs to: what a well-behaved producer does, and `offline` emulates."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from tables.person import person_key

TOPIC_OF_SCHEMA = {
    "utterance/1": "utterances.raw",
    "asr/1": "asr.raw",
    "command/1": "memory.commands",
    "rule/1": "knowledge.rules",
}
"""Records that name no known schema are utterances that somebody got wrong."""


class _Envelope(Struct):
    schema: str | None = None
    tenant: str | None = "default"
    user_id: str | None = None
    session_id: str | None = None
    rule_id: str | None = None


_envelope = msgspec.json.Decoder(_Envelope)


def route(raw: bytes) -> tuple[str, bytes | None]:
    """(logical topic, key) of a raw record. The key is None where the record does not say whose it is."""
    try:
        envelope = _envelope.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "utterances.raw", None
    topic = TOPIC_OF_SCHEMA.get(envelope.schema or "", "utterances.raw")
    if topic == "knowledge.rules":
        return topic, None if envelope.rule_id is None else f"{envelope.tenant}/{envelope.rule_id}".encode(
            "utf-8", "replace"
        )
    if not envelope.tenant or not (envelope.user_id or envelope.session_id):
        return topic, None
    person = person_key(envelope.tenant, envelope.user_id, envelope.session_id or "")
    return topic, person.encode("utf-8", "replace")
