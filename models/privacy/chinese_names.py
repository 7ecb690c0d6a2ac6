"""Chinese person names: the LAC tagger's finds, filtered and completed by surnames and the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from models.entities.chinese_words import Word, tag_chinese
from models.lexicons import load_lexicon

Span = tuple[int, int]

MIN_CERTAINTY = 0.4
"""A name must be more probable than not to the tagger, whose best path may be unsure of it."""

_HAN = re.compile("[\u3400-\u9fff]")
_NAME = re.compile("[\u3400-\u9fffA-Za-z·•・‧.-]+")
_DOT = "·•・‧-"
_LABEL = re.compile("(?P<name>[\u3400-\u9fff]{2})[：:]")
_NAME_TAGS = frozenset({"PER", "LOC", "nz"})
_VERSUS_AFTER = re.compile(r"\s?(?:vs|VS|Vs)(?![A-Za-z])")
_VERSUS_BEFORE = re.compile(r"(?<![A-Za-z])(?:vs|VS|Vs)\.?\s?$")
_EDGE = re.compile("[^\u3400-\u9fff]")
_DATE = re.compile(
    "[今明昨后前][天晚早日年]|[上下这本]?(?:周|星期|礼拜)[一二三四五六日天末]|[一二三四五六七八九十]+[月号日点]|[上下中]午"
    "|国庆|春节|中秋|元旦|清明|端午|五一|十一"
)
"""A date where a given name would stand: nobody is called 明天来."""
_FUNCTION = frozenset("的了和与及跟在是为有被把将给对向从到也都就还又再要会能可说问住已正请让叫、，。")


class _Lists(Struct, frozen=True):
    surname: re.Pattern[str]
    everyday: frozenset[str]
    before: re.Pattern[str]
    after: re.Pattern[str]
    titles: frozenset[str]
    not_after: re.Pattern[str]
    not_names: frozenset[str]


@lru_cache(maxsize=1)
def _lists() -> _Lists:
    table = load_lexicon("names_zh.toml")
    single = "".join(dict.fromkeys(table["surnames"].replace("\n", "")))

    def any_of(key: str) -> str:
        return "|".join(sorted(table[key].split(), key=lambda word: (-len(word), word)))

    return _Lists(
        surname=re.compile(f"{any_of('compound')}|[{single}]"),
        everyday=frozenset(table["rare_surnames"]),
        before=re.compile(f"(?:{any_of('before')})[A-Z]?(?:名单|姓名)?[是为：:\\s]*(?:\\[|“|「)?$"),
        after=re.compile(any_of("after")),
        titles=frozenset(table["titles"].split()),
        not_after=re.compile(any_of("not_after")),
        not_names=frozenset(table["not_names"].split()),
    )


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    table = load_lexicon("regions.toml")
    return frozenset(f"{table['provinces']} {table['cities']}".split())


def find_chinese_names(view: str) -> Iterator[Span]:
    """Spans of person names in a narrowed, simplified text that holds Chinese."""
    words = tag_chinese(view)
    tagged = [word for word in _joined(words) if _is_name(view, word)]
    taken = [span for word in tagged for span in _split(word)]
    label = _LABEL.match(view)
    if (
        label
        and words[0].text == label["name"]
        and words[0].tag in _NAME_TAGS
        and _lists().surname.match(view)
        and label["name"] not in _regions()
    ):
        taken.append(label.span("name"))
    for start, end in _by_cue(view):
        overlapping = [span for span in taken if span[0] < end and start < span[1]]
        if not overlapping:
            taken.append((start, end))
        elif len(overlapping) == 1 and _completes(view, (start, end), overlapping[0]):
            taken[taken.index(overlapping[0])] = (start, end)
    yield from sorted(set(taken))


def _split(word: Word) -> list[Span]:
    """Two names of two characters that the tagger ran together ("王姝马力"), apart; any other name as it is."""
    surname = _lists().surname
    if len(word.text) == 4:
        first, second = surname.match(word.text), surname.match(word.text, 2)
        if first and second and first.end() == 1 and second.end() == 3:
            return [(word.start, word.start + 2), (word.start + 2, word.end)]
    return [(word.start, word.end)]


def _completes(view: str, cued: Span, tagged: Span) -> bool:
    """Whether a name found by its cues should replace the tagger's shorter one: it begins before, or ends at a mark."""
    at_mark = cued[1] == len(view) or view[cued[1]] in "：:，,。、（( \n"
    return cued[0] < tagged[0] or (cued[0] == tagged[0] and cued[1] > tagged[1] and at_mark)


