"""Filter 3: an utterance -> segments the size of a memory unit, each with its clauses, entropy and flags (E1-E4).

Clauses (``clauses``) that a mark separates are statements. Each statement has a type, an entropy, and perhaps an authority
word. Neighbouring statements become one segment where nothing is lost by it (``segmenting``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.encoder import Encoded, unit
from models.errors import ResourceError
from models.lexicons import FOLDER, read_toml
from models.prefilter import Prefilter
from models.records import Pause, UnitType
from models.units.boundary_net import BoundaryNet
from models.units.claims import is_small_talk
from models.units.clauses import APART, BoundaryModel, Clause, shipped, shipped_net, split_clauses
from models.units.distillation import shipped_words
from models.units.domain_terms import SHIPPED, TermHit, TermList, read_terms
from models.units.segmenting import Patterns, Statement, group, shipped_joining
from models.units.surprise import (
    AUTHORITY_ENTROPY,
    LEXICON,
    TERM_ENTROPY,
    TERM_MAX_CHARACTERS,
    EntropyTable,
    spreads,
    vector_distances,
    word_distances,
)
from models.units.token_count import count_tokens
from models.units.unit_types import WEIGHTS, Typed, TypeModel, flatten, span_evidence

AUTHORITY = FOLDER / "authority.toml"
LONG_PAUSE_MS = 1000
IDLE, IDLE_TOKENS = 0.65, 16
"""Small talk by the model: a whole sentence, at least so sure, at most so many tokens."""
_SMALL = Typed("fact", 1.0, frozenset())


class ClauseView(Struct, frozen=True):
    """A clause as ``try entropy`` shows it: its span, and the entropy, type and flag of the statement it stands in."""

    start: int
    end: int
    entropy: float
    type: UnitType
    priority_flag: bool = False


class Segment(Struct, frozen=True):
    """A stretch of the utterance that may become one memory unit: ``text[start:end]``.

    `entropy` is the highest of its statements; `chance` how sure the type is; `priority_flag`: it holds an authority word and must stay whole;
    `small_talk`: greeting, thanks or acknowledgement only; `clauses`: its clauses in order; `terms`: domain terms in it.
    """

    start: int
    end: int
    entropy: float
    type: UnitType
    chance: float = 1.0
    priority_flag: bool = False
    small_talk: bool = False
    clauses: tuple[ClauseView, ...] = ()
    terms: tuple[str, ...] = ()


class Lexicons(Struct, frozen=True):
    """What filter 3 looks up; built anew when a word list changes."""

    terms: TermList
    authority: re.Pattern[str]
    backing: re.Pattern[str]
    table: EntropyTable
    types: TypeModel
    net: BoundaryNet | None
    """Reads clause boundaries from token states; None with an encoder it was not trained on."""
    words: tuple[BoundaryModel, BoundaryModel]
    """Read them from words instead: Chinese, English."""
    joining: Patterns
    distilling: Patterns

    @classmethod
    def load(
        cls,
        terms: Path | None = None,
        authority: Path | None = None,
        types: Path | None = None,
        table: Path | None = None,
        *,
        encoder: str = "",
    ) -> Lexicons:
        """Reads the files anew: the shipped lists and weights, or others by path; `encoder` is the name of the encoder in use (empty:
        the one the clause net was trained on). A worker that sees a list change builds another and
        swaps it in; ResourceError names the file that is missing or malformed, and the old one stays in use."""
        words, backing = read_authority(authority or AUTHORITY)
        net = shipped_net()
        return cls(
            read_terms(terms or SHIPPED),
            words,
            backing,
            EntropyTable.load(table or LEXICON),
            TypeModel.load(types or WEIGHTS),
            net if encoder in ("", net.encoder) else None,
            (shipped(chinese=True), shipped(chinese=False)),
            shipped_joining(),
            shipped_words(),
        )


def read_authority(path: Path = AUTHORITY) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The authority words, and what backs another clause with one. Raises ResourceError naming the file."""
    data = read_toml(path)
    words, backing = data.get("words"), data.get("backing")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or not isinstance(backing, str):
        raise ResourceError(f"{path.name}: needs a list `words` and an expression `backing`")
    ordered = sorted({word.strip().lower() for word in words if word.strip()}, key=lambda w: (-len(w), w))
    parts = [rf"(?<![a-z]){re.escape(w)}(?![a-z])" if w.isascii() else re.escape(w) for w in ordered]
    try:
        return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE), re.compile(backing, re.IGNORECASE)
    except re.error as error:
        raise ResourceError(f"{path.name}: backing: {error}") from error


