"""`cuestream offline`: the same stages over files, without a broker (B2).

The files are read as if each line had been sent to its raw topic in this order: the same keys, partitions and offsets, so that
ids, outputs and dead letters equal what the topics would hold. Persons are spread over worker processes by partition; the
answers are written in the order of the input, so the number of processes never shows.
"""

from __future__ import annotations

import gzip
import multiprocessing as mp
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from models.errors import ResourceError
from streams.messages import Message, Output
from streams.routing import route
from streams.settings import Settings
from streams.topics import partition_for

FILES = {
    "utterances.clean": "clean.jsonl",
    "utterances.resolved": "resolved.jsonl",
    "utterances.affect": "affect.jsonl",
    "memory.units": "units.jsonl",
    "tasks.events": "tasks.jsonl",
    "memory.audit": "audit.jsonl",
    "cues.bundles": "bundles.jsonl",
    "dead.letters": "dead.jsonl",
    "review.queue": "review.jsonl",
}
CHUNK = 256
"""Input lines handed out at a time: large enough to keep the encoder's batches full, small enough to show progress."""
AHEAD = 3
"""Chunks in hand at most: one being answered, one waiting for each process, one being written."""

Answers = list[tuple[int, list[tuple[str, bytes]]]]


def read_lines(paths: Sequence[str]) -> Iterator[bytes]:
    """The input lines of all files in order: JSONL, ``.gz``, ``.parquet`` (one record a row) or ``-``."""
    for path in paths:
        if path == "-":
            yield from _lines(sys.stdin.buffer)
        elif path.endswith(".parquet"):
            yield from _parquet(path)
        elif path.endswith(".gz"):
            with gzip.open(path, "rb") as file:
                yield from _lines(file)
        else:
            with Path(path).open("rb") as file:
                yield from _lines(file)


def _lines(file: Iterable[bytes]) -> Iterator[bytes]:
    for line in file:
        stripped = line.rstrip(b"\r\n")
        if stripped:
            yield stripped


def _parquet(path: str) -> Iterator[bytes]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ResourceError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from None
    import msgspec

    for batch in parquet.ParquetFile(path).iter_batches(batch_size=1000):
        for row in batch.to_pylist():
            yield msgspec.json.encode({name: value for name, value in row.items() if value is not None})


class Offsets:
    """The partition and offset each record would get on its topic."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._next: dict[tuple[str, int], int] = {}

    def place(self, topic: str, key: bytes | None, value: bytes) -> Message:
        """The record as a message on its topic. Without a key it goes to partition 0."""
        partition = 0 if key is None else partition_for(key, self._partitions)
        offset = self._next.get((topic, partition), 0)
        self._next[(topic, partition)] = offset + 1
        return Message(topic=topic, partition=partition, offset=offset, key=key, value=value)


class Runner:
    """Both hops over messages in order, rows in memory. One of these runs in each worker process."""

    def __init__(self, settings: Settings) -> None:
        from streams.engine import Engine
        from streams.stages.ingest import Ingest

        self._ingest = Ingest(settings.privacy.dead_letter_bytes)
        self._engine = Engine.load(settings)
        self._rows: dict[bytes, bytes] = {}
        self._clean_offsets = Offsets(settings.partitions)

    def process(self, messages: Sequence[tuple[int, Message]]) -> Answers:
        """The outputs of each message, by its number."""
        answers: dict[int, list[tuple[str, bytes]]] = {}
        second: list[tuple[int, Message]] = []
        for number, message in messages:
            answers[number] = []
            if message.topic not in ("utterances.raw", "asr.raw"):
                second.append((number, message))
                continue
            for output in self._ingest.process_one(message):
                answers[number].append(_named(output))
                if output.topic == "utterances.clean" and output.value is not None:
                    second.append((number, self._clean_offsets.place(output.topic, output.key, output.value)))
        self._engine.refresh_lists()
        batch = self._engine.process([message for _, message in second], self._rows)
        for index, output in batch.caused_outputs:
            answers[second[index][0]].append(_named(output))
        for _, key, value in batch.puts:
            if value is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = value
        return list(answers.items())


def _named(output: Output) -> tuple[str, bytes]:
    return output.topic, output.value if output.value is not None else b""


def _serve(settings: Settings, pipe: Connection) -> None:
    try:
        runner = Runner(settings)
        while (messages := pipe.recv()) is not None:
            pipe.send(runner.process(messages))
    except (KeyboardInterrupt, EOFError):
        return
    except Exception as error:
        pipe.send(error)


class _Pool:
    """Worker processes, each with the persons of its partitions; rules go to all of them.

    Chunks are handed out ahead, so that nobody waits for the slowest of a chunk; answers come back in the order of the chunks.
    """

    def __init__(self, settings: Settings, processes: int) -> None:
        self._size = processes
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        self._answers: list[SimpleQueue[Answers | BaseException]] = []
        self._alone = Runner(settings) if processes == 1 else None
        self._done: deque[Answers] = deque()
        self.waiting = 0
        context = mp.get_context("spawn")
        for _ in range(processes if processes > 1 else 0):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(settings, theirs), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
            self._answers.append(SimpleQueue())
            # without readers of its own, a worker with a full pipe and we with a full pipe would wait for each other
            threading.Thread(target=_collect, args=(ours, self._answers[-1]), daemon=True).start()

    def hand_out(self, messages: Sequence[tuple[int, Message]]) -> None:
        """Gives a chunk to the processes."""
        self.waiting += 1
        if self._alone is not None:
            self._done.append(sorted(self._alone.process(messages)))
            return
        shares: list[list[tuple[int, Message]]] = [[] for _ in self._pipes]
        for number, message in messages:
            broadcast = message.topic == "knowledge.rules"
            for place in range(self._size) if broadcast else (message.partition % self._size,):
                shares[place].append((number, message))
        for pipe, share in zip(self._pipes, shares, strict=True):
            try:
                pipe.send(share)
            except BrokenPipeError:  # why it ended is among its answers
                return

    def take(self) -> Answers:
        """The answers of the oldest chunk, in input order."""
        self.waiting -= 1
        if self._alone is not None:
            return self._done.popleft()
        merged: dict[int, list[tuple[str, bytes]]] = {}
        for answers in self._answers:
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            for number, outputs in answer:
                merged.setdefault(number, outputs)
        return sorted(merged.items())

    def close(self) -> None:
        """Ends the worker processes."""
        for pipe in self._pipes:
            with suppress(BrokenPipeError):
                pipe.send(None)
        for process in self._processes:
            process.join(timeout=10)


def _collect(pipe: Connection, answers: SimpleQueue[Answers | BaseException]) -> None:
    """Reads a process's answers until it ends."""
    while True:
        try:
            answers.put(pipe.recv())
        except (EOFError, OSError):
            answers.put(ResourceError("a worker process of `cuestream offline` ended before its work was done"))
            return


