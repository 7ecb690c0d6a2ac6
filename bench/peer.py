"""A peer beside it in one run: mem0's write with its extraction switched off (``infer=False``), the same encoder, its embedded Qdrant store.

Both take the same utterances of the same persons, one after another on one process. Ours reads references, times, entities, intent, load and
emotion, splits into units, applies the write policy and keeps the rows; mem0 embeds the text as it is and stores it. mem0 is not a
dependency: without it the bench says how to install it and skips.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from bench.conversation import utterances
from models.encoder import Encoder
from streams.offline import Offsets, Runner
from streams.routing import route
from streams.settings import load_settings

COUNT, WARM_UP = 400, 50
HOW = (
    "python3 -m venv /tmp/mem0 && /tmp/mem0/bin/pip install mem0ai -r requirements/run.txt && "
    "/tmp/mem0/bin/pip install --no-deps -e . && /tmp/mem0/bin/python -m bench peer"
)


def texts(count: int) -> list[tuple[str, str]]:
    """(person, text) of the load conversation."""
    rows = (msgspec.json.decode(line) for line in utterances(count, 20))
    return [(row["user_id"], row["text"]) for row in rows]


def ours(count: int) -> list[float]:
    """Seconds of each utterance through all stages, recall off, one at a time."""
    settings = load_settings(["recall.on=none"], environ={})
    runner, offsets = Runner(settings), Offsets(settings.partitions)
    took = []
    for number, raw in enumerate(utterances(count, 20)):
        message = offsets.place(*route(raw), raw)
        begun = time.perf_counter()
        runner.process([(number, message)])
        took.append(time.perf_counter() - begun)
    return took[WARM_UP:]


def mem0(count: int) -> list[float]:
    """Seconds of each `add(…, infer=False)`."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    os.environ.setdefault("OPENAI_API_KEY", "not-used")
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase

    encoder = Encoder.load()

    class Ours(EmbeddingBase):  # type: ignore[misc]
        """Our encoder as mem0 wants one."""

        def embed(self, text: str, memory_action: Any = None) -> list[float]:
            """The index vector of a text."""
            return encoder.encode([text])[0].passage.astype(np.float32).tolist()

    took = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEM0_DIR"] = folder
        store = {
            "provider": "qdrant",
            "config": {
                "path": str(Path(folder) / "qdrant"),
                "embedding_model_dims": encoder.dimension,
                "on_disk": True,
            },
        }
        memory = Memory.from_config(
            {"vector_store": store, "history_db_path": str(Path(folder) / "history.db"),
             "embedder": {"provider": "openai", "config": {"embedding_dims": encoder.dimension}}}
        )  # fmt: skip
        memory.embedding_model = Ours()
        for person, text in texts(count):
            begun = time.perf_counter()
            memory.add(text, user_id=person, infer=False)
            took.append(time.perf_counter() - begun)
        held = memory.get_all(filters={"user_id": "person-0"})
        assert held, "mem0 stored nothing: its interface has changed"
    return took[WARM_UP:]


def figures(took: Sequence[float]) -> tuple[float, float, float]:
    """Utterances a second, p50 and p99 in milliseconds."""
    order = sorted(took)
    return len(took) / sum(took), 1000 * statistics.median(took), 1000 * order[int(len(order) * 0.99)]


def report(count: int) -> Iterator[str]:
    """The figures side by side, and their ratio."""
    yield f"{count - WARM_UP} utterances one at a time, the same encoder, one process each"
    mine = figures(ours(count))
    yield f"  {'cuestream, all stages':32s}{mine[0]:9.1f}/s   p50 {mine[1]:7.2f} ms   p99 {mine[2]:7.2f} ms"
    if importlib.util.find_spec("mem0") is None:
        yield f"  mem0 is not installed: skipped. To have it beside:\n    {HOW}"
        return
    theirs = figures(mem0(count))
    yield f"  {'mem0, add(infer=False)':32s}{theirs[0]:9.1f}/s   p50 {theirs[1]:7.2f} ms   p99 {theirs[2]:7.2f} ms"
    yield f"  ratio cuestream / mem0            {mine[0] / theirs[0]:9.2f}     p50 {mine[1] / theirs[1]:7.2f}"


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench peer", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    args = parser.parse_args(argv)
    for line in report(args.count):
        print(line, flush=True)


if __name__ == "__main__":
    main()