def _joined(words: tuple[Word, ...]) -> list[Word]:
    """LAC's PER words, with the parts of a foreign name joined over its middle dots."""
    names: list[Word] = []
    for at, word in enumerate(words):
        if word.tag != "PER" or word.p < MIN_CERTAINTY:
            continue
        core = word.text.strip(_DOT + " 、，")
        start = word.start + word.text.find(core) if core else word.start
        end = start + len(core)
        if names and at and start - names[-1].end <= 1 and _dotted(words, at, names[-1].end, start):
            first = names.pop()
            names.append(Word(first.text + "·" + core, "PER", first.start, end))
        elif core:
            names.append(Word(core, "PER", start, end))
    return names


def _dotted(words: tuple[Word, ...], at: int, left: int, right: int) -> bool:
    """Whether a dot stands between two names at most a character apart, of which the second is, or ends, word number `at`."""
    return right > left and any(
        word.start <= left < word.end and any(ch in word.text for ch in _DOT) for word in words[max(0, at - 2) : at + 1]
    )


def _is_name(view: str, word: Word) -> bool:
    """Whether LAC's find is a full name: not a surname with a title, a nickname, a word, or part of a place or firm."""
    lists, text = _lists(), word.text
    if not _NAME.fullmatch(text) or not _HAN.search(text) or len(text) < 2 or text in lists.not_names:
        return False
    surname = lists.surname.match(text)
    if surname and text[surname.end() :] in lists.titles:
        return False
    if text[0] in "小阿老" and len(text) == 2 or text[-1] in "某们":
        return False
    if len(text) == 3 and text[1:] in lists.titles:
        return False
    if not surname and (
        _VERSUS_AFTER.match(view, word.end) or _VERSUS_BEFORE.search(view, max(0, word.start - 4), word.start)
    ):
        return False
    return not lists.not_after.match(view, word.end)


def _by_cue(view: str) -> Iterator[Span]:
    """Names that a role word or a following "'s phone" gives away, where the tagger may have missed them."""
    lists = _lists()
    for match in lists.surname.finditer(view):
        start, given = match.start(), match.end()
        if _DATE.match(view, start):
            continue
        left = _role_before(view, start, lists)
        starts = start == 0 or view[start - 1] in "\n。；，、：:,.;（( "
        if not left and not starts:
            continue
        for length in (2, 1):
            end = given + length
            if end > len(view) or not all(_HAN.match(ch) for ch in view[given:end]):
                continue
            if view[start:end] in lists.not_names or any(ch in _FUNCTION for ch in view[given:end]):
                continue
            right = lists.after.match(view, end) is not None
            edge = end == len(view) or _EDGE.match(view, end) is not None
            if _enough(view, start, end, left, starts, right, edge, lists):
                yield start, end
                break


def _role_before(view: str, start: int, lists: _Lists) -> bool:
    """Whether a role leads up to a name: not one that is somebody's own already ("王总裁都同意")."""
    role = lists.before.search(view, max(0, start - 12), start)
    if role is None or not role.start():
        return role is not None
    return role[0] not in lists.titles or lists.surname.match(view, role.start() - 1) is None


def _enough(view: str, start: int, end: int, left: bool, starts: bool, right: bool, edge: bool, lists: _Lists) -> bool:
    """Whether the cues around a surname and given name suffice: a role word and an edge, or an edge and a "'s phone"."""
    if left:
        return right or edge
    labels = start == 0 and end < len(view) and view[end] in "：:" and end - start == 3
    if labels and view[start : start + 2] in lists.not_names:
        return False
    if view[start] in lists.everyday and not labels:
        return False
    return starts and (right or labels)
