"""Which noun of the same text a Chinese pronoun means: the network's pointer weighed with agreement and position.

A noun gains by the pointer's weight on its words (log scale) and by standing first in its clause; it loses by not agreeing
with the pronoun (它 and persons, 他 and women, 们 and single things), by distance in clauses, by standing in the pronoun's own clause (a verb's
subject is not its object), and by coming after it.
"""

from __future__ import annotations

import math
import re

import numpy as np
import rjieba
from msgspec import Struct

from models.references.candidates import noun_phrases
from models.references.edit_net import Layout
from models.references.mentions import Anaphor, References

_CLAUSE = re.compile('[，。！？；：、,.!?;:“”"]')
_MANY = re.compile(
    "们$|^(?:几|两|二|三|四|五|一些|有些|许多|很多|各|众|群|一群)|(?:群众|百姓|一家|夫妇|姐妹|兄弟|双方|俩)$"
)
DISAGREES, AFTER, CLAUSE_AWAY, FIRST_IN_CLAUSE, PLURAL = 3.0, 2.0, 0.35, 0.7, 1.2
SAME_CLAUSE = 1.5
_OTHER_SEX = {
    "他": "女人$|女孩|姑娘|小姐|女士|太太|妈妈|母亲|奶奶|姐姐|妹妹|阿姨|妻子|女儿|媳妇",
    "她": "男人$|男孩|小伙|先生|爸爸|父亲|爷爷|哥哥|弟弟|叔叔|丈夫|儿子|和尚",
}


class Named(Struct, frozen=True):
    """The chosen noun, its place in the text, and its share of the exponentiated scores of all nouns."""

    start: int
    end: int
    share: float


def choose(anaphor: Anaphor, text: str, layout: Layout, weights: np.ndarray, references: References) -> Named | None:
    """The noun with the best score, or None where the text has no noun beside the pronoun."""
    nouns = [(a, b) for a, b in noun_phrases(text, references) if b <= anaphor.start or anaphor.end <= a]
    if not nouns:
        return None
    scores = np.array([_score(a, b, anaphor, text, layout, weights, references) for a, b in nouns])
    best = int(scores.argmax())
    if nouns[best][0] > anaphor.start:
        return None
    share = np.exp(scores - scores.max())
    return Named(*nouns[best], float(share[best] / share.sum()))


def _score(
    start: int, end: int, anaphor: Anaphor, text: str, layout: Layout, weights: np.ndarray, references: References
) -> float:
    mass = sum(float(weights[i]) for i in layout.positions(-1, start, end))
    score = math.log(mass + 0.01)
    person = is_person(text[start:end], references)
    if anaphor.kind in ("person", "people") and not person or anaphor.kind in ("thing", "things") and person:
        score -= DISAGREES
    if anaphor.kind in ("people", "things"):
        counted = text[max(0, start - 3) : end]
        score += (
            PLURAL
            if _MANY.search(text[start:end]) or re.search("[几两二三四五些群众各]", counted[: start and 3])
            else 0.0
        )
    if start > anaphor.start:
        return score - AFTER
    between = len(_CLAUSE.findall(text[end : anaphor.start]))
    if not between and not text.startswith(("的", "自己"), anaphor.end):
        score -= SAME_CLAUSE
    if re.search(_OTHER_SEX.get(anaphor.text[:1], "(?!)"), text[start:end]):
        score -= DISAGREES
    clause = re.split(_CLAUSE, text[:start])[-1]
    score += FIRST_IN_CLAUSE * (len(clause) <= 2)
    return score - CLAUSE_AWAY * min(between, 6)


def is_person(name: str, references: References) -> bool:
    """Whether a Chinese noun names people: by its ending, or because the dictionary knows it as a person's name."""
    if name.endswith(references.people):
        return not name.endswith(references.no_people)
    return any(tag == "nr" and len(part) > 1 for part, tag in rjieba.tag(name))
