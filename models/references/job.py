"""One utterance being resolved: the network's proposals weighed against the rules, and the changes that follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.records import Mention
from models.references.candidates import Candidate, described, kind_of
from models.references.case import Change, ReferenceCase
from models.references.mentions import Anaphor
from models.references.phrasing import Site
from models.references.proposals import Proposals, Thresholds
from models.references.referents import (
    by_head,
    by_kind,
    by_number,
    by_order,
    by_verb,
    may_mean,
    of_many,
    of_other_sex,
    of_two_ids,
    with_id,
)  # fmt: skip
from models.references.same_text import choose
from models.wording import fold, has_cjk, is_cjk

MAX_ANAPHORS = 16
"""Most referring expressions of one utterance that are looked at."""

WHOLE_CHINESE, WHOLE = 12, 16
"""Words above which an utterance without a referring expression is taken as complete: few that long leave something out."""

THEN = 0.5
"""How sure the network must be of replacing a 那 that may only mean "then"."""

SAME_TEXT = 0.5
"""How much of the pointer's weight must lie on the utterance itself for a Chinese pronoun to mean a noun of it."""

CAPITAL = 2
"""Shape of a word with a capital."""

_JOINS = frozenset({"and", "or", "和", "与", "、", ",", "，"})


class ReferenceJob:
    """Works out the changes and mentions of one utterance. Used once."""

    def __init__(self, case: ReferenceCase, limits: Thresholds) -> None:
        self.case, self.limits = case, limits
        self.text, self.words, self.layout = case.text, case.words, case.layout
        self.references, self.context = case.references, case.context
        self.proposals = Proposals(case, limits)

    def run(self) -> tuple[list[Change], list[Mention]]:
        """Changes to make, and mentions that change nothing."""
        anaphors = self.references.anaphors(self.text, self.words)[:MAX_ANAPHORS]
        taken: set[int] = set()
        mentions = self._questioned(taken)
        questioned = bool(mentions)
        if not anaphors and (not self.context or self.references.is_stock(self.words) or self._is_whole()):
            return [], mentions
        changes: list[Change] = []
        named: dict[str, str] = {}
        sites = self.proposals.sites()
        for anaphor in anaphors:
            spot = set(range(anaphor.first, anaphor.last))
            empty = self._is_empty(anaphor, sites)
            if not spot & taken and not empty:
                done = self._anaphor(anaphor, sites)
                done = [c for c in done if not isinstance(c, Change) or self._differs(c, anaphor, named)]
                changes += [c for c in done if isinstance(c, Change)]
                mentions += [m for m in done if isinstance(m, Mention)]
            taken |= spot
        taken |= {i for i, w in enumerate(self.words) if w.key in ("this", "that")}  # conjunctions, and "who is this?"
        filled = False
        for site in sorted(sites, key=lambda s: -s.probability):
            spot = set(range(site.first, site.last))
            between = site.first == site.last and bool({site.first - 1, site.first} & taken)
            if between or spot & taken or site.first < site.last and not self.proposals.may_replace(site):
                continue
            gap = site.first == site.last
            change = None if questioned and gap else self.proposals.change(site)
            if change is None or gap and filled and change.mention.confidence < self.limits.again:
                continue
            if not self._said_already(change, changes):
                changes.append(change)
                filled = filled or gap
                taken |= spot
        return changes, mentions

    def _is_empty(self, anaphor: Anaphor, sites: Sequence[Site]) -> bool:
        """Whether an expression of a referring form refers to nothing that was said."""
        first = anaphor.first
        if self.references.pleonastic(self.words, first) or self.references.presents(self.text, self.words, first):
            return True
        return self._is_then(anaphor, sites)

    def _is_then(self, anaphor: Anaphor, sites: Sequence[Site]) -> bool:
        """Whether 那 opens a clause and only means "then": by its place, unless the network would surely replace it."""
        surely = any(s.first == anaphor.first < s.last and s.probability >= THEN for s in sites)
        return not surely and self.references.then(self.words, anaphor.first)

    def _is_whole(self) -> bool:
        """Whether an utterance that points at nothing is long or seems to lack nothing: the network need not look at it."""
        return self.is_long() or not self.case.net.gate.opens(self.layout)

    def is_long(self) -> bool:
        """Whether an utterance has more words than those that leave something out."""
        return len(self.words) > (WHOLE_CHINESE if has_cjk(self.text[:200]) else WHOLE)

    def _questioned(self, taken: set[int]) -> list[Mention]:
        """Subjects of a question about asking or confirming: no entity, and a person should look."""
        mentions = []
        for first, last in self.references.questioners(self.text, self.words):
            start, end = self.words[first].start, self.words[last - 1].end
            taken |= set(range(first, last))
            mentions.append(
                Mention(
                    text=self.text[start:end], start=start, end=end, core_referent="questioner", context_window=self.text[:200],
                    confidence=0.0, method="question_rule", needs_human_review=True,
                )
            )  # fmt: skip
        return mentions

    def _differs(self, change: Change, anaphor: Anaphor, named: dict[str, str]) -> bool:
        """Whether an antecedent is not already that of a pronoun of another kind ("give it to her")."""
        kind = "person" if anaphor.kind in ("person", "people") else "thing"
        return named.setdefault(fold(change.mention.resolved_entity or ""), kind) == kind

    def _said_already(self, change: Change, changes: Sequence[Change]) -> bool:
        """Whether the clause already names what would be inserted ("its address": not "… of the hotel" as well)."""
        for other in changes:
            between = self.text[min(other.end, change.start) : max(other.start, change.end)]
            same = fold(other.mention.resolved_entity or "") == fold(change.mention.resolved_entity or "")
            if same and not any(mark in between for mark in "。！？.!?；;"):
                return True
        return False

    def _anaphor(self, anaphor: Anaphor, sites: Sequence[Site]) -> list[Change | Mention]:
        if anaphor.kind in ("former", "latter"):
            other = by_order(anaphor.kind, self.case.found, len(self.context))
            return [self.case.named(anaphor, other, 0.75, "order_of_mention")] if other else []
        if anaphor.kind == "description":
            fits = described(anaphor.text, anaphor.head, self.case.found)
            if fits:
                return [self.case.named(anaphor, fits, 0.8, "description")]
        change = self._proposed(anaphor, sites)
        if anaphor.kind == "description":
            same = by_head(anaphor, self.case.found, self.references)
            return [self.case.named(anaphor, same, 0.7, "same_head")] if same else [change] if change else []
        wanted = by_verb(anaphor, self.words, self.case.found, self.references)
        if change is None:
            if wanted:
                return [self.case.named(anaphor, wanted, 0.6, "kind_of_verb")]
            several = by_number(self.case.found, [t.text for t in self.context]) if anaphor.kind == "people" else None
            if several:
                return [self.case.named(anaphor, several, 0.6, "number")]
            pointed = self._pointed(anaphor)
            only = by_kind(anaphor.kind, self.case.found)
            if only and (pointed is None or isinstance(pointed, Mention) and pointed.resolved_entity is None):
                return [self.case.named(anaphor, only, 0.55, "kind")]
            return [pointed] if pointed else []
        if anaphor.kind == "place":
            place = by_kind("place", self.case.found)
            if place and kind_of(change.mention.resolved_entity or "", self.references) not in ("facility", None):
                return [self.case.named(anaphor, place, change.mention.confidence, "kind")]
        if anaphor.kind == "people":
            several = by_number(self.case.found, [t.text for t in self.context])
            name = change.mention.resolved_entity or ""
            if several and (fold(name) in fold(several.text) or kind_of(name, self.references) != "person"):
                return [self.case.named(anaphor, several, change.mention.confidence, "number")]
        sure, name = change.mention.confidence, change.mention.resolved_entity or ""
        if wanted and kind_of(name, self.references) not in (None, wanted.kind):
            return [self.case.named(anaphor, wanted, min(0.7, sure), "kind_of_verb")]
        strong = with_id(name, self.case.found, self.references)
        done = self.case.named(anaphor, strong, sure, "network_id") if strong else change
        return [self._turned(done, anaphor)]

    def _proposed(self, anaphor: Anaphor, sites: Sequence[Site]) -> Change | None:
        """The network's change over a referring expression, unless it contradicts what the expression can mean."""
        for site in sites:
            if site.first < site.last and site.first < anaphor.last and anaphor.first < site.last:
                if anaphor.kind == "description" and site.last < anaphor.last and is_cjk(anaphor.text):
                    return None  # "这个" alone replaced in "这个订单"
                change = self.proposals.change(site, anaphor)
                if change is None:
                    return None
                meant = Candidate(change.mention.resolved_entity or "", *self.case.source_of(change.mention))
                return change if self._allowed(anaphor, meant) else None
        return None

    def _allowed(self, anaphor: Anaphor, meant: Candidate) -> bool:
        """Whether an antecedent agrees with the pronoun and has no rival with another id."""
        rival = of_two_ids(meant.turn, meant.start, meant.end, self.case.found)
        single = anaphor.kind == "thing" and of_many(meant.text, meant.turn, self.case.found, self.references)
        return not (rival or single) and may_mean(anaphor, meant.text, self.references)

    def _turned(self, change: Change, anaphor: Anaphor) -> Change:
        """ "Their phone number" as "the phone number of …": names of things are long, and so nothing hangs on them."""
        if anaphor.text.casefold() not in ("its", "their") or not (change.mention.resolved_entity or "").isascii():
            return change
        last = anaphor.last
        while (
            last < len(self.words) and self.words[last].text[0].isalnum() and not self._ends_noun(self.words[last].key)
        ):
            last += 1
        if last == anaphor.last:
            return change
        name = change.text.removesuffix("'s")
        noun = self.text[anaphor.end : self.words[last - 1].end]
        the = "The" if anaphor.text[0].isupper() else "the"
        return Change(anaphor.start, anaphor.end + len(noun), f"{the}{noun} of {name}", change.mention)

    def _ends_noun(self, key: str) -> bool:
        return key != "and" and key in self.references.no_nouns

    def _pointed(self, anaphor: Anaphor) -> Change | Mention | None:
        """Where the text itself names what a pronoun means, a mention that changes nothing; else one without an entity."""
        if anaphor.kind not in ("person", "people", "thing", "things"):
            return None
        weights = self.case.reading.pointer(anaphor.first, anaphor.last)
        own = float(weights[1 : len(self.words) + 1].sum())
        if is_cjk(anaphor.text) and (not self.context or own > SAME_TEXT):
            noun = choose(anaphor, self.text, self.layout, weights, self.references)
            if noun is None:
                return self.case.unresolved(anaphor, 0.0)
            source = (-1, noun.start, noun.end)
            name = self.text[noun.start : noun.end]
            return self.case.mention(
                anaphor.start, anaphor.end, anaphor.head, name, source, noun.share, "agreement_same_text"
            )
        weights = self._agreeing(anaphor, weights)
        best = self._heaviest(weights)
        turn = self.layout.places[best][0]
        if turn == -2 or weights[-1] > self.limits.point:
            return self.case.unresolved(anaphor, float(1 - weights[-1]))
        first, last = self._around(best, weights)
        keys = set(self.layout.keys[first : last + 1])
        sure = float(sum(w for w, k in zip(weights[:-1], self.layout.keys, strict=True) if k in keys))
        if turn >= 0:
            at = self.layout.places[best]
            near = [c for c in self.case.found if c.turn == turn and c.start <= at[1] and at[2] <= c.end]
            if (
                near
                and anaphor.kind in ("person", "people")
                and sure >= self.limits.pointed
                and self._allowed(anaphor, near[0])
            ):
                return self.case.named(anaphor, near[0], sure, "network_pointer")
            return self.case.unresolved(anaphor, min(sure, 0.49))
        start, end = self.layout.places[first][1], self.layout.places[last][2]
        name, source = self.text[start:end], (-1, start, end)
        return self.case.mention(
            anaphor.start, anaphor.end, anaphor.head, name, source, min(sure, 1.0), "network_same_text"
        )

    def _agreeing(self, anaphor: Anaphor, weights: np.ndarray) -> np.ndarray:
        """The pointer's weights without those on names of the other sex, and what follows such a name in capitals."""
        agreeing, other = weights.copy(), False
        for i, (shape, word) in enumerate(zip(self.layout.shapes, self.layout.keys, strict=True)):
            other = shape == CAPITAL and (other or of_other_sex(anaphor.text, word, self.references))
            if other:
                agreeing[i] = 0.0
        return agreeing

    def _heaviest(self, weights: np.ndarray) -> int:
        """Position of the word with the most weight over all its occurrences, where it is heaviest."""
        total: dict[str, float] = {}
        for key, w in zip(self.layout.keys, weights, strict=False):
            total[key] = total.get(key, 0.0) + float(w)
        key = max(total, key=lambda k: total[k])
        return max((i for i, k in enumerate(self.layout.keys) if k == key), key=lambda i: float(weights[i]))

    def _around(self, best: int, weights: np.ndarray) -> tuple[int, int]:
        """First and last position of the name around the heaviest word: heavy neighbours, and capitals beside a capital."""
        places, shapes = self.layout.places, self.layout.shapes

        def belongs(i: int) -> bool:
            return (
                places[i][0] == places[best][0]
                and self.layout.keys[i] not in _JOINS
                and bool(weights[i] > 0.25 * weights[best] or shapes[best] in (2, 3) and shapes[i] in (2, 3))
            )

        first = last = best
        while belongs(first - 1):
            first -= 1
        while last + 1 < len(places) and belongs(last + 1):
            last += 1
        return first, last
