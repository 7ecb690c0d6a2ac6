"""A small engine with the real one's protocol: counts a person's events, answers each once, puts the rows again on a repeat."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from models.errors import RecordError
from models.records import Utterance
from streams.messages import Batch, Message, Output
from streams.stages.ingest import dead_letter
from tables.person import person_key
from tables.rulebook import RuleBook
from tables.store import EVENT, HOT, Transaction, row_key

_clean = msgspec.json.Decoder(Utterance)


class FakeEngine:
    """Row ``e`` of an event and the person's hot row, a counter. A text that starts with "raise" makes the engine fail."""

    def __init__(self, work_s: float = 0.0) -> None:
        self.rules = RuleBook()
        self.repeats = 0
        self._work_s = work_s

    def forget_caches(self) -> None:
        """Nothing is cached."""

    def process(self, messages: Sequence[Message], rows: Mapping[bytes, bytes]) -> Batch:
        batch = Batch()
        transaction = Transaction(rows)
        causes: dict[bytes, int] = {}
        for index, message in enumerate(messages):
            if message.topic != "utterances.clean":
                letter = dead_letter(message, "memory", RecordError("not_for_me"))
                batch.caused_outputs.append((index, letter))
                continue
            self._take(index, _clean.decode(message.value), transaction, batch, causes)
        batch.puts = [(causes[key], key, value) for key, value in transaction.writes()]
        if self._work_s:
            time.sleep(self._work_s * len(messages))
        return batch

    def _take(
        self, index: int, utterance: Utterance, transaction: Transaction, batch: Batch, causes: dict[bytes, int]
    ) -> None:
        if utterance.text.startswith("raise"):
            raise RuntimeError("the fake engine was asked to fail")
        person = person_key(utterance.tenant, utterance.user_id, utterance.session_id)
        event, hot = row_key(EVENT, person, utterance.event_id or ""), row_key(HOT, person)
        seen = transaction.get(event)
        count = int(transaction.get(hot) or b"0")
        if seen is None:
            count += 1
            answer = {"event_id": utterance.event_id, "person": person, "count": count, "text": utterance.text}
            value = msgspec.json.encode(answer)
            batch.caused_outputs.append(
                (index, Output(topic="cues.bundles", person=person, key=person.encode(), value=value))
            )
            seen = str(count).encode()
        else:
            self.repeats += 1
        for key, value in ((event, seen), (hot, str(count).encode())):
            transaction.put(key, value)
            causes[key] = index
