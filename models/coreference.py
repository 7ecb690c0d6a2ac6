"""Filter 1: what an utterance refers to or leaves out, resolved against the turns before it.

A trained network over the words of the utterance and the last 50 (80) words before it proposes what to replace or insert
and copies the antecedent word by word; rules decide what a network should not: questions about asking, weak descriptions
of known products, formulas, and who "I" is. Only confident changes are made, and every change is a mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from models.candidates import Candidate, asked_kind, candidates, described, kind_of
from models.context import Turn
from models.edit_net import Layout, lay_out
from models.mentions import Anaphor, References
from models.phrasing import Site, insertion, run_of, write_phrase
from models.records import Entity, Mention, Speaker
from models.reference_net import Reading, ReferenceNet
from models.wording import fold

MAX_TEXT = 4000
"""Only so many characters of an utterance are looked at; the rest stays as it is."""


MAX_ANAPHORS = 16
"""Most referring expressions of one utterance that are looked at."""


class Thresholds(Struct, frozen=True):
    """How sure a change must be (probability of the site times that of the phrase); below, the text stays as it is."""

    replace: float = 0.35
    insert: float = 0.35
    point: float = 0.7


class Resolution(Struct):
    """The utterance with its references written out, and one mention for each change or traceable guess.

    `edits` are the changes as (start, end, resolved_start, resolved_end), in order: outside them both texts are equal.
    """

    resolved_text: str
    mentions: list[Mention]
    edits: list[tuple[int, int, int, int]] = []


class _Change(Struct):
    start: int
    end: int
    text: str
    mention: Mention


class CoreferenceModel:
    """Filter 1. ``load`` once, ``resolve`` for each utterance: same input, same output, no state in between."""

    def __init__(self, net: ReferenceNet, references: References, thresholds: Thresholds | None = None) -> None:
        self.net, self.references = net, references
        self.thresholds = thresholds or Thresholds()

    @classmethod
    def load(cls, folder: Path | None = None) -> CoreferenceModel:
        """Weights and word lists as shipped, or from ``folder``. Raises ResourceError naming a bad file."""
        return cls(ReferenceNet.load(folder), References.load())

    @property
    def name(self) -> str:
        """Version of the weights."""
        return self.net.name

    def resolve(
        self, text: str, *, lang: str | None = None, speaker: Speaker, context: Sequence[Turn],
        entities: Sequence[Entity] = (), event_id: str = "",
    ) -> Resolution:  # fmt: skip
        """Resolves one utterance against its context (oldest turn first). Offsets are into ``text`` as given."""
        head = text[:MAX_TEXT]
        job = _Job(self, head, speaker, context, event_id)
        changes, mentions = job.run()
        out, at = [], 0
        edits: list[tuple[int, int, int, int]] = []
        length = 0
        for change in sorted(changes, key=lambda c: (c.start, c.end)):
            if change.start < at:
                continue
            out += [text[at : change.start], change.text]
            length += change.start - at
            edits.append((change.start, change.end, length, length + len(change.text)))
            length += len(change.text)
            at = change.end
            mentions.append(change.mention)
        out.append(text[at:])
        mentions.sort(key=lambda m: (m.start, m.end))
        return Resolution("".join(out), mentions, edits)


class _Job:
    """One utterance being resolved."""

    def __init__(
        self, model: CoreferenceModel, text: str, speaker: Speaker, context: Sequence[Turn], event_id: str
    ) -> None:
        self.net, self.references, self.limits = model.net, model.references, model.thresholds
        self.text, self.event_id, self.context = text, event_id, context
        self.window = self.references.reach(text)
        turns = [{"speaker": _speaks(t, speaker), "text": t.text} for t in context]
        self.layout: Layout = lay_out(text, "same", turns, self.window)
        self.words = self.layout.words
        self._reading: Reading | None = None
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
            inside = {t for t, _, _ in self.layout.places if t >= 0}
            first = min(inside, default=len(self.context))
            starts = {t: min(a for u, a, b in self.layout.places if u == t) for t in inside}
            self._found = [
                c for c in candidates(self.context, first, self.references) if c.start >= starts.get(c.turn, 0)
            ]
        return self._found

    def run(self) -> tuple[list[_Change], list[Mention]]:
        """Changes to make and mentions that change nothing."""
        anaphors = self.references.anaphors(self.text, self.words)[:MAX_ANAPHORS]
        if not anaphors and (not self.context or self.references.is_stock(self.words)):
            return [], self._questioned(set())
        changes: list[_Change] = []
        taken: set[int] = set()
        mentions = self._questioned(taken)
        proposals = self._proposals() if self.context else []
        for anaphor in anaphors:
            spot = set(range(anaphor.first, anaphor.last))
            if spot & taken or self.references.pleonastic(self.words, anaphor.first):
                taken |= spot
                continue
            change = self._anaphor(anaphor, proposals)
            if isinstance(change, _Change):
                changes.append(change)
                taken |= spot
            elif change is not None:
                mentions.append(change)
        for site in proposals:
            spot = set(range(site.first, site.last))
            if site.first == site.last and (site.first in taken and site.first - 1 in taken) or spot & taken:
                continue
            if site.first < site.last and not self._may_replace(site):
                continue
            change = self._copied(site)
            if change:
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
                    text=self.text[start:end], start=start, end=end, core_referent="questioner", context_window=self.text,
                    confidence=0.0, method="question_rule", needs_human_review=True,
                )
            )  # fmt: skip
        return mentions

    # ------------------------------------------------------------------ from the network

    def _proposals(self) -> list[Site]:
        """Sites that the network would change, with how sure it is, in order."""
        reading = self.reading
        tags, gaps = reading.replaced(), reading.missing()
        sites: list[Site] = []
        i = 0
        while i < len(self.words):
            begin = float(tags[i, 1])
            if begin < 0.2 or begin < tags[i, 2] and sites and sites[-1].last == i:
                i += 1
                continue
            last = i + 1
            while last < len(self.words) and tags[last, 2] > 0.5:
                last += 1
            sites.append(Site(i, last, begin))
            i = last
        sites += [Site(i, i, float(p)) for i, p in enumerate(gaps) if p >= 0.2]
        return sorted(sites, key=lambda s: (s.first, s.last))

    def _may_replace(self, site: Site) -> bool:
        """Only words that refer are replaced, never the speakers and never a plain noun ("环境" stays "环境")."""
        keys = [w.key for w in self.words[site.first : site.last]]
        kinds = [self.references.kind_of.get(k) for k in keys]
        if any(k in ("first", "second") for k in kinds):
            return False
        return any(kinds) or keys[0] in ("the", "another", "both", "either", "any", "else", "which")

    def _copied(self, site: Site, over: Anaphor | None = None) -> _Change | None:
        """The change that the network's phrase makes at a site, if it is sure enough and copies from the context."""
        phrase = self.reading.phrase(site.first, site.last)
        run = run_of(phrase.path, self.layout)
        sure = site.probability * phrase.probability
        limit = self.limits.insert if site.first == site.last else self.limits.replace
        if run is None or run.turn < 0 or sure < limit:
            return None
        written = write_phrase(phrase.path, self.layout, self.context, self._same(run.turn))
        if not written:
            return None
        start, end, new = insertion(self.text, self.words, site, written)
        said = self.text[start:end] if site.first < site.last else ""
        if fold(new.strip()) == fold(said):
            return None
        name = self.context[run.turn].text[run.start : run.end]
        method = "network" if site.first < site.last else "network_ellipsis"
        spot = self.words[site.first].start if site.first < site.last else start
        mention = self._mention(spot, end if site.first < site.last else spot, over.head if over else said, name, run.turn,
                                run.start, run.end, sure, method)  # fmt: skip
        return _Change(start, end, new, mention)

    def _same(self, turn: int) -> bool:
        """Whether a turn was spoken by the one who speaks now."""
        index = self.layout.places.index(next(p for p in self.layout.places if p[0] == turn))
        return self.layout.segments[index] % 2 == 1

    # ------------------------------------------------------------------ one referring expression

    def _anaphor(self, anaphor: Anaphor, proposals: Sequence[Site]) -> _Change | Mention | None:
        if anaphor.kind == "description":
            fits = described(anaphor.text, anaphor.head, self.found, self.context, self.references)
            if fits:
                return self._named(anaphor, fits, 0.8, "description")
        if anaphor.kind in ("former", "latter"):
            pair = self._pair()
            if pair:
                return self._named(anaphor, pair[anaphor.kind == "latter"], 0.75, "order_of_mention")
            return None
        wanted = self._by_verb(anaphor)
        for site in proposals:
            if site.first < site.last and site.first < anaphor.last and anaphor.first < site.last:
                change = self._copied(site, anaphor)
                if change is None:
                    break
                if wanted and not _agrees(change.mention.resolved_entity, wanted, self.references):
                    return self._named(anaphor, wanted, min(0.7, change.mention.confidence), "kind_of_verb")
                return self._stronger(change, anaphor)
        if wanted:
            return self._named(anaphor, wanted, 0.6, "kind_of_verb")
        return self._pointed(anaphor)

    def _pair(self) -> tuple[Candidate, Candidate] | None:
        """The two things named together last, for "the former" and "the latter"."""
        for turn in range(len(self.context) - 1, -1, -1):
            named = [c for c in self.found if c.turn == turn]
            flat: list[Candidate] = []
            for c in named:
                if not flat or c.start >= flat[-1].end:
                    flat.append(c)
            if len(flat) >= 2:
                return flat[0], flat[1]
        return None

    def _by_verb(self, anaphor: Anaphor) -> Candidate | None:
        """For "it": the newest candidate of the kind that the verb after it asks for, where there is just one."""
        if anaphor.kind not in ("thing", "demonstrative"):
            return None
        after = [w.key for w in self.words[anaphor.last : anaphor.last + 5]]
        kind = asked_kind(after, self.references)
        fits = [c for c in self.found if c.kind == kind] if kind else []
        return fits[0] if fits and len({fold(c.text) for c in fits}) == 1 else None

    def _stronger(self, change: _Change, anaphor: Anaphor) -> _Change:
        """Where the antecedent is itself only a kind ("the order") and one thing of that kind has an id, that one."""
        name = fold(change.mention.resolved_entity or "")
        bare = name.removeprefix("the ").removeprefix("这个").removeprefix("该")
        if bare not in self.references.generic:
            return change
        kind = kind_of(bare, self.references)
        strong = [c for c in self.found if c.strong and kind and (c.kind == kind or bare in fold(c.text))]
        if len({c.id for c in strong}) == 1:
            return self._named(anaphor, strong[0], change.mention.confidence, "network_id")
        return change

    def _named(self, anaphor: Anaphor, c: Candidate, sure: float, method: str) -> _Change:
        """Writes a candidate's own name in place of a referring expression."""
        new = c.text + ("'s" if anaphor.text.casefold() in ("its", "his", "her", "their") and c.text.isascii() else "")
        if anaphor.text == "其":
            new += "的"
        mention = self._mention(anaphor.start, anaphor.end, anaphor.head, c.text, c.turn, c.start, c.end, sure, method)
        return _Change(anaphor.start, anaphor.end, new, mention)

    def _pointed(self, anaphor: Anaphor) -> Mention | None:
        """Where the text itself names what a pronoun means, a mention that changes nothing; else one without an entity."""
        if anaphor.kind not in ("person", "people", "thing", "things"):
            return None
        weights = self.reading.pointer(anaphor.first, anaphor.last)
        places = self.layout.places
        best = int(weights[:-1].argmax())
        turn = places[best][0]
        if turn == -2 or weights[-1] > self.limits.point:
            return self._unresolved(anaphor, float(1 - weights[-1]))
        first = last = best
        floor = 0.25 * weights[best]
        shape = self.layout.shapes
        while places[first - 1][0] == turn and (
            weights[first - 1] > floor or shape[best] in (2, 3) and shape[first - 1] in (2, 3)
        ):
            first -= 1
        while (
            last + 1 < len(places)
            and places[last + 1][0] == turn
            and (weights[last + 1] > floor or shape[best] in (2, 3) and shape[last + 1] in (2, 3))
        ):
            last += 1
        keys = set(self.layout.keys[first : last + 1])
        sure = float(sum(w for w, k in zip(weights[:-1], self.layout.keys, strict=True) if k in keys))
        if turn >= 0:
            return self._unresolved(anaphor, min(sure, 0.49))
        start, end = places[first][1], places[last][2]
        return self._mention(
            anaphor.start,
            anaphor.end,
            anaphor.head,
            self.text[start:end],
            -1,
            start,
            end,
            min(sure, 1.0),
            "network_same_text",
        )

    def _unresolved(self, anaphor: Anaphor, sure: float) -> Mention:
        return Mention(
            text=anaphor.text, start=anaphor.start, end=anaphor.end, core_referent=anaphor.head,
            confidence=round(max(0.0, min(1.0, sure)), 4), method="unresolved",
        )  # fmt: skip

    def _mention(
        self, start: int, end: int, head: str, name: str, turn: int, a: int, b: int, sure: float, method: str
    ) -> Mention:
        source = self.text if turn < 0 else self.context[turn].text
        event = self.event_id if turn < 0 else self.context[turn].event_id or f"context:{turn}"
        return Mention(
            text=self.text[start:end], start=start, end=end, core_referent=head or name, resolved_entity=name,
            antecedent_span=(a, b), antecedent_event_id=event or None, context_window=source[max(0, a - 100) : b + 100],
            distance=self._distance(turn, a, start), confidence=round(sure, 4), method=method,
        )  # fmt: skip

    def _distance(self, turn: int, at: int, start: int) -> int:
        """Words from the antecedent to the mention."""
        if turn < 0:
            return abs(sum(w.start < start for w in self.words) - sum(w.start < at for w in self.words))
        between = sum(1 for t, a, _ in self.layout.places if t > turn or t == turn and a >= at)
        return between + sum(w.start < start for w in self.words)


def _speaks(turn: Turn, speaker: Speaker) -> str:
    if turn.speaker_id and speaker.id:
        return "same" if turn.speaker_id == speaker.id else "other"
    return "same" if turn.role == speaker.role else "other"


def _agrees(name: str | None, wanted: Candidate, references: References) -> bool:
    """Whether a network's antecedent may be of the wanted kind: its own kind is that or is not known."""
    kind = kind_of(name or "", references)
    return kind == wanted.kind or fold(name or "") == fold(wanted.text)
