"""How common index terms are in ordinary conversation, counted over licensed dialogues: lexicons/common_terms.txt.

Run: ``python -m models.train.count_terms FILE.jsonl[.gz]… > models/lexicons/common_terms.txt``. Every `text`, `turns[].text`
and `context[].text` is one document; shares are counted within a script, since a text in one has no terms of the other.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.cues.terms import terms

FLOOR = 4e-4
"""Terms in fewer texts than this share are left out: to them the prior says nothing."""


def texts_of(line: dict[str, Any]) -> Iterator[str]:
    """The texts of one training line."""
    if isinstance(line.get("text"), str):
        yield line["text"]
    for turn in [*(line.get("turns") or ()), *(line.get("context") or ())]:
        if isinstance(turn, dict) and isinstance(turn.get("text"), str):
            yield turn["text"]


def count(paths: list[Path]) -> dict[str, float]:
    """The share of texts that hold each term, by script."""
    seen: set[str] = set()
    sizes: Counter[bool] = Counter()
    frequency: Counter[str] = Counter()
    for path in paths:
        raw = path.read_bytes()
        content = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
        for line in content.split("\n"):
            for text in texts_of(json.loads(line)) if line else ():
                if text in seen:
                    continue
                seen.add(text)
                found = set(terms(text))
                frequency.update(found)
                for chinese in {not term.isascii() for term in found}:
                    sizes[chinese] += 1
    return {
        term: n / sizes[not term.isascii()] for term, n in frequency.items() if n / sizes[not term.isascii()] >= FLOOR
    }


def main() -> None:
    """Prints the list, commonest first."""
    shares = count([Path(name) for name in sys.argv[1:]])
    print(
        "# term, and in how many of 10,000 texts of ordinary conversation it occurs. Made by models.train.count_terms."
    )
    for term, share in sorted(shares.items(), key=lambda item: (-item[1], item[0])):
        print(f"{term}\t{share * 10_000:.1f}")


if __name__ == "__main__":
    main()
