"""`offline` against the bare encoder: utterances/s of all stages, of the encoder alone, and their ratio; a profile by stage."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec

from bench.conversation import utterances
from streams.engine import Engine
from streams.offline import Offsets, Runner
from streams.routing import route
from streams.settings import load_settings

COUNT, WARM_UP, BATCH = 1500, 200, 64


def timed(owner: Any, name: str, spent: dict[str, float], label: str | None = None) -> None:
    """Replaces a function of an object, class or module by one that adds up its time under a label."""
    inner: Callable[..., Any] = getattr(owner, name)

    def outer(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return inner(*args, **kwargs)
        finally:
            spent[label or name] += time.perf_counter() - begun

    setattr(owner, name, outer)


def run() -> dict[str, float]:
    """The figures, by name."""
    settings = load_settings(["recall.on=none"], environ={})
    runner = Runner(settings)
    offsets = Offsets(settings.partitions)
    messages = [(n, offsets.place(*route(raw), raw)) for n, raw in enumerate(utterances(COUNT + WARM_UP))]
    runner.process(messages[:WARM_UP])
    texts = [msgspec.json.decode(message.value)["text"] for _, message in messages[WARM_UP:]]
    encoder = runner._engine._models.encoder
    begun = time.perf_counter()
    for start in range(0, COUNT, BATCH):
        encoder.encode(texts[start : start + BATCH])
    bare = time.perf_counter() - begun
    begun = time.perf_counter()
    for start in range(WARM_UP, COUNT + WARM_UP, BATCH):
        runner.process(messages[start : start + BATCH])
    whole = time.perf_counter() - begun
    return {
        "utterances_per_s": COUNT / whole,
        "encoder_alone_per_s": COUNT / bare,
        "ratio_to_encoder": whole / bare,
        "ms_per_utterance": 1000 * whole / COUNT,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def profile() -> dict[str, float]:
    """Milliseconds an utterance by stage, one thread."""
    from streams.stages import reading, turn, units

    spent: dict[str, float] = defaultdict(float)
    settings = load_settings(environ={})
    runner = Runner(settings)
    engine: Engine = runner._engine
    for owner, name in (
        (reading, "find_entities"), (reading, "find_times"), (turn, "parse_intent"), (units, "segment"),
        (units, "read_unit"), (units, "distil"), (units, "write_unit"), (engine._turns._recalling, "bundle"),
    ):  # fmt: skip
        timed(owner, name, spent)
    models = engine._models
    timed(type(models.coreference), "resolve", spent, "coreference")
    timed(type(models.affect), "read", spent, "affect")
    timed(type(models.encoder), "encode", spent, "encoder")
    timed(runner._ingest, "process_one", spent, "ingest")
    offsets = Offsets(settings.partitions)
    messages = [(n, offsets.place(*route(raw), raw)) for n, raw in enumerate(utterances(COUNT))]
    begun = time.perf_counter()
    for start in range(0, COUNT, BATCH):
        runner.process(messages[start : start + BATCH])
    spent["whole"] = time.perf_counter() - begun
    return {name: 1000 * seconds / COUNT for name, seconds in sorted(spent.items(), key=lambda item: -item[1])}


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:24s} {value:10.2f}")
    print("\nms an utterance, by stage (one thread, recall on)")
    for name, value in profile().items():
        print(f"  {name:22s} {value:8.3f}")
