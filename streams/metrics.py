"""Counters of a worker, in the Prometheus text format. Nothing in them says what anybody said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streams.messages import Message, Output


class Metrics:
    """Events in by stage, records out by topic, sends repeated."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.records: Counter[str] = Counter()
        self.resent = 0

    def count(self, stage: str, messages: Sequence[Message], outputs: Sequence[Output]) -> None:
        """Counts a finished batch."""
        self.events[stage] += len(messages)
        for output in outputs:
            self.records[output.topic] += 1

    def text(self) -> str:
        """The counters as Prometheus reads them."""
        lines = ["# TYPE cuestream_events_total counter"]
        lines += [f'cuestream_events_total{{stage="{name}"}} {count}' for name, count in sorted(self.events.items())]
        lines.append("# TYPE cuestream_records_total counter")
        lines += [f'cuestream_records_total{{topic="{name}"}} {count}' for name, count in sorted(self.records.items())]
        lines += ["# TYPE cuestream_sends_repeated_total counter", f"cuestream_sends_repeated_total {self.resent}"]
        return "\n".join(lines) + "\n"
