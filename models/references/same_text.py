"""Which noun of the same text a Chinese pronoun means: the network's pointer weighed with agreement and position.

Each noun has a score that is linear in what `features` sees; the weights were fitted on texts that the network had not learned
(`models.train.coreference_nouns`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import rjieba
from msgspec import Struct

from models.references.candidates import noun_phrases
from models.references.edit_net import Layout
from models.references.mentions import Anaphor, References
from models.wording import is_cjk

_CLAUSE = re.compile('[，。！？；：、,.!?;:“”"]')
_MANY = re.compile(
    "们$|^(?:几|两|二|三|四|五|一些|有些|许多|很多|各|众|群|一群)|(?:群众|百姓|一家|夫妇|夫妻|姐妹|兄弟|兄妹|父子|母女|双方|俩|大家|人群)$"
)
_COUNTED = re.compile("[几两二三四五六七八九十些群众各]")
_AND = frozenset({"和", "与", "跟", "及", "、", "同"})
_OTHER_SEX = {
    "他": "女人$|女孩|姑娘|小姐|女士|太太|妈妈|母亲|奶奶|姐姐|妹妹|阿姨|妻子|女儿|媳妇|女$|妇$|婆$|嫂$|娘$|姨$|姑$",
    "她": "男人$|男孩|小伙|先生|爸爸|父亲|爷爷|哥哥|弟弟|叔叔|丈夫|儿子|和尚|汉$|叔$|伯$|爷$|舅$",
}
HEAVY = 0.08
"""A word with this much of the pointer's weight is a candidate even where no noun was found."""

NAMES = (
    "pointer",
    "disagrees",
    "plural",
    "number",
    "after",
    "same_clause",
    "other_sex",
    "first",
    "clauses",
    "owner",
    "made",
)
WEIGHTS = (0.13, -2.02, 1.3, -0.95, -2.24, -1.57, -3.04, 0.33, -0.23, 0.01, -0.42)
"""What each feature adds to a noun's score."""


class Named(Struct, frozen=True):
    """The chosen noun, its place in the text, and its share of the exponentiated scores of all nouns."""

    start: int
    end: int
    share: float


def choose(anaphor: Anaphor, text: str, layout: Layout, weights: np.ndarray, references: References) -> Named | None:
    """The noun with the best score, or None where the text has no noun beside the pronoun."""
    nouns = candidates(anaphor, text, layout, weights, references)
    if not nouns:
        return None
    rows = np.array([features(a, b, anaphor, text, layout, weights, references) for a, b in nouns])
    scores = rows @ np.array(WEIGHTS)
    best = int(scores.argmax())
    if nouns[best][0] > anaphor.start:
        return None
    share = np.exp(scores - scores.max())
    return Named(*nouns[best], float(share[best] / share.sum()))


def candidates(
    anaphor: Anaphor, text: str, layout: Layout, weights: np.ndarray, references: References
) -> list[tuple[int, int]]:
    """Nouns of the text but the pronoun; for plural pronouns also two joined by "and"; and words that the pointer means."""
    nouns = [(a, b) for a, b in noun_phrases(text, references) if b <= anaphor.start or anaphor.end <= a]
    for place, word in enumerate(layout.words, start=1):
        outside = not any(a < word.end and word.start < b for a, b in nouns)
        named = is_cjk(word.text) and not layout.classes[place] and not anaphor.start <= word.start < anaphor.end
        if outside and named and weights[place] >= HEAVY:
            nouns.append((word.start, word.end))
    nouns.sort()
    if anaphor.kind in ("people", "things"):
        pairs = zip(nouns, nouns[1:], strict=False)
        nouns += [(a[0], b[1]) for a, b in pairs if text[a[1] : b[0]] in _AND]
    return nouns


def features(
    start: int, end: int, anaphor: Anaphor, text: str, layout: Layout, weights: np.ndarray, references: References
) -> Sequence[float]:
    """What is seen of the noun ``start..end``, in the order of ``NAMES``."""
    noun = text[start:end]
    mass = sum(float(weights[i]) for i in layout.positions(-1, start, end))
    person = is_person(noun, references)
    people, many = anaphor.kind in ("person", "people"), anaphor.kind in ("people", "things")
    before = text[max(0, start - 3) : start]
    counted = bool(_MANY.search(noun) or _COUNTED.search(before) or any(mark in noun for mark in _AND))
    after = start > anaphor.start
    between = 0 if after else len(_CLAUSE.findall(text[end : anaphor.start]))
    clause = re.split(_CLAUSE, text[:start])[-1]
    return (
        math.log(mass + 0.01),
        people != person,
        many and counted,
        not many and counted,
        after,
        not after and not between and not text.startswith(("的", "自己"), anaphor.end),
        re.search(_OTHER_SEX.get(anaphor.text[:1], "(?!)"), noun) is not None,
        not after and len(clause) <= 2,
        min(between, 6),
        text.startswith("的", end),
        (start, end) not in noun_phrases(text, references),
    )


def is_person(name: str, references: References) -> bool:
    """Whether a Chinese noun names people: by its ending, or because the dictionary knows it as a person's name."""
    if name.endswith(references.people):
        return not name.endswith(references.no_people)
    return any(tag == "nr" and len(part) > 1 for part, tag in rjieba.tag(name))