@lru_cache(maxsize=1)
def shipped_lexicons() -> Lexicons:
    """The shipped lists, read once."""
    return Lexicons.load()


def segment(
    text: str,
    encoded: Encoded | None = None,
    *,
    lang: str | None = None,
    pauses: Sequence[Pause] = (),
    lexicons: Lexicons | None = None,
) -> list[Segment]:
    """The segments of an utterance in order, disjoint, together covering all but blanks and the commas between them.

    `encoded` is the encoder's reading of the same text; without it, or where its numbers are not finite, entropy is taken
    from shared character pairs. `lang` is only a hint. Deterministic. Never fails on any text.

    >>> [s.type for s in segment("麻烦补充下错误码说明，另外测试账号权限我们已开通，谢谢！") if not s.small_talk]
    ['action_request', 'status_update']
    """
    if not text.strip():
        return []
    lists = lexicons or shipped_lexicons()
    clauses = split_clauses(text, pauses, encoded, lists.net, lists.words)
    hits = lists.terms.find(text)
    statements = _statements(text, clauses, hits, pauses, encoded, lists)
    return [
        _segment(text, statements[first:last], hits, encoded, lists) for first, last in group(statements, lists.joining)
    ]


def _statements(
    text: str,
    clauses: Sequence[Clause],
    hits: Sequence[TermHit],
    pauses: Sequence[Pause],
    encoded: Encoded | None,
    lists: Lexicons,
) -> list[Statement]:
    spans = statement_spans(text, clauses, lists.joining)
    texts = [text[clauses[a].start : clauses[b - 1].end] for a, b in spans]
    places = [(clauses[a].start, clauses[b - 1].end) for a, b in spans]
    distances = None
    means: list[NDArray[np.float32]] | None = None
    if encoded is not None and len(places) > 1:
        means = [encoded.span_mean(*place) for place in places]
        distances = vector_distances(np.stack([unit(mean) for mean in means]))
    scale = lists.table.words if distances is None else lists.table.vectors
    gaps = word_distances(texts) if distances is None else distances
    found: list[Statement] = []
    around = spreads(gaps, scale)
    idle = [is_small_talk(words) for words in texts]
    for i, ((a, b), (start, end), words) in enumerate(zip(spans, places, texts, strict=True)):
        small = idle[i]
        typed = _SMALL
        if not small:
            mean = None if means is None else means[i]
            typed = lists.types.read(words, _evidence(encoded, start, end, mean))
        alone = not i or clauses[a].opens_sentence or found[-1].small_talk
        alone = alone and (b == len(clauses) or clauses[b].opens_sentence or idle[i + 1])
        small = small or (alone and _is_idle(words, typed))
        authority = not small and _may_command(words, lists) and lists.authority.search(words) is not None
        cues = [*typed.cues, "small_talk"] if small else list(typed.cues)
        entropy = lists.table.entropy(around[i], scale, typed.type, cues)
        if authority:
            entropy = AUTHORITY_ENTROPY
        elif len(words.strip("，。！？,.!? ")) < TERM_MAX_CHARACTERS and any(
            start <= h.start and h.end <= end for h in hits
        ):
            entropy = TERM_ENTROPY
        found.append(
            Statement(
                text=words,
                start=start,
                end=end,
                clauses=tuple(clauses[a:b]),
                entropy=entropy,
                type=typed.type,
                chance=typed.chance,
                cues=typed.cues,
                small_talk=small,
                priority=authority,
                backing=authority and bool(lists.backing.search(words)),
                opens_sentence=clauses[a].opens_sentence,
                after_pause=any(p.ms >= LONG_PAUSE_MS and start - 1 <= p.at <= start + 1 for p in pauses),
            )
        )
    return found


