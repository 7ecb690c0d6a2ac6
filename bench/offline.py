"""All stages in one process against the bare encoder, and where the time goes, stage by stage (CPU time, so that a busy machine shows less).

The encoder alone is the floor: nothing can be faster than the pass over the text. The ratio of the whole to it is what the rest costs.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.conversation import utterances
from streams.engine import Engine
from streams.messages import Message
from streams.offline import Offsets, Runner
from streams.routing import route
from streams.settings import load_settings

COUNT, WARM_UP, BATCH = 1500, 200, 64


def timed(owner: Any, name: str, spent: dict[str, float], label: str) -> None:
    """Replaces a function of an object, class or module by one that adds up its thread's CPU time under a label."""
    inner: Callable[..., Any] | None = getattr(owner, name, None)
    if inner is None:
        return
    held = inner

    def outer(*args: Any, **kwargs: Any) -> Any:
        begun = time.thread_time()
        try:
            return held(*args, **kwargs)
        finally:
            spent[label] += time.thread_time() - begun

    setattr(owner, name, outer)


def messages_of(runner_settings: Any, count: int) -> list[tuple[int, Message]]:
    """The load as numbered messages."""
    offsets = Offsets(runner_settings.partitions)
    return [(n, offsets.place(*route(raw), raw)) for n, raw in enumerate(utterances(count))]


def run(count: int = COUNT, recall: str = "none") -> dict[str, float]:
    """Rates and CPU of all stages and of the bare encoder, and their ratio."""
    settings = load_settings([f"recall.on={recall}"], environ={})
    runner = Runner(settings)
    messages = messages_of(settings, count + WARM_UP)
    runner.process(messages[:WARM_UP])
    texts = [msgspec.json.decode(message.value)["text"] for _, message in messages[WARM_UP:]]
    encoder = runner._engine._models.encoder
    begun, used = time.perf_counter(), time.process_time()
    for start in range(0, count, BATCH):
        encoder.encode(texts[start : start + BATCH])
    bare, bare_cpu = time.perf_counter() - begun, time.process_time() - used
    begun, used = time.perf_counter(), time.process_time()
    for start in range(WARM_UP, count + WARM_UP, BATCH):
        runner.process(messages[start : start + BATCH])
    whole, whole_cpu = time.perf_counter() - begun, time.process_time() - used
    return {
        "utterances/s, all stages": count / whole,
        "utterances/s, encoder alone": count / bare,
        "ms of CPU an utterance, all stages": 1000 * whole_cpu / count,
        "ms of CPU an utterance, encoder alone": 1000 * bare_cpu / count,
        "ratio to the bare encoder, CPU": whole_cpu / bare_cpu,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def profile(count: int = COUNT) -> dict[str, float]:
    """Milliseconds of CPU an utterance by stage, largest first; "rows, discourse, publishing" is what no stage below accounts for."""
    from streams.stages import affect as affect_stage
    from streams.stages import reading, turn, units

    spent: dict[str, float] = defaultdict(float)
    settings = load_settings(["recall.on=none"], environ={})
    runner = Runner(settings)
    engine: Engine = runner._engine
    models = engine._models
    messages = messages_of(settings, count + WARM_UP)
    runner.process(messages[:WARM_UP])
    for owner, name, label in (
        (type(models.encoder), "encode", "encoder"), (reading, "find_entities", "entities"), (reading, "find_times", "times"),
        (turn, "parse_intent", "parsed intent"), (turn.tasks, "step", "task step"), (units, "segment", "segments and entropy"),
        (units, "read_unit", "unit reading"), (units, "distil", "distillation"), (units, "write_unit", "writing units"),
        (affect_stage, "read", "affect heads"), (type(models.coreference), "resolve", "references"),
        (runner._ingest, "process_one", "ingest"), (engine, "_commit", "hot row, commit"),
    ):  # fmt: skip
        timed(owner, name, spent, label)
    used = time.process_time()
    for start in range(WARM_UP, count + WARM_UP, BATCH):
        runner.process(messages[start : start + BATCH])
    whole = time.process_time() - used
    del used
    spent["rows, discourse, publishing, the encoder's own threads"] = max(0.0, whole - sum(spent.values()))
    spent["whole"] = whole
    return {name: 1000 * seconds / count for name, seconds in sorted(spent.items(), key=lambda item: -item[1])}


def codec() -> dict[str, float]:
    """Milliseconds an utterance to read its record and write the four that are published of it."""
    from models.records import Affect, Utterance, encode

    settings = load_settings(["recall.on=none"], environ={})
    runner = Runner(settings)
    answers = runner.process(messages_of(settings, WARM_UP))
    kinds = {"utterances.clean": Utterance, "utterances.affect": Affect}
    values = [(kinds[topic], value) for _, outputs in answers for topic, value in outputs if topic in kinds]
    begun = time.thread_time()
    for kind, value in values:
        encode(msgspec.json.decode(value, type=kind))
    return {"codec: clean and affect read and written": 1000 * (time.thread_time() - begun) / WARM_UP}


def rocksdb() -> dict[str, float]:
    """Milliseconds an utterance to put its rows into RocksDB as the worker does, and how many bytes they are."""
    from rocksdict import Options, Rdict, WriteBatch

    settings = load_settings(["recall.on=none"], environ={})
    engine = Engine.load(settings)
    from bench.growth import messages_of as clean

    rows: dict[bytes, bytes] = {}
    puts: list[list[tuple[bytes, bytes | None]]] = []
    for message in clean(list(utterances(WARM_UP)), settings.partitions):
        batch = engine.process([message], rows)
        puts.append([(key, value) for _, key, value in batch.puts])
        for key, value in puts[-1]:
            if value is None:
                rows.pop(key, None)
            else:
                rows[key] = value
    with tempfile.TemporaryDirectory() as folder:
        store = Rdict(str(Path(folder) / "rows"), Options(raw_mode=True))
        begun = time.process_time()
        for part in puts:
            write = WriteBatch(raw_mode=True)
            for key, value in part:
                if value is None:
                    write.delete(key)
                else:
                    write.put(key, value)
            store.write(write)
        used = time.process_time() - begun
        store.close()
    size = sum(len(key) + len(value or b"") for part in puts for key, value in part)
    return {
        "RocksDB: rows of an utterance": 1000 * used / len(puts),
        "kB of rows an utterance": size / len(puts) / 1000,
    }


def report(count: int = COUNT) -> Iterator[str]:
    """The figures, line by line as they are known."""
    yield f"one process, recall off, {count:,} utterances in batches of {BATCH}"
    alone = run(count)
    yield from (f"  {name:58s}{value:10.2f}" for name, value in alone.items())
    yield "ms of CPU an utterance by stage, and the ratio to the bare encoder"
    floor = alone["ms of CPU an utterance, encoder alone"]
    for name, value in {**profile(count), **codec(), **rocksdb()}.items():
        yield f"  {name:58s}{value:10.3f}" + ("" if name.startswith("kB") else f"{value / floor:8.2f}")


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench offline", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    for line in report(parser.parse_args(argv).count):
        print(line, flush=True)


if __name__ == "__main__":
    main()
