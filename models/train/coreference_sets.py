"""Which sets filter 1 learns from, and how much of each. Nothing here reads an evaluation-only suite."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import rjieba
from msgspec import Struct

from models.train.coreference_data import (
    Example,
    Pointing,
    complete,
    hide_repeats,
    nouns_of,
    pointing,
    rewriting,
    without_marks,
)  # fmt: skip
from models.train.coreference_made import made_examples, templates
from models.train.coreference_names import moved, names_by_sex, renamed
from models.train.coreference_swaps import swapped_case


class Data(Struct, frozen=True):
    """How much of what is drawn: shares of the sets (above 1: more than once), numbers made, copies of suites and own lines.

    ``renamed``: copies of GAP with other names, half of them with the other sex.
    """

    rewrite: float
    hidden: int
    made: int
    joined: float
    pointing: dict[str, float]
    suites: dict[str, int]
    lines: int
    pointers: int = 0
    renamed: int = 0


class Stage(Struct, frozen=True):
    """One stage of training: which data, how many steps, and the rate (as a share of the highest) from first to last.

    ``snapshot``: a step whose weights are averaged with the last ones; between them the network only grows surer.
    """

    data: int
    steps: int
    first: float
    last: float
    snapshot: int = 0


DATA = (
    Data(
        1.0, 30000, 12000, 1.0, {"coref_en_gap": 2.0, "coref_en_litbank": 0.4, "coref_en_winobias": 0.4},
        {"coref_gecor_en": 8, "coref_cqr_en": 16}, 0,
    ),
    Data(
        0.5, 3000, 5000, 0.5, {"coref_en_gap": 1.0, "coref_en_litbank": 0.15, "coref_en_winobias": 0.2},
        {"coref_gecor_en": 6, "coref_cqr_en": 10}, 16,
    ),
    Data(
        0.5, 3000, 4000, 0.7,
        {"coref_en_gap": 1.0, "coref_en_litbank": 0.5, "coref_en_winobias": 0.3, "coref_en_gum": 1.0},
        {"coref_gecor_en": 4, "coref_cqr_en": 7}, 8, 7, 2,
    ),
)  # fmt: skip
STAGES = (Stage(0, 1000, 1.0, 1.0), Stage(1, 2400, 1.0, 0.0, 1000), Stage(2, 3000, 1.0, 0.0))
REWRITE = (
    "rewrite_zh_kdconv", "rewrite_zh_crosswoz", "rewrite_zh_multiwoz", "rewrite_en_multiwoz", "rewrite_en_followup",
    "rewrite_en_cast", "rewrite_en_canard",
)  # fmt: skip
LINES = Path(__file__).with_name("coreference_lines.jsonl")
"""Our own dialogues with rewrites."""
POINTERS = Path(__file__).with_name("coreference_pointers.jsonl")
"""Our own texts with what their pronouns mean."""
DIALOGUE_ZH = (
    "dialog_zh_kdconv", "recall_zh_xpersona", "acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_evermem",
    "dialog_zh_cpsycoun",
)  # fmt: skip
EVALUATION_ONLY = ("coref_rewrite_zh", "coref_wsc_zh")
COMMON = {"acts_zh_crosswoz"}
"""Sets with so much of one subject that only a part is drawn from."""

SUITES = {"coref_gecor_en": 1, "coref_cqr_en": 2}
"""Licensed suites (MIT, MIT-0) of which a part is learned, and the field of a case id that names its dialogue."""

SUITE_SHARE = 75
"""Percent of a suite's dialogues, by hash, that are learned; figures are reported on the rest."""


def learned(case_id: str, field: int) -> bool:
    """Whether a suite's case belongs to the part that training sees."""
    dialogue = "-".join(case_id.split("-")[: field + 1])
    return int(hashlib.md5(dialogue.encode()).hexdigest(), 16) % 100 < SUITE_SHARE


HELD = 10
"""One in so many texts of the pointing sets and of our own lines, by hash, is not learned: thresholds are set on them."""


