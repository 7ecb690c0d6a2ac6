"""The headline: workers on the embedded broker, all three filters, units stored, recall off. Sustained rate, then latency at a paced load.

The rate is that of finished utterances, by the end offsets of the last topic every utterance reaches, over a window in which the backlog
never runs dry. Latency is from a raw record's append to its unit's append: once by the records' own timestamps, and once as a
consumer sees it (its clock when the unit arrives, so the broker's and its own time are in it). In milliseconds.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from bench.conversation import utterances
from streams.admin import create_topics
from streams.broker import EmbeddedBroker
from streams.routing import route
from streams.settings import Settings, load_settings
from streams.topics import full_name

READY_S = 120.0
WARM_UP = 600
"""Utterances before the clock starts: caches, the group's rebalance."""
SETTLING_S = 5.0
"""Seconds of the paced load that are not counted."""


class Peek(msgspec.Struct):
    """What a record is matched by."""

    event_id: str = ""
    source_event_ids: tuple[str, ...] = ()


class Watcher(threading.Thread):
    """Follows a topic and notes when each event's first record was appended, and when it arrived here."""

    def __init__(self, settings: Settings, topic: str) -> None:
        super().__init__(daemon=True)
        self._consumer = KafkaConsumer(
            bootstrap_servers=settings.broker, enable_auto_commit=False, fetch_max_wait_ms=20
        )
        places = [TopicPartition(full_name(settings, topic), n) for n in range(settings.partitions)]
        self._consumer.assign(places)
        self._consumer.seek_to_end(*places)
        for place in places:
            self._consumer.position(place)
        self.appended: dict[str, int] = {}
        self.arrived: dict[str, float] = {}
        self.done = threading.Event()
        self.start()

    def run(self) -> None:
        """Until `done` is set."""
        while not self.done.is_set():
            for records in self._consumer.poll(timeout_ms=50).values():
                now = time.time() * 1000
                for record in records:
                    if record.value is not None:
                        seen = msgspec.json.decode(record.value, type=Peek)
                        event = seen.event_id or (seen.source_event_ids[-1] if seen.source_event_ids else "")
                        self.appended.setdefault(event, record.timestamp)
                        self.arrived.setdefault(event, now)
        self._consumer.close()


def finished(consumer: KafkaConsumer, settings: Settings, topic: str = "utterances.affect") -> int:
    """How many records a topic holds."""
    places = [TopicPartition(full_name(settings, topic), n) for n in range(settings.partitions)]
    return sum(consumer.end_offsets(places).values())


def feed(settings: Settings, lines: Sequence[bytes], per_second: float | None = None) -> dict[str, float]:
    """Sends raw records, at a pace if told; the wall clock (ms) at which each was handed in, by event id."""
    producer = KafkaProducer(bootstrap_servers=settings.broker, linger_ms=0 if per_second else 20)
    begun, stamps = time.monotonic(), {}
    for number, line in enumerate(lines):
        if per_second is not None:
            time.sleep(max(0.0, begun + number / per_second - time.monotonic()))
        topic, key = route(line)
        stamps[msgspec.json.decode(line, type=Peek).event_id] = time.time() * 1000
        producer.send(full_name(settings, topic), key=key, value=line)
    producer.flush()
    producer.close()
    return stamps


def memory_mb(pid: int, field: str = "VmRSS") -> float:
    """Resident memory of a process now, or (`VmHWM`) at its highest."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def broker_cpu_s(settings: Settings) -> float:
    """CPU seconds that a cluster's broker has used."""
    record = msgspec.json.decode((Path(settings.data_dir) / "broker" / "broker.json").read_bytes())
    return cpu_s(record["pid"])


