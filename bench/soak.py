"""Memory over a long run: the resident size of one worker process (all stages, rows on disk by RocksDB) every so many utterances.

Flat means: after the caches are full, no more than `--allow` megabytes are added per 100,000 utterances, by a straight line through the
second half of the readings. 200,000 utterances are the whole run; fewer give an honest, less sure slope.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence

import numpy as np
from kafka import KafkaConsumer

from bench.conversation import utterances
from bench.worker import cluster, feed, finished, memory_mb, until

CHUNK = 2_000
"""Records handed in at a time: the backlog stays small, so that the broker's memory and disk are not what is measured."""


def run(count: int, readings: int, recall: str) -> list[tuple[int, float]]:
    """(utterances done, megabytes) at equal steps; prints each as it is known."""
    with cluster(1, f"recall.on={recall}") as (settings, (worker,)):
        consumer = KafkaConsumer(bootstrap_servers=settings.broker)
        lines, fed, begun = utterances(count, persons=2_000), 0, time.monotonic()
        found: list[tuple[int, float]] = []
        while fed < count:
            part = list(itertools.islice(lines, min(CHUNK, count - fed)))
            feed(settings, part)
            fed += len(part)
            if not until(consumer, settings, fed - CHUNK // 2, 600):
                raise SystemExit("the worker stands still: see its log")
            if fed >= count * (len(found) + 1) / readings:
                until(consumer, settings, fed, 600)
                found.append((finished(consumer, settings), memory_mb(worker.pid)))
                rate = found[-1][0] / (time.monotonic() - begun)
                print(f"  {found[-1][0]:>9,} utterances  {found[-1][1]:8.1f} MB  {rate:7.0f}/s", flush=True)
        consumer.close()
        return found


def slope(found: Sequence[tuple[int, float]]) -> float:
    """Megabytes added per 100,000 utterances over the second half of the readings."""
    half = np.array(found[len(found) // 2 :], dtype=np.float64)
    return float(np.polyfit(half[:, 0], half[:, 1], 1)[0] * 100_000) if len(half) > 1 else float("nan")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the readings and the slope; 1 where memory grows."""
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--readings", type=int, default=20)
    parser.add_argument("--recall", default="none", choices=("none", "customer", "all"))
    parser.add_argument("--allow", type=float, default=20.0, help="megabytes per 100,000 utterances")
    args = parser.parse_args(argv)
    print(f"one worker, {args.count:,} utterances of 2,000 persons, recall {args.recall}")
    found = run(args.count, args.readings, args.recall)
    grown = slope(found)
    print(
        f"  grows by {grown:.1f} MB per 100,000 utterances in the second half; highest {max(mb for _, mb in found):.0f} MB"
    )
    return int(grown > args.allow)


if __name__ == "__main__":
    sys.exit(main())
