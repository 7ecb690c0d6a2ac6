"""Training examples of filter 1: what to insert or replace in an utterance, aligned with the words it is copied from.

An example holds the words of the utterance and of its context (newest turn first) and a list of edits. An edit is a gap
or a stretch of words and the phrase that belongs there, as positions to copy from and connecting words to add.
"""

from __future__ import annotations

import difflib
import random
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from models.references.edit_net import CONNECTORS, STOP, Layout, lay_out
from models.wording import Word, is_cjk, split_words

MAX_PHRASE = 24
_EXTRA_WORDS = {w: i for i, w in enumerate(CONNECTORS)}


class Edit(Struct):
    """Words ``start..end`` of the utterance (equal: the gap before ``start``) become ``steps``, ended by STOP.

    A step is the set of right choices: positions in the layout, or ``-1 - connector``. ``path`` is the one followed.
    """

    start: int
    end: int
    steps: list[list[int]] = field(default_factory=list)
    path: list[int] = field(default_factory=list)


class Pointing(Struct):
    """A mention ``start..end`` and the layout positions of the words of its antecedent; none: it has none here.

    ``wrong``: only these words are known not to be meant; any other, or none, may be.
    """

    start: int
    end: int
    right: list[int]
    wrong: list[int] = field(default_factory=list)


class Example(Struct):
    """One utterance in its layout with the edits it needs (None: unknown) and the mentions whose antecedent is known."""

    layout: Layout
    edits: list[Edit] | None
    pointings: list[Pointing] = field(default_factory=list)
    origin: str = ""


def align(text_words: Sequence[Word], rewrite: str, layout: Layout) -> list[Edit] | None:
    """Edits that turn the utterance into its rewrite; None where that takes words from nowhere or more than copying."""
    new = split_words(rewrite)
    old_keys, new_keys = [w.key for w in text_words], [w.key for w in new]
    edits = []
    for op, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes():
        phrase = [k for k in new_keys[j1:j2] if re.search(r"\w", k)]
        removed = [k for k in old_keys[i1:i2] if re.search(r"\w", k)]
        if op == "equal" or (not phrase and not removed):
            continue
        if not phrase or len(phrase) > MAX_PHRASE or len(removed) > 6:
            return None
        edit = _copy(Edit(i1, i2), phrase, layout)
        if edit is None:
            return None
        edits.append(edit)
    return edits


def _copy(edit: Edit, phrase: list[str], layout: Layout) -> Edit | None:
    """Fills in where each word of the phrase may be copied from, longest stretches first and newest turn first."""
    at = 0
    while at < len(phrase):
        runs: dict[int, int] = {}
        for position, key in enumerate(layout.keys):
            if key == phrase[at] and layout.copyable[position]:
                length = 1
                while (
                    at + length < len(phrase)
                    and position + length < len(layout.keys)
                    and layout.keys[position + length] == phrase[at + length]
                    and layout.copyable[position + length]
                ):
                    length += 1
                runs[position] = length
        if runs and (max(runs.values()) > 1 or phrase[at] not in _EXTRA_WORDS):
            longest = max(runs.values())
            starts = [p for p, n in runs.items() if n == longest]
            edit.steps.append(starts)
            edit.path.append(starts[0])
            for step in range(1, longest):
                edit.steps.append([starts[0] + step])
                edit.path.append(starts[0] + step)
            at += longest
        elif phrase[at] in _EXTRA_WORDS:
            edit.steps.append([-1 - _EXTRA_WORDS[phrase[at]], *runs])
            edit.path.append(edit.steps[-1][0])
            at += 1
        else:
            return None
    edit.steps.append([-1 - STOP])
    edit.path.append(-1 - STOP)
    return edit


def copied_run(path: Sequence[int]) -> tuple[int, int] | None:
    """The longest unbroken stretch ``first, last + 1`` of positions that a phrase copies."""
    best, begin = None, 0
    for i in range(1, len(path) + 1):
        if i == len(path) or path[i] < 0 or path[i] != path[i - 1] + 1:
            if path[begin] >= 0 and (best is None or path[i - 1] + 1 - path[begin] > best[1] - best[0]):
                best = (path[begin], path[i - 1] + 1)
            begin = i
    return best


def rewriting(record: dict[str, Any], rewrites: Sequence[str], origin: str, window: int) -> Example | None:
    """An example from an utterance and its accepted rewrites; the one that needs the fewest new words is learned."""
    layout = lay_out(record["text"], record.get("speaker", "customer"), record.get("context", ()), window)
    aligned = [e for e in (align(layout.words, r, layout) for r in rewrites) if e is not None]
    if not aligned:
        return None
    edits = min(aligned, key=lambda e: sum(len(x.steps) for x in e))
    pointings = []
    for edit in edits:
        run = copied_run(edit.path)
        if run:
            pointings.append(Pointing(edit.start, edit.end, list(range(*run))))
    return Example(layout, edits, pointings, origin)


def complete(record: dict[str, Any], text: str, origin: str, window: int) -> Example:
    """The utterance as it should have been said: nothing to change."""
    return Example(lay_out(text, record.get("speaker", "customer"), record.get("context", ()), window), [], [], origin)