@contextlib.contextmanager
def cluster(
    workers: int, *assignments: str, partitions: int = 4
) -> Iterator[tuple[Settings, list[subprocess.Popen[bytes]]]]:
    """A broker with the topics and so many workers, in a folder of its own; all gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedBroker(Path(folder) / "broker") as broker:
        chosen = [f"broker={broker.address}", f"partitions={partitions}", f"data_dir={folder}", *assignments]
        settings = load_settings(chosen, environ={})
        create_topics(settings)
        running: list[subprocess.Popen[bytes]] = []
        try:
            for number in range(workers):
                own = [*chosen, f"data_dir={folder}/w{number}", "web_port=0"]
                with (Path(folder) / f"worker{number}.log").open("wb") as log:
                    command = [sys.executable, "-m", "streams.cli.main", "worker"]
                    running.append(
                        subprocess.Popen(
                            [*command, *(x for item in own for x in ("--set", item))], stdout=log, stderr=log
                        )
                    )
            yield settings, running
        finally:
            for worker in running:
                worker.terminate()
            for worker in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    worker.wait(timeout=20)
                if worker.poll() is None:
                    worker.kill()


def until(consumer: KafkaConsumer, settings: Settings, count: int, seconds: float) -> bool:
    """Whether `count` utterances were finished within the time."""
    limit = time.monotonic() + seconds
    while finished(consumer, settings) < count:
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def sustained(
    workers: int = 2, seconds: float = 60.0, expected: float = 700.0, partitions: int = 4, persons: int = 100
) -> dict[str, float]:
    """Utterances a second over the window, CPU an utterance, and the workers' memory."""
    with cluster(workers, "recall.on=none", partitions=partitions) as (settings, running):
        lines = list(utterances(WARM_UP + int(expected * (seconds + 10)), persons))
        consumer = KafkaConsumer(bootstrap_servers=settings.broker)
        feed(settings, lines[:WARM_UP])
        if not until(consumer, settings, WARM_UP, READY_S):
            raise SystemExit("the workers did not get through the first utterances: see their logs")
        feed(settings, lines[WARM_UP:])
        begun, at = time.monotonic(), finished(consumer, settings)
        used, broker = sum(cpu_s(worker.pid) for worker in running), broker_cpu_s(settings)
        while time.monotonic() - begun < seconds and finished(consumer, settings) < len(lines):
            time.sleep(0.25)
        took, done = time.monotonic() - begun, finished(consumer, settings) - at
        used = sum(cpu_s(worker.pid) for worker in running) - used
        broker = broker_cpu_s(settings) - broker
        consumer.close()
        return {
            "utterances/s": done / took,
            "over seconds": took,
            "ms of CPU an utterance, workers": 1000 * used / max(1, done),
            "ms of CPU an utterance, broker": 1000 * broker / max(1, done),
            "largest worker, MB": max(memory_mb(worker.pid, "VmHWM") for worker in running),
        }


def latency(workers: int = 2, count: int = 1500, per_second: float = 50.0) -> dict[str, float]:
    """Milliseconds from the raw append to the unit's append at a paced load, after `SETTLING_S` of it: workers that have just shared
    the partitions out work off what waited meanwhile, and that is measured by the first event."""
    with cluster(workers, "recall.on=none") as (settings, _):
        lines = list(utterances(WARM_UP // 2 + count))
        consumer = KafkaConsumer(bootstrap_servers=settings.broker)
        feed(settings, lines[: WARM_UP // 2])
        if not until(consumer, settings, WARM_UP // 2, READY_S):
            raise SystemExit("the workers did not get through the first utterances: see their logs")
        watcher = Watcher(settings, "memory.units")
        sent = feed(settings, lines[WARM_UP // 2 :], per_second)
        settled = min(sent.values()) + SETTLING_S * 1000
        until(consumer, settings, len(lines), 30)
        time.sleep(0.5)
        watcher.done.set()
        watcher.join(timeout=5)
        consumer.close()
        appended = sorted(
            watcher.appended[event] - stamp
            for event, stamp in sent.items()
            if stamp >= settled and event in watcher.appended
        )
        arrived = sorted(
            watcher.arrived[event] - stamp
            for event, stamp in sent.items()
            if stamp >= settled and event in watcher.arrived
        )
        return {
            "utterances that made a unit": len(appended),
            "p50 ms, raw append to unit append": statistics.median(appended),
            "p99 ms, raw append to unit append": appended[int(len(appended) * 0.99)],
            "p50 ms, as a consumer sees it": statistics.median(arrived),
            "p99 ms, as a consumer sees it": arrived[int(len(arrived) * 0.99)],
        }


def first_event() -> dict[str, float]:
    """Seconds from the worker's start to its first finished utterance."""
    begun = time.monotonic()
    with cluster(1) as (settings, _):
        consumer = KafkaConsumer(bootstrap_servers=settings.broker)
        feed(settings, list(utterances(1)))
        until(consumer, settings, 1, READY_S)
        consumer.close()
        return {"first event, s after the start of broker and worker": time.monotonic() - begun}


def report(seconds: float, per_second: float, expected: float, scale: bool) -> Iterator[str]:
    """The figures, line by line as they are known."""
    yield f"two workers, embedded broker, recall off, {seconds:g} s"
    yield from table(sustained(2, seconds, expected))
    yield f"two workers at {per_second:g} utterances/s"
    yield from table(latency(2, int(per_second * min(seconds, 30)), per_second))
    if scale:
        for number in (1, 2, 4):
            yield f"{number} partitions, {number} workers, {seconds / 4:g} s"
            yield from table(sustained(number, seconds / 4, expected, partitions=number))
        for persons in (10, 10_000):
            yield f"{persons:,} persons, two workers, {seconds / 4:g} s"
            yield from table(sustained(2, seconds / 4, expected, persons=persons))
    yield from table(first_event())


def table(figures: dict[str, float]) -> Iterator[str]:
    """One line a figure."""
    for name, value in figures.items():
        yield f"  {name:52s}{value:12.2f}"


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench worker", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--per-second", type=float, default=50.0)
    parser.add_argument(
        "--expected", type=float, default=700.0, help="a rate above what will be reached: the backlog is made for it"
    )
    parser.add_argument("--scale", action="store_true", help="also 1, 2 and 4 workers, 10 and 10,000 persons")
    args = parser.parse_args(argv)
    for line in report(args.seconds, args.per_second, args.expected, args.scale):
        print(line, flush=True)


if __name__ == "__main__":
    main()