@lru_cache(maxsize=4)
def _authority_gate(source: str, flags: int) -> Prefilter:
    return Prefilter([re.compile(source, flags)])


def _may_command(words: str, lists: Lexicons) -> bool:
    """Whether a text can hold an authority word at all."""
    return len(_authority_gate(lists.authority.pattern, lists.authority.flags).possible(words)) > 0


_SOFT_MARKS = frozenset("，,、；;：: \t")
_JOINING_MARKS = frozenset("、：:（）()[]【】<>《》“”‘’\"'「」『』/-—–·~*#&+=")


def statement_spans(text: str, clauses: Sequence[Clause], joining: Patterns | None = None) -> list[tuple[int, int]]:
    """Statements: runs ``(first, last)`` of clauses that no separating mark parts; "2." belongs to what it numbers.

    Speech has no marks: there a clause that begins with words of a new topic ("另外 …", "by the way …") parts them.
    """
    if not clauses:
        return []
    turns_away = (joining or shipped_joining())["new_topic"]
    starts = [0]
    for i in range(1, len(clauses)):
        marked = any(mark not in _JOINING_MARKS for mark in clauses[i].gap)
        together = not marked and (clauses[i].gap or clauses[i].apart <= APART)
        if together and not turns_away.search(flatten(text[clauses[i].start : clauses[i].end])):
            continue
        if any(ch.isalpha() for ch in text[clauses[starts[-1]].start : clauses[i - 1].end]):
            starts.append(i)
    return list(zip(starts, [*starts[1:], len(clauses)], strict=True))


def _evidence(
    encoded: Encoded | None, start: int, end: int, mean: NDArray[np.float32] | None = None
) -> NDArray[np.float32] | None:
    """The `span_evidence` of a span, whose mean state may be at hand."""
    return None if encoded is None else span_evidence(encoded, start, end, mean)


def _is_idle(words: str, typed: Typed) -> bool:
    """Whether the model is sure that a short statement without a number or identifier is mere small talk."""
    if typed.idle < IDLE or any(ch.isdigit() for ch in words):
        return False
    return count_tokens(words) <= IDLE_TOKENS


def _segment(
    text: str, statements: Sequence[Statement], hits: Sequence[TermHit], encoded: Encoded | None, lists: Lexicons
) -> Segment:
    start, end = statements[0].start, statements[-1].end
    while end - start > 1 and text[end - 1] in _SOFT_MARKS:
        end -= 1
    views = tuple(
        ClauseView(clause.start, clause.end, statement.entropy, statement.type, statement.priority)
        for statement in statements
        for clause in statement.clauses
    )
    lead = max(statements, key=lambda s: (s.priority, s.entropy * s.chance, -s.start))
    kind, chance = lead.type, lead.chance
    if len(statements) > 1 and not lead.small_talk:
        whole = lists.types.read(text[start:end], _evidence(encoded, start, end))
        if whole.type in {s.type for s in statements}:
            kind, chance = whole.type, whole.chance
    return Segment(
        start=start,
        end=end,
        entropy=AUTHORITY_ENTROPY if lead.priority else max(s.entropy for s in statements),
        type=kind,
        chance=chance,
        priority_flag=any(s.priority for s in statements),
        small_talk=all(s.small_talk for s in statements),
        clauses=views,
        terms=tuple(dict.fromkeys(h.term for h in hits if start <= h.start and h.end <= end)),
    )