def held(record: dict[str, Any]) -> bool:
    """Whether a record is kept for setting thresholds."""
    return zlib.crc32(record["text"].encode()) % HELD == 0


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a JSONL file, gzipped or not."""
    if not path.exists():
        path = path.with_name(path.name + ".gz")
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def suite_examples(bench: Path, name: str, copies: int, rng: random.Random, window: int = 60) -> Iterator[Example]:
    """The learned part of a suite, as it is and about other things; some rewrites as utterances that lack nothing."""
    cases = {c["id"]: c for c in read_lines(bench / name / "cases.jsonl")}
    for gold in read_lines(bench / name / "gold.jsonl"):
        if not learned(gold["id"], SUITES[name]):
            continue
        case = {**cases[gold["id"]], "speaker": "customer"}
        for copy in range(copies):
            record, rewrites = (
                (case, gold["rewrites"]) if copy % 3 == 0 else swapped_case(case, gold["rewrites"], rng, False)
            )
            example = rewriting(record, rewrites, name, window)
            if example:
                yield example
                if example.edits and rng.random() < 0.25:
                    yield complete(record, rewrites[0], name + ":complete", window)


def line_examples(copies: int, rng: random.Random, window: int = 60) -> Iterator[Example]:
    """Our own dialogues: as they are and about other things; also as whole utterances, and Chinese without marks."""
    for given in read_lines(LINES):
        if held(given):
            continue
        chinese = given["lang"] == "zh"
        given = {**given, "speaker": given.get("speaker") or next_speaker(given["context"])}
        for copy in range(copies):
            record, rewrites = given, [given["rewrite"]]
            if copy % 3:
                record, rewrites = swapped_case(record, rewrites, rng, chinese)
            if chinese and rng.random() < 0.7:
                record = {**record, "text": without_marks(record["text"])}
                record["context"] = [{**t, "text": without_marks(t["text"])} for t in record["context"]]
                rewrites = [without_marks(r) for r in rewrites]
            example = rewriting(record, rewrites, f"lines_{given['lang']}", window)
            if example:
                yield example
                if example.edits and rng.random() < 0.3:
                    yield complete(record, rewrites[0], "lines:complete", window)


def next_speaker(context: Sequence[dict[str, str]]) -> str:
    """Who speaks after the last turn: the one before it, or somebody else."""
    return context[-2]["speaker"] if len(context) > 1 else "customer"


def rewriting_examples(train: Path, name: str, rng: random.Random) -> Iterator[Example]:
    """A rewriting set; Chinese also without punctuation and with only two turns before, as chats have it."""
    chinese = "_zh_" in name
    for record in read_lines(train / f"{name}.jsonl"):
        if record.get("changed") is None or not record.get("context"):
            continue
        if chinese:
            record = as_chat(record, rng)
        window = rng.choice((50, 50, 80))
        example = rewriting(record, [record["rewrite"]], name, window)
        if example is None:
            lost = pronoun_only(record)
            if lost:
                layout = complete(record, record["text"], name + ":lost", window)
                layout.pointings = [Pointing(a, b, []) for a, b in _spans(layout, lost)]
                yield layout
            continue
        yield example
        if example.edits and rng.random() < 0.6:
            yield complete(record, record["rewrite"], name + ":complete", window)


def as_chat(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Fewer turns before and, mostly, no punctuation marks."""
    record = dict(record)
    if rng.random() < 0.5:
        record["context"] = record["context"][-2:]
    if rng.random() < 0.5:
        record["context"] = [{**t, "text": without_marks(t["text"])} for t in record["context"]]
        record["text"], record["rewrite"] = without_marks(record["text"]), without_marks(record["rewrite"])
        record.pop("mentions", None)
    return record


def pronoun_only(record: dict[str, Any]) -> list[tuple[int, int]]:
    """Spans of marked pronouns whose antecedent was not within reach."""
    return [(m["start"], m["end"]) for m in record.get("mentions", ())]


