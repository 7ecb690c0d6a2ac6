"""One utterance being resolved: the network's proposals weighed against the rules, and the changes that follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from models.candidates import UNNAMED, Candidate, candidates, described, kind_of
from models.context import Turn
from models.edit_net import lay_out
from models.guards import is_name, is_rival
from models.mentions import Anaphor, References
from models.phrasing import Site, insertion, run_of, without_edges, without_repeats, write_phrase
from models.records import Entity, Mention, Speaker
from models.reference_net import Reading, ReferenceNet
from models.referents import by_head, by_number, by_order, by_verb, may_mean, of_two_ids, with_id
from models.same_text import choose
from models.wording import fold, is_cjk

MAX_ANAPHORS = 16
"""Most referring expressions of one utterance that are looked at."""

LEAST = 0.15
"""Sites below this probability are not looked at."""

_POSSESSIVE = ("its", "his", "her", "their")
_JOINS = frozenset({"and", "or", "和", "与", "、", ",", "，"})
_FREE = ("the", "another", "both", "either", "any", "else", "which")


class Thresholds(Struct, frozen=True):
    """How sure a change must be (probability of the site times that of the phrase); below, the text stays as it is.

    ``named`` holds for insertions into an utterance with a Chinese noun of the context; ``pointed``: for a pronoun that only the
    pointer explains; ``point``: how probable "none of these words" may be for a pronoun that the text itself still explains.
    """

    replace: float = 0.35
    insert: float = 0.35
    named: float = 0.75
    point: float = 0.85
    pointed: float = 0.6


class Change(Struct):
    """Characters ``start..end`` of the utterance become ``text``; and the mention that says why."""

    start: int
    end: int
    text: str
    mention: Mention


class ReferenceJob:
    """Works out the changes and mentions of one utterance. Used once."""

    def __init__(
        self, net: ReferenceNet, references: References, limits: Thresholds, text: str, speaker: Speaker,
        context: Sequence[Turn], event_id: str, entities: Sequence[Entity] = (),
    ) -> None:  # fmt: skip
        self.net, self.references, self.limits = net, references, limits
        self.text, self.event_id, self.context = text, event_id, context
        self.own = [e for e in entities if e.type not in UNNAMED and is_cjk(e.text)]
        turns = [{"speaker": _speaks(t, speaker), "text": t.text} for t in context]
        self.layout = lay_out(text, "same", turns, references.reach(text))
        self.words = self.layout.words
        self._same = [t["speaker"] == "same" for t in turns]
        self._reading: Reading | None = None
        self._shares: bool | None = None
        self._found: list[Candidate] | None = None

    @property
    def reading(self) -> Reading:
        """The network's reading, made when first needed."""
        if self._reading is None:
            self._reading = self.net.read(self.layout)
        return self._reading

    @property
    def found(self) -> list[Candidate]:
        """Candidates within the window, newest turn first."""
        if self._found is None:
            starts: dict[int, int] = {}
            for turn, start, _ in self.layout.places:
                if turn >= 0:
                    starts[turn] = min(start, starts.get(turn, start))
            first = min(starts, default=len(self.context))
            self._found = [
                c for c in candidates(self.context, first, self.references) if c.start >= starts.get(c.turn, 0)
            ]
        return self._found

    def run(self) -> tuple[list[Change], list[Mention]]:
        """Changes to make, and mentions that change nothing."""
        anaphors = self.references.anaphors(self.text, self.words)[:MAX_ANAPHORS]
        taken: set[int] = set()
        mentions = self._questioned(taken)
        if not anaphors and (not self.context or self.references.is_stock(self.words)):
            return [], mentions
        changes: list[Change] = []
        named: dict[str, str] = {}
        proposals = self._proposals() if self.context else []
        for anaphor in anaphors:
            spot = set(range(anaphor.first, anaphor.last))
            empty = self.references.pleonastic(self.words, anaphor.first) or self.references.then(
                self.words, anaphor.first
            )
            if not spot & taken and not empty:
                done = self._anaphor(anaphor, proposals)
                done = [c for c in done if not isinstance(c, Change) or self._differs(c, anaphor, named)]
                changes += [c for c in done if isinstance(c, Change)]
                mentions += [m for m in done if isinstance(m, Mention)]
            taken |= spot
        for site in proposals:
            spot = set(range(site.first, site.last))
            between = site.first == site.last and {site.first - 1, site.first} <= taken
            if between or spot & taken or site.first < site.last and not self._may_replace(site):
                continue
            change = self._copied(site)
            if change and not self._said_already(change, changes):
                changes.append(change)
                taken |= spot
        return changes, mentions

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

    # ------------------------------------------------------------------ from the network

    def _proposals(self) -> list[Site]:
        """Sites that the network would change, with how sure it is, in order."""
        tags, gaps = self.reading.replaced(), self.reading.missing()
        sites: list[Site] = []
        i = 0
        while i < len(self.words):
            if tags[i, 1] < LEAST:
                i += 1
                continue
            last = i + 1
            while last < len(self.words) and tags[last, 2] > 0.5:
                last += 1
            sites.append(Site(i, last, float(tags[i, 1])))
            i = last
        sites += [Site(i, i, float(p)) for i, p in enumerate(gaps) if p >= LEAST]
        return sorted(sites, key=lambda s: (s.first, s.last))

    def _may_replace(self, site: Site) -> bool:
        """Only words that refer are replaced, never the speakers and never a plain noun ("环境" stays "环境")."""
        keys = [w.key for w in self.words[site.first : site.last]]
        kinds = [self.references.kind_of.get(k) for k in keys]
        if "first" in kinds or "second" in kinds:
            return False
        return any(kinds) or keys[0] in _FREE

    def _copied(self, site: Site, over: Anaphor | None = None) -> Change | None:
        """The change that the network's phrase makes at a site, if it is sure enough and copies from the context."""
        phrase = self.reading.phrase(site.first, site.last)
        gap = site.first == site.last
        path = without_repeats(self._trimmed(phrase.path, gap, over), self.layout, self.words, site)
        run = run_of(path, self.layout)
        sure = site.probability * phrase.probability
        if run is None or run.turn < 0 or sure < (self._insert_limit() if gap else self.limits.replace):
            return None
        name = self.context[run.turn].text[run.start : run.end]
        if not is_name(name, self.references.stock) or gap and is_rival(name, self.words):
            return None
        written = write_phrase(path, self.layout, self.context, self._same[run.turn])
        place = Site(over.first, over.last, 1.0) if over and over.kind == "demonstrative" else site
        start, end, new = insertion(self.text, self.words, place, written)
        said = self.text[start:end]
        if not written or fold(new.strip()) == fold(said):
            return None
        head = over.head if over else said or name
        source = (run.turn, run.start, run.end)
        method = "network_ellipsis" if gap else "network"
        return Change(start, end, new, self._mention(start, end, head, name, source, sure, method))

    def _differs(self, change: Change, anaphor: Anaphor, named: dict[str, str]) -> bool:
        """Whether an antecedent is not already that of a pronoun of another kind ("give it to her")."""
        kind = "person" if anaphor.kind in ("person", "people") else "thing"
        return named.setdefault(fold(change.mention.resolved_entity or ""), kind) == kind

    def _trimmed(self, path: Sequence[int], gap: bool, over: Anaphor | None) -> list[int]:
        """A phrase without question words at its ends and, in a pronoun's place, without words that are no name."""
        first, last, asked = self.references.edges
        if gap or over is not None and over.kind == "place":
            return without_edges(path, self.layout, asked, asked)
        return without_edges(path, self.layout, first | asked, last | asked)

    def _insert_limit(self) -> float:
        """The threshold of an insertion: higher where the utterance itself names what the context speaks of."""
        if self._shares is None:
            self._shares = bool(self.own) or any(
                self.layout.matches[i + 1] and len(w.text) > 1 and is_cjk(w.text) and not self.layout.classes[i + 1]
                for i, w in enumerate(self.words)
            )
        return self.limits.named if self._shares else self.limits.insert

    def _said_already(self, change: Change, changes: Sequence[Change]) -> bool:
        """Whether the clause already names what would be inserted ("its address": not "… of the hotel" as well)."""
        for other in changes:
            between = self.text[min(other.end, change.start) : max(other.start, change.end)]
            same = fold(other.mention.resolved_entity or "") == fold(change.mention.resolved_entity or "")
            if same and not any(mark in between for mark in "。！？.!?；;"):
                return True
        return False

    # ------------------------------------------------------------------ one referring expression

    def _anaphor(self, anaphor: Anaphor, proposals: Sequence[Site]) -> list[Change | Mention]:
        if anaphor.kind in ("former", "latter"):
            other = by_order(anaphor.kind, self.found, len(self.context))
            return [self._named(anaphor, other, 0.75, "order_of_mention")] if other else []
        if anaphor.kind == "description":
            fits = described(anaphor.text, anaphor.head, self.found)
            if fits:
                return [self._named(anaphor, fits, 0.8, "description")]
        change = self._proposed(anaphor, proposals)
        if anaphor.kind == "description":
            same = by_head(anaphor, self.found, self.references)
            return [self._named(anaphor, same, 0.7, "same_head")] if same else [change] if change else []
        wanted = by_verb(anaphor, self.words, self.found, self.references)
        if change is None:
            if wanted:
                return [self._named(anaphor, wanted, 0.6, "kind_of_verb")]
            several = by_number(self.found, [t.text for t in self.context]) if anaphor.kind == "people" else None
            if several:
                return [self._named(anaphor, several, 0.6, "number")]
            pointed = self._pointed(anaphor)
            return [pointed] if pointed else []
        if anaphor.kind == "people":
            several = by_number(self.found, [t.text for t in self.context])
            if several and fold(change.mention.resolved_entity or "") in fold(several.text):
                return [self._named(anaphor, several, change.mention.confidence, "number")]
        sure, name = change.mention.confidence, change.mention.resolved_entity or ""
        if wanted and kind_of(name, self.references) not in (None, wanted.kind):
            return [self._named(anaphor, wanted, min(0.7, sure), "kind_of_verb")]
        strong = with_id(name, self.found, self.references)
        done = self._named(anaphor, strong, sure, "network_id") if strong else change
        return [self._turned(done, anaphor)]

    def _proposed(self, anaphor: Anaphor, proposals: Sequence[Site]) -> Change | None:
        """The network's change over a referring expression, unless it contradicts what the expression can mean."""
        for site in proposals:
            if site.first < site.last and site.first < anaphor.last and anaphor.first < site.last:
                if anaphor.kind == "description" and site.last < anaphor.last and is_cjk(anaphor.text):
                    return None  # "这个" alone replaced in "这个订单"
                change = self._copied(site, anaphor)
                if change is None:
                    return None
                m = change.mention
                start, end = m.antecedent_span or (0, 0)
                meant = Candidate(m.resolved_entity or "", self._turn_of(m), start, end)
                return change if self._allowed(anaphor, meant) else None
        return None

    def _allowed(self, anaphor: Anaphor, meant: Candidate) -> bool:
        """Whether an antecedent agrees with the pronoun and has no rival with another id."""
        rival = of_two_ids(meant.turn, meant.start, meant.end, self.found)
        return not rival and may_mean(anaphor.kind, meant.text, self.references)

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

    def _named(self, anaphor: Anaphor, c: Candidate, sure: float, method: str) -> Change:
        """Writes a candidate's own name in place of a referring expression."""
        new = c.text + ("'s" if anaphor.text.casefold() in _POSSESSIVE and c.text.isascii() else "")
        new += "的" if anaphor.text == "其" else ""
        source = (c.turn, c.start, c.end)
        mention = self._mention(anaphor.start, anaphor.end, anaphor.head, c.text, source, sure, method)
        return Change(anaphor.start, anaphor.end, new, mention)

    def _pointed(self, anaphor: Anaphor) -> Change | Mention | None:
        """Where the text itself names what a pronoun means, a mention that changes nothing; else one without an entity."""
        if anaphor.kind not in ("person", "people", "thing", "things"):
            return None
        weights = self.reading.pointer(anaphor.first, anaphor.last)
        if is_cjk(anaphor.text) and not self.context:
            noun = choose(anaphor, self.text, self.layout, weights, self.references)
            if noun is None:
                return self._unresolved(anaphor, 0.0)
            source = (-1, noun.start, noun.end)
            name = self.text[noun.start : noun.end]
            return self._mention(
                anaphor.start, anaphor.end, anaphor.head, name, source, noun.share, "agreement_same_text"
            )
        best = self._heaviest(weights)
        turn = self.layout.places[best][0]
        if turn == -2 or weights[-1] > self.limits.point:
            return self._unresolved(anaphor, float(1 - weights[-1]))
        first, last = self._around(best, weights)
        keys = set(self.layout.keys[first : last + 1])
        sure = float(sum(w for w, k in zip(weights[:-1], self.layout.keys, strict=True) if k in keys))
        if turn >= 0:
            at = self.layout.places[best]
            near = [c for c in self.found if c.turn == turn and c.start <= at[1] and at[2] <= c.end]
            if near and sure >= self.limits.pointed and self._allowed(anaphor, near[0]):
                return self._named(anaphor, near[0], sure, "network_pointer")
            return self._unresolved(anaphor, min(sure, 0.49))
        start, end = self.layout.places[first][1], self.layout.places[last][2]
        name, source = self.text[start:end], (-1, start, end)
        return self._mention(
            anaphor.start, anaphor.end, anaphor.head, name, source, min(sure, 1.0), "network_same_text"
        )

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

    # ------------------------------------------------------------------ mentions

    def _unresolved(self, anaphor: Anaphor, sure: float) -> Mention:
        return Mention(
            text=anaphor.text, start=anaphor.start, end=anaphor.end, core_referent=anaphor.head,
            confidence=round(max(0.0, min(1.0, sure)), 4), method="unresolved",
        )  # fmt: skip

    def _mention(
        self, start: int, end: int, head: str, name: str, source: tuple[int, int, int], sure: float, method: str
    ) -> Mention:
        turn, a, b = source
        text = self.text if turn < 0 else self.context[turn].text
        event = self.event_id if turn < 0 else self._event(turn)
        return Mention(
            text=self.text[start:end], start=start, end=end, core_referent=head or name, resolved_entity=name,
            antecedent_span=(a, b), antecedent_event_id=event or None, context_window=text[max(0, a - 100) : b + 100],
            distance=self._distance(turn, a, start), confidence=round(sure, 4), method=method,
        )  # fmt: skip

    def _event(self, turn: int) -> str:
        return self.context[turn].event_id or f"context:{turn}"

    def _turn_of(self, mention: Mention) -> int:
        return next(i for i in range(len(self.context)) if self._event(i) == mention.antecedent_event_id)

    def _distance(self, turn: int, at: int, start: int) -> int:
        """Words from the antecedent to the mention."""
        before = sum(w.start < start for w in self.words)
        if turn < 0:
            return abs(before - sum(w.start < at for w in self.words))
        return before + sum(1 for t, a, _ in self.layout.places if t > turn or t == turn and a >= at)


def _speaks(turn: Turn, speaker: Speaker) -> str:
    if turn.speaker_id and speaker.id:
        return "same" if turn.speaker_id == speaker.id else "other"
    return "same" if turn.role == speaker.role else "other"
