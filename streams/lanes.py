"""Engines side by side: each has the persons of its partitions, so two cores work on one batch and no result depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from streams.engine import Engine
from streams.messages import Batch, Message
from streams.settings import Settings
from tables.rulebook import RuleBook
from tables.store import Readable


class Lanes:
    """As one engine. The lanes share models and rules; each has its own hot indexes and runs in its own thread."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = list(engines)
        self._threads = ThreadPoolExecutor(len(self._engines), thread_name_prefix="lane")

    @classmethod
    def load(cls, settings: Settings) -> Lanes:
        """The lanes of the settings with the shipped (or configured) models. Raises `ResourceError`."""
        first = Engine.load(settings)
        return cls([first, *(first.sibling() for _ in range(settings.worker.lanes - 1))])

    @property
    def rules(self) -> RuleBook:
        """The rules that all lanes see."""
        return self._engines[0].rules

    def check_index(self, hot_rows: Iterable[bytes]) -> None:
        """Raises ResourceError where one of these persons' vectors was made by another encoder."""
        self._engines[0].check_index(hot_rows)

    def forget_caches(self) -> None:
        """Drops what was derived from rows, as after a rebalance."""
        for engine in self._engines:
            engine.forget_caches()

    def process(self, messages: Sequence[Message], rows: Readable) -> Batch:
        """The outputs and row changes of a batch, in its order, as one engine would give them."""
        self._engines[0].refresh_lists()
        shares: list[list[int]] = [[] for _ in self._engines]
        for index, message in enumerate(messages):
            shares[message.partition % len(self._engines)].append(index)
        busy = [(engine, share) for engine, share in zip(self._engines, shares, strict=True) if share]
        if len(busy) == 1:
            return busy[0][0].process(messages, rows)
        futures = [
            self._threads.submit(engine.process, [messages[index] for index in share], rows) for engine, share in busy
        ]
        merged = Batch()
        for future, (_, share) in zip(futures, busy, strict=True):
            part = future.result()
            merged.caused_outputs += [(share[index], output) for index, output in part.caused_outputs]
            merged.puts += [(share[index], key, value) for index, key, value in part.puts]
        merged.caused_outputs.sort(key=lambda item: item[0])
        return merged