def pointing(record: dict[str, Any], origin: str, window: int) -> Example | None:
    """An example from mentions with known antecedents in the text itself (turn -1) or in its context."""
    layout = lay_out(record["text"], record.get("speaker", ""), record.get("context", ()), window)
    found = []
    for mention in record.get("mentions", ()):
        span = layout.words_in(-1, mention["start"], mention["end"])
        if not span:
            continue
        a, others = mention.get("antecedent"), record.get("candidates", ())
        right: list[int] = []
        wrong: list[int] = []
        if a:
            right = layout.positions(a["turn"], a["start"], a["end"])
            if not right:
                continue
            if len(right) <= 4:
                right = sorted({*right, *layout.repeats(right)})
            if others:
                rivals = {layout.keys[p] for c in others if not c["coref"] for p in _of(c, layout)}
                right = sorted({*right, *_names_of(layout, right, rivals)})
        elif others:
            wrong = sorted({p for c in others for p in (*_of(c, layout), *_names_of(layout, _of(c, layout), set()))})
        found.append(Pointing(span[0], span[1], right, wrong))
    return Example(layout, None, found, origin) if found else None


def _of(candidate: dict[str, Any], layout: Layout) -> list[int]:
    return layout.positions(-1, candidate["start"], candidate["end"])


def _names_of(layout: Layout, positions: Sequence[int], rivals: Container[str]) -> list[int]:
    """Where a name's capitalised words stand elsewhere: "Cassidy" of "Cheryl Cassidy"."""
    names = {layout.keys[p] for p in positions if layout.shapes[p] == 2 and layout.keys[p] not in rivals}
    return [p for p, key in enumerate(layout.keys) if key in names and layout.shapes[p] == 2]


# ------------------------------------------------------------------------------- made from dialogue


def hide_repeats(
    turns: Sequence[dict[str, str]], rng: random.Random, names: dict[str, str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """The last turn, where it names something said just before, with that mention hidden: (record, rewrite).

    ``names`` maps a phrase to its kind (person, place, thing); nouns outside it count as things.
    """
    text, before = turns[-1]["text"], list(turns[:-1])
    seen = " ".join(t["text"] for t in before)
    if not 4 <= len(text) <= 80:
        return
    for start, end, kind in _mentions_again(text, seen, names):
        hidden = _hide(text, start, end, kind, rng)
        if hidden:
            yield {"text": hidden, "speaker": turns[-1].get("speaker", "A"), "context": before}, text


def _mentions_again(text: str, seen: str, names: dict[str, str]) -> list[tuple[int, int, str]]:
    found = []
    for name, kind in names.items():
        at = text.find(name)
        if at >= 0 and name in seen and text.count(name) == 1:
            found.append((at, at + len(name), kind))
    return found


_BEFORE_OBJECT = re.compile("[过了吃看听买喝用玩爱去找要叫给懂做]$|喜欢$|认识$|知道$")
_NP_LEFT = re.compile(
    "(?:^|[，。！？,.!? 、过了吃看听买喝用玩爱去找要叫给懂做在把被对跟和让给到为是]|喜欢|认识|知道|觉得|以为|认为)$"
)
_NP_RIGHT = re.compile("^(?:[，。！？,.!?吗呢吧啊呀了 的是有在会也都不没很就真好怎什多要能可和跟被]|$)")


def _hide(text: str, start: int, end: int, kind: str, rng: random.Random) -> str | None:
    """The text without the phrase, or with a pronoun in its place, where that leaves something natural."""
    left, right = text[:start], text[end:]
    if not left and right[:1] in ("，", ",") or left[-1:] in ("，", "、", ",") and right[:1] in ("", "。", "，", "！"):
        return None  # a form of address
    if not _NP_LEFT.search(left) or not _NP_RIGHT.search(right) or len(left) + len(right) < 2:
        return None
    at_start = not left or left[-1] in "，。！？,.!? 、"
    at_end = not right or right[0] in "，。！？,.!?吗呢吧啊呀了 "
    roll = rng.random()
    if at_start and len(right) >= 2 and roll < 0.6:
        return left + (right[1:] if right[0] == "的" and len(right) > 3 else right)
    if at_end and _BEFORE_OBJECT.search(left) and roll < 0.6:
        return left + right
    if kind == "person":
        pronoun = rng.choice("他他她")
    elif kind == "place":
        pronoun = rng.choice(["那里", "那儿", "这里", "那"])
    else:
        pronoun = rng.choice(["它", "它", "这个", "那个", "这"])
    return left + pronoun + right


def nouns_of(text: str, tagger: Any, empty: Container[str]) -> dict[str, str]:
    """Nouns and names of a Chinese text by part of speech, with adjacent nouns joined: phrase -> kind.

    ``empty`` holds words too general to be meant.
    """
    found: dict[str, str] = {}
    run, kind = "", "thing"
    for word, tag in [*tagger(text), ("", "")]:
        if tag[:1] == "n" and is_cjk(word) and tag not in ("nd",):
            run += word
            kind = {"nr": "person", "ns": "place"}.get(tag, kind if run != word else "thing")
            continue
        if len(run) >= 2 and run not in empty:
            found[run] = kind
        run, kind = "", "thing"
    return found


def without_marks(text: str) -> str:
    """Chinese chat as it is often typed: no punctuation at all."""
    return re.sub(r"[，。！？、；：“”\"《》,.!?;:~…—]", "", text)


def count_origins(examples: Iterable[Example]) -> dict[str, int]:
    """How many examples came from where, for the model card."""
    return dict(sorted(Counter(e.origin for e in examples).items()))
