"""All figures of the repository in one run, with their ratios:  python -m bench [NAME …] [--quick]

offline: stages against the bare encoder. worker: the headline, two workers on the embedded broker. growth: cost as work grows. peer: mem0
beside it. soak: memory over 200,000 utterances (only where it is named: half an hour). Any name may be run alone with its own
arguments: python -m bench worker --seconds 30.
"""

from __future__ import annotations

import importlib
import os
import sys
import time

from streams.cli.main import BLAS_THREADS

ALL: dict[str, list[str]] = {"offline": [], "worker": ["--scale"], "growth": [], "peer": []}
QUICK = {
    "offline": ["--count", "300"],
    "worker": ["--seconds", "10"],
    "growth": ["--sizes", "10", "1000"],
    "peer": ["--count", "200"],
}
NAMED = (*ALL, "soak", "distillation")


def main(arguments: list[str]) -> int:
    """Runs what is named, or everything but the soak; each prints its figures as they are known."""
    for name in BLAS_THREADS:  # as the commands do, before numpy is imported
        os.environ.setdefault(name, "1")
    if any(argument in ("-h", "--help") for argument in arguments[:1]):
        print(__doc__)
        return 0
    quick = "--quick" in arguments
    if arguments and arguments[0] in NAMED:
        return int(importlib.import_module(f"bench.{arguments[0]}").main(arguments[1:]) or 0)
    if [argument for argument in arguments if argument != "--quick"]:
        print(f"python -m bench: no bench {arguments[0]}; there are {', '.join(NAMED)}", file=sys.stderr)
        return 2
    failed = 0
    for name, own in (QUICK if quick else ALL).items():
        print(f"== {name}", flush=True)
        begun = time.monotonic()
        failed |= int(importlib.import_module(f"bench.{name}").main(own) or 0)
        print(f"   ({time.monotonic() - begun:.0f} s)\n", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