def _spans(example: Example, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        found = example.layout.words_in(-1, start, end)
        if found:
            yield found


def renamed_examples(train: Path, rng: random.Random, flipped: bool) -> Iterator[Example]:
    """GAP about other people: its candidates take the names of others, and may change their sex (`coreference_names`)."""
    records = [r for r in read_lines(train / "coref_en_gap.jsonl") if not held(r)]
    names = names_by_sex(records)
    for record in records:
        example = pointing(renamed(record, names, rng, flipped), "coref_en_gap:renamed", 120)
        if example:
            yield example


def pointer_examples(copies: int, rng: random.Random) -> Iterator[Example]:
    """Our own texts with what their pronouns mean: as they are, and about other things; Chinese also without marks."""
    for given in read_lines(POINTERS):
        if held(given):
            continue
        record = {"speaker": "customer", **given}
        for copy in range(copies):
            window = rng.choice((50, 80))
            made = moved(record, without_marks) if copy % 3 == 2 and given["lang"] == "zh" else record
            example = pointing(made, f"pointers_{given['lang']}", window)
            if example:
                yield example


def pointing_examples(train: Path, name: str) -> Iterator[Example]:
    """A set of mentions with known antecedents."""
    for record in read_lines(train / f"{name}.jsonl"):
        example = None if held(record) else pointing(record, name, 120)
        if example:
            yield example


def joined_examples(train: Path, rng: random.Random, share: float) -> Iterator[Example]:
    """Chinese pronouns whose antecedent stands in the same text: a turn joined with the turns before it."""
    for record in read_lines(train / "rewrite_zh_kdconv.jsonl"):
        turns = record.get("context", [])
        for mention in record.get("mentions", ())[:1]:
            turn = mention["antecedent"]["turn"]
            if turn < max(0, len(turns) - 3) or rng.random() > share:
                continue
            first = rng.randint(max(0, turn - 1), turn)
            text, at = "", 0
            for index in range(first, len(turns)):
                at = len(text) if index == turn else at
                text += turns[index]["text"].rstrip("？?。！") + rng.choice("。，；")
            antecedent = mention["antecedent"]
            moved = {
                "start": mention["start"] + len(text), "end": mention["end"] + len(text),
                "antecedent": {"turn": -1, "start": antecedent["start"] + at, "end": antecedent["end"] + at},
            }  # fmt: skip
            example = pointing({"text": text + record["text"], "mentions": [moved], "context": []}, "joined_zh", 0)
            if example:
                yield example


def hidden_examples(train: Path, rng: random.Random, most: int) -> Iterator[Example]:
    """Chinese dialogue in which a noun said again was hidden, and the same utterances as they were."""
    used: Counter[str] = Counter()
    general = set(templates()["zh"]["general"]["words"])
    count = 0
    pool = [t for name in DIALOGUE_ZH for t in turn_windows(train, name) if name not in COMMON or rng.random() < 0.3]
    rng.shuffle(pool)
    for turns in pool:
        if count >= most:
            return
        names = nouns_of(" ".join(t["text"] for t in turns[:-1]), rjieba.tag, general)
        names = {n: k for n, k in names.items() if used[n] < 60 and n in turns[-1]["text"]}
        bare = rng.random() < 0.75
        made = [*hide_repeats(turns, rng, names), *hide_repeats(turns, rng, names)] if names else []
        for record, rewrite in {r["text"]: (r, w) for r, w in made}.values():
            if bare:
                record["context"] = [{**t, "text": without_marks(t["text"])} for t in record["context"]]
                record["text"], rewrite = without_marks(record["text"]), without_marks(rewrite)
            example = rewriting(record, [rewrite], "hidden", 60)
            if example and example.edits and len(example.edits) == 1:
                used.update(names.keys())
                count += 1
                yield example
                if rng.random() < 0.7:
                    yield complete(record, rewrite, "hidden:complete", 60)
        if not names and rng.random() < 0.02 and re.search("我|你", turns[-1]["text"]):
            text = without_marks(turns[-1]["text"]) if bare else turns[-1]["text"]
            yield complete({**turns[-1], "context": list(turns[:-1])}, text, "hidden:none", 60)


def turn_windows(train: Path, name: str) -> Iterator[list[dict[str, str]]]:
    """Three consecutive turns at a time (two where the set has only pairs)."""
    for record in read_lines(train / f"{name}.jsonl"):
        if "turns" in record:
            turns = [t for t in record["turns"] if t.get("text")]
            for i in range(2, len(turns)):
                yield turns[i - 2 : i + 1]
        elif record.get("replies"):
            best = max(record["replies"], key=lambda r: r.get("like", 0))
            yield [{"speaker": "A", "text": record["text"]}, {"speaker": "B", "text": best["text"]}]
        elif record.get("context"):
            own = {"speaker": record.get("speaker", "A"), "text": record["text"]}
            yield [*({"speaker": t["speaker"], "text": t["text"]} for t in record["context"][-2:]), own]


def evaluation_lines(bench: Path) -> set[str]:
    """Every turn of the evaluation-only suites, without blanks: nothing made here may repeat one."""
    lines: set[str] = set()
    for name in EVALUATION_ONLY:
        for case in read_lines(bench / name / "cases.jsonl"):
            lines.update(
                without_marks(t).replace(" ", "") for t in (case["text"], *(c["text"] for c in case.get("context", ())))
            )
    return {line for line in lines if len(line) >= 6}


def names_in_use(train: Path) -> dict[str, list[str]]:
    """Names of films, songs, people and places from the entity annotation of KdConv and CrossWOZ."""
    found: dict[str, set[str]] = {"work": set(), "place": set(), "person": set()}
    for record in read_lines(train / "dialog_zh_kdconv.jsonl"):
        kind = {"film": "work", "music": "work", "travel": "place"}.get(record["id"].split("-")[1], "work")
        for entity in record.get("entities", ()):
            name = without_marks(entity["text"])
            if 2 <= len(name) <= 10:
                found["person" if "\u00b7" in entity["text"] else kind].add(name)
    for record in read_lines(train / "acts_zh_crosswoz.jsonl"):
        for entity in record.get("entities", ()):
            if entity["type"].endswith("名称") and 2 <= len(entity["text"]) <= 10:
                found["place"].add(without_marks(entity["text"]))
    return {kind: sorted(names)[:: max(1, len(names) // 150)] for kind, names in found.items()}


def sources(train: Path, bench: Path, data: Data, seed: int) -> Iterator[tuple[str, Callable[[], Iterator[Example]]]]:
    """What a stage learns from, by name; each source draws by itself."""

    def rng(name: str) -> random.Random:
        return random.Random(f"{seed} {name}")

    def shared(name: str, share: float, found: Iterator[Example]) -> Iterator[Example]:
        chance = rng(f"{name} share")
        for example in found:
            yield from [example] * sum(chance.random() < share - part for part in range(math.ceil(share)))

    for name in REWRITE:
        yield name, lambda n=name: shared(n, data.rewrite, rewriting_examples(train, n, rng(n)))  # type: ignore[misc]
    yield "hidden", lambda: hidden_examples(train, rng("hidden"), data.hidden)
    yield "made", lambda: made_examples(rng("made"), data.made, names_in_use(train))
    yield "joined", lambda: joined_examples(train, rng("joined"), data.joined)
    for name, share in data.pointing.items():
        yield name, lambda n=name, s=share: shared(n, s, pointing_examples(train, n))  # type: ignore[misc]
    for copy in range(data.renamed):
        name = f"renamed {copy}"
        yield name, lambda n=name, c=copy: renamed_examples(train, rng(n), c % 2 == 1)  # type: ignore[misc]
    for name, copies in data.suites.items():
        yield name, lambda n=name, c=copies: suite_examples(bench, n, c, rng(n))  # type: ignore[misc]
    yield "lines", lambda: line_examples(data.lines, rng("lines")) if data.lines else iter(())
    yield "pointers", lambda: pointer_examples(data.pointers, rng("pointers")) if data.pointers else iter(())


def drawn_examples(train: Path, bench: Path, data: Data, seed: int) -> list[Example]:
    """What a stage learns, in a fixed order."""
    kept = evaluation_lines(bench)
    examples = (e for _, draw in sources(train, bench, data, seed) for e in draw())
    return [e for e in examples if not _turns(e) & kept]


def _turns(example: Example) -> set[str]:
    lines: list[str] = [""]
    for surface in example.layout.surfaces[1:]:
        if surface == "</s>":
            lines.append("")
        else:
            lines[-1] += surface
    return {without_marks(line) for line in lines}