def run(
    inputs: Sequence[str], out: Path, settings: Settings, processes: int, progress: Progress | None = None
) -> dict[str, int]:
    """Processes the inputs into `out` and returns the number of records by topic.

    Raises `ResourceError` where an input or a model file cannot be read.
    """
    for path in inputs:
        if path != "-" and not Path(path).is_file():
            raise ResourceError(f"{path}: no such file")
    out.mkdir(parents=True, exist_ok=True)
    counts = dict.fromkeys(FILES, 0)
    offsets = Offsets(settings.partitions)
    pool = _Pool(settings, processes)
    try:
        with ExitStack() as stack:
            files: dict[str, IO[bytes]] = {
                topic: stack.enter_context((out / name).open("wb")) for topic, name in FILES.items()
            }
            chunk: list[tuple[int, Message]] = []
            done = 0
            for number, line in enumerate(read_lines(inputs)):
                topic, key = route(line)
                chunk.append((number, offsets.place(topic, key, line)))
                if len(chunk) == CHUNK:
                    done += len(chunk)
                    pool.hand_out(chunk)
                    chunk = []
                    if pool.waiting >= AHEAD:
                        _write(pool.take(), files, counts)
                    if progress is not None:
                        progress.show(done - CHUNK * pool.waiting, counts)
            if chunk:
                pool.hand_out(chunk)
                done += len(chunk)
            while pool.waiting:
                _write(pool.take(), files, counts)
            if progress is not None:
                progress.finish(done, counts)
    finally:
        pool.close()
    return counts


def _write(answers: Answers, files: dict[str, IO[bytes]], counts: dict[str, int]) -> None:
    for _, outputs in answers:
        for topic, value in outputs:
            counts[topic] += 1
            files[topic].write(value + b"\n")


class Progress:
    """A progress line on standard error: lines done, rate, dead letters."""

    def __init__(self, clock: Any, stream: IO[str] = sys.stderr) -> None:
        self._clock, self._stream = clock, stream
        self._begun = self._shown = clock()

    def show(self, done: int, counts: dict[str, int]) -> None:
        """Shows the state at most twice a second."""
        now = self._clock()
        if self._stream.isatty() and now - self._shown >= 0.5:
            self._shown = now
            self._stream.write("\r" + self._line(done, counts, now))
            self._stream.flush()

    def finish(self, done: int, counts: dict[str, int]) -> None:
        """The closing line."""
        lead = "\r" if self._stream.isatty() else ""
        self._stream.write(lead + self._line(done, counts, self._clock()) + "\n")

    def _line(self, done: int, counts: dict[str, int], now: float) -> str:
        rate = done / max(now - self._begun, 1e-9)
        return (
            f"{done:,} records, {rate:,.0f}/s: {counts['memory.units']:,} units, "
            f"{counts['cues.bundles']:,} bundles, {counts['dead.letters']:,} dead letters"
        )
