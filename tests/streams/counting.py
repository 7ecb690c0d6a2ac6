"""A small stateful engine in the place of the real one, so that what the Faust side promises is tested alone.

It keeps for each person how many events were applied, and publishes that number: a lost event, one applied twice or an order
that changed shows in the numbers. ``python -m tests.streams.counting BROKER DATA_DIR`` runs a worker with it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

import msgspec

from models.records import Utterance
from streams.messages import Batch, Message, Output
from tables.person import AppliedEvent, person_key
from tables.rulebook import RuleBook
from tables.store import EVENT, HOT, PersonRows, Readable, Transaction


class CountingEngine:
    """Counts the events of each person; a repeat puts its rows again and publishes nothing."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.rules = RuleBook()
        self._pause_s = pause_s

    def forget_caches(self) -> None:
        """It has none."""

    def check_index(self, hot_rows: Iterable[bytes]) -> None:
        """It keeps no vectors."""

    def process(self, messages: Sequence[Message], rows: Readable) -> Batch:
        """As the real engine's."""
        time.sleep(self._pause_s * len(messages))
        transaction, batch, causes = Transaction(rows), Batch(), {}
        for index, message in enumerate(messages):
            utterance = msgspec.json.decode(message.value, type=Utterance)
            person = person_key(utterance.tenant, utterance.user_id, utterance.session_id)
            mine = PersonRows(transaction, person)
            count = sum(mine.numbers(HOT))
            if mine.get(EVENT, utterance.event_id or "") is None:
                count += 1
                value = f'{{"event_id":"{utterance.event_id}","count":{count}}}'.encode()
                batch.caused_outputs.append(
                    (index, Output(topic="cues.bundles", person=person, key=person.encode(), value=value))
                )
                mine.save(EVENT, utterance.event_id or "", value=AppliedEvent(digest=b"", keys=[]))
                mine.save(HOT, value=[count])
            else:
                mine.put(EVENT, utterance.event_id or "", value=mine.get(EVENT, utterance.event_id or "") or b"")
                mine.put(HOT, value=mine.get(HOT) or b"")
            for key in mine.touched:
                causes[key] = index
        batch.puts = [(causes[key], key, value) for key, value in transaction.writes()]
        return batch


def main(broker: str, data_dir: str) -> int:
    """A worker with the counting engine."""
    from streams.app import Job
    from streams.settings import load_settings
    from streams.stages.ingest import Ingest
    from streams.worker import run_worker, set_up_logging

    settings = load_settings(
        [f"broker={broker}", f"data_dir={data_dir}", "web_port=0", "worker.session_timeout=6", "worker.heartbeat=1"]
    )
    set_up_logging()
    return run_worker(settings, Job(settings, CountingEngine(pause_s=0.002), Ingest()))  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
