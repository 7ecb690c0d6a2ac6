"""How close the distiller comes to summaries written by hand, and what it costs in tokens:  python -m bench.distillation

Three readings. `units`: statements with their summaries (``tests/data/summaries.jsonl``). `excerpts`: service calls and meetings
of some 500 tokens with a core of facts written by hand (``tests/data/excerpts.jsonl``), cut into memory units as the worker cuts
them; how much of the core the units' summaries hold, and what one cue and all of them cost. `whole`: the same excerpts given to
the distiller in one piece, 50 tokens for everything, which is what the source's 0.82 at 800 -> 50 tokens was measured on (with
a trained summariser, on 10,000 lines of its own). ROUGE-L over tokens, Chinese by character.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from models.encoder import Encoder
from models.entropy import segment, shipped_lexicons
from models.units.distillation import MAX_TOKENS, distil
from models.units.token_count import count_tokens

DATA = Path(__file__).parent.parent / "tests" / "data"
FIELDS = "2026-03-02 action_request high pending 0.71 customer session"
"""What a cue carries beside the summary, about as many tokens as a rendered record."""
_TOKEN = re.compile(r"[\u4e00-\u9fff]|[A-Za-z0-9]+(?:[.:,/'-][A-Za-z0-9]+)*")
_SPEAKER = re.compile(r"^[^：:，。,.]{1,14}[：:]\s*")
GUARDED = re.compile(
    r"\d+(?:[.,:]\d+)*|不|没有|别(?![人的墅])|如果|除非|必须|务必|要求|\b(?:not|never|no|if|unless|must|cannot|without)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Numbers, dates, negations, conditions and demands, which a summary must not lose."""


def tokens(text: str) -> list[str]:
    """Words, numbers and Chinese characters, in lower case."""
    return _TOKEN.findall(text.lower())


def rouge_l(guess: str, truth: str) -> float:
    """ROUGE-L F1."""
    a, b = tokens(guess), tokens(truth)
    row = [0] * (len(b) + 1)
    for x in a:
        last = 0
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], last + 1 if x == y else max(row[j], row[j - 1])
    return 2 * row[-1] / max(len(a) + len(b), 1)


def held(core: str, summaries: Iterable[str]) -> float:
    """The share of the core's pairs of neighbouring tokens that stand in the summaries."""
    pairs = {pair for summary in summaries for pair in _pairs(tokens(summary))}
    wanted = _pairs(tokens(core))
    return sum(pair in pairs for pair in wanted) / max(len(wanted), 1)


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(words, words[1:], strict=False))


def lost(source: str, summary: str) -> list[str]:
    """Guarded words of a unit that its summary holds less often."""
    spare = Counter(GUARDED.findall(source.lower()))
    spare.subtract(GUARDED.findall(summary.lower()))
    return [word for word, count in spare.items() if count > 0]


def _lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name).open(encoding="utf-8")]


def measure_units() -> dict[str, float]:
    """ROUGE-L and token ratio on single statements."""
    lines = [(str(line["text"]), str(line["summary"])) for line in _lines("summaries.jsonl")]
    found = [distil(text) for text, _ in lines]
    return {
        "lines": len(lines),
        "rouge_l": sum(rouge_l(a, b) for a, (_, b) in zip(found, lines, strict=True)) / len(lines),
        "token_ratio": sum(map(count_tokens, found)) / sum(count_tokens(text) for text, _ in lines),
    }


def measure_excerpts(lang: str, encoder: Encoder | None) -> dict[str, float]:
    """The figures of one language's excerpts, means over them; `lost` counts guarded words over all units. Without an encoder
    the units are cut by words alone."""
    lists = shipped_lexicons()
    rows, missing, units = [], 0, 0
    for line in (line for line in _lines("excerpts.jsonl") if line["lang"] == lang):
        turns = [_SPEAKER.sub("", str(turn)) for turn in line["turns"]]  # type: ignore[attr-defined]
        core, summaries = str(line["core"]), []
        for turn, encoded in zip(turns, encoder.encode(turns) if encoder else [None] * len(turns), strict=True):
            for unit in segment(turn, encoded, lexicons=lists):
                if not unit.small_talk:
                    content = turn[unit.start : unit.end]
                    summary = content if unit.priority_flag else distil(content, lang=lang)
                    summaries.append(summary)
                    missing += len(lost(content, summary))
        units += len(summaries)
        whole = distil("\n".join(turns), lang=lang)
        size = sum(map(count_tokens, turns))
        kept = sum(map(count_tokens, summaries))
        rows.append((
            size, kept / size, max(map(count_tokens, summaries)), kept / len(summaries) + count_tokens(FIELDS),
            held(core, summaries), count_tokens(whole), rouge_l(whole, core), held(core, [whole]),
        ))  # fmt: skip
    names = (
        "tokens", "kept_ratio", "longest_summary", "cue_tokens", "core_held", "whole_tokens", "whole_rouge_l", "whole_held",
    )  # fmt: skip
    found = {name: sum(column) / len(rows) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return {"excerpts": len(rows), "units": units, "lost": missing, **found}


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the figures."""
    print(f"limit {MAX_TOKENS} tokens; source: ROUGE-L 0.82, 800 -> 50 tokens of facts, 120 with fields")
    print("units", {name: round(value, 3) for name, value in measure_units().items()})
    encoder = Encoder.load()
    for lang in ("zh", "en"):
        print(lang, {name: round(value, 3) for name, value in measure_excerpts(lang, encoder).items()})


if __name__ == "__main__":
    main()
