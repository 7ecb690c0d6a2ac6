"""One worker on the embedded broker: time to the first event, sustained rate, latency at 20/s, memory; `offline` beside it.

Latency is from the raw record's append to the append of its affect record and of its bundle, by the records' own timestamps (ms).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from bench.conversation import utterances
from streams.broker import running_broker
from streams.routing import route
from streams.settings import Settings, load_settings
from streams.topics import full_name

LIMIT_S = 240.0


class Peek(msgspec.Struct):
    """What a record is matched by."""

    event_id: str


class Watcher:
    """Follows a topic and notes when each event's record was appended."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._consumer = KafkaConsumer(
            bootstrap_servers=settings.broker, enable_auto_commit=False, fetch_max_wait_ms=20
        )
        places = [TopicPartition(full_name(settings, topic), n) for n in range(settings.partitions)]
        self._consumer.assign(places)
        self._consumer.seek_to_beginning(*places)
        self.seen: dict[str, int] = {}

    def wait(self, count: int) -> None:
        """Until `count` different events were seen."""
        limit = time.monotonic() + LIMIT_S
        while len(self.seen) < count and time.monotonic() < limit:
            for records in self._consumer.poll(timeout_ms=50).values():
                for record in records:
                    self.seen.setdefault(msgspec.json.decode(record.value, type=Peek).event_id, record.timestamp)


def feed(settings: Settings, lines: list[bytes], per_second: float | None = None) -> dict[str, int]:
    """Sends raw records, at a pace if told; when each was appended, by event id."""
    producer = KafkaProducer(bootstrap_servers=settings.broker, linger_ms=0 if per_second else 20)
    begun, sent = time.monotonic(), []
    for number, line in enumerate(lines):
        if per_second is not None:
            time.sleep(max(0.0, begun + number / per_second - time.monotonic()))
        topic, key = route(line)
        sent.append(
            (
                msgspec.json.decode(line, type=Peek).event_id,
                producer.send(full_name(settings, topic), key=key, value=line),
            )
        )
    producer.flush()
    stamps = {event: future.get().timestamp for event, future in sent}
    producer.close()
    return stamps


def resident_mb(pid: int) -> float:
    """Resident memory of a process now."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def run(count: int = 2000, paced: int = 300, per_second: float = 20.0) -> dict[str, float]:
    """The figures by name."""
    with tempfile.TemporaryDirectory() as folder:
        log = (Path(folder) / "worker.log").open("wb")
        begun = time.monotonic()
        worker = subprocess.Popen(
            [sys.executable, "-m", "streams.cli.main", "up", "--set", f"data_dir={folder}", "--set", "web_port=0"],
            stdout=log,
            stderr=log,
        )
        try:
            while (broker := running_broker(Path(folder))) is None:
                time.sleep(0.02)
            settings = load_settings([f"broker={broker}"], environ={})
            lines = list(utterances(1 + count + paced))
            time.sleep(0.5)
            feed(settings, lines[:1])
            affect, bundles = Watcher(settings, "utterances.affect"), Watcher(settings, "cues.bundles")
            affect.wait(1)
            first = time.monotonic() - begun
            started = time.monotonic()
            feed(settings, lines[1 : 1 + count])
            affect.wait(1 + count)
            rate = count / (time.monotonic() - started)
            appended = feed(settings, lines[1 + count :], per_second)
            affect.wait(1 + count + paced)
            waits = sorted(affect.seen[event] - stamp for event, stamp in appended.items() if event in affect.seen)
            bundles.wait(len(bundles.seen) + 1)
            turns = sorted(bundles.seen[event] - stamp for event, stamp in appended.items() if event in bundles.seen)
            return {
                "first event, s after `up`": first,
                "utterances/s, one worker": rate,
                "p50 ms to affect at 20/s": statistics.median(waits),
                "p95 ms to affect at 20/s": waits[int(len(waits) * 0.95)],
                "p50 ms to bundle at 20/s": statistics.median(turns) if turns else float("nan"),
                "peak RSS MB": resident_mb(worker.pid),
            }
        finally:
            worker.terminate()
            worker.wait(timeout=20)
            log.close()


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:28s} {value:10.2f}")
