"""What the network would change: sites with their probability, and the phrases it copies there, once they are allowed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from models.references.case import Change, ReferenceCase
from models.references.guards import cuts_a_name, has_its_noun, is_formula, is_no_person, is_rival, is_statement
from models.references.mentions import Anaphor
from models.references.phrasing import (
    Run,
    Site,
    insertion,
    placed,
    run_of,
    without_edges,
    without_overlap,
    without_repeats,
    write_phrase,
)
from models.wording import fold, is_cjk

LEAST = 0.15
"""Sites below this probability are not looked at."""

_ID = re.compile(r"\d{4}|[A-Za-z]-?\d|\d[A-Za-z]")
"""What makes a phrase an id rather than a name with a number beside it ("2 miles away")."""

_FREE = ("the", "another", "both", "either", "any", "else", "which")


class Thresholds(Struct, frozen=True):
    """How sure a change must be (probability of the site times that of the phrase); below, the text stays as it is.

    ``named``: insertions into a Chinese utterance that itself names something; ``again``: further insertions into the same
    utterance; ``stated``: insertions of more than a name; ``identified``: insertions of an id; ``pointed``: a pronoun that only the pointer explains; ``point``:
    how probable "none of these words" may be for a pronoun that the text itself still explains.
    """

    replace: float = 0.3
    insert: float = 0.3
    named: float = 0.35
    again: float = 0.5
    stated: float = 0.6
    identified: float = 0.9
    point: float = 0.85
    pointed: float = 0.6


class Proposals:
    """The network's proposals for one utterance."""

    def __init__(self, case: ReferenceCase, limits: Thresholds) -> None:
        self.case = case
        self.limits = limits
        self._insert: float | None = None

    def sites(self) -> list[Site]:
        """Stretches to replace and gaps to fill, in order."""
        case = self.case
        if not case.context:
            return []
        tags, gaps = case.reading.replaced().tolist(), case.reading.missing().tolist()
        sites: list[Site] = []
        i = 0
        while i < len(case.words):
            if tags[i][1] < LEAST:
                i += 1
                continue
            last = i + 1
            while last < len(case.words) and tags[last][2] > 0.5:
                last += 1
            sites.append(Site(i, last, tags[i][1]))
            i = last
        sites += [Site(i, i, p) for i, p in enumerate(gaps) if p >= LEAST]
        return sorted(sites, key=lambda s: (s.first, s.last))

    def may_replace(self, site: Site) -> bool:
        """Only words that refer are replaced, never the speakers and never a plain noun ("环境" stays "环境")."""
        keys = [w.key for w in self.case.words[site.first : site.last]]
        kinds = [self.case.references.kind_of.get(k) for k in keys]
        if "first" in kinds or "second" in kinds:
            return False
        return any(kinds) or keys[0] in _FREE

    def change(self, site: Site, over: Anaphor | None = None) -> Change | None:
        """The change that the network's phrase makes at a site, if it is sure enough and names something before."""
        case = self.case
        gap = site.first == site.last
        limit = self._insert_limit() if gap else self.limits.replace
        if site.probability < limit:
            return None
        phrase = case.reading.phrase(site.first, site.last)
        path = without_repeats(self._trimmed(phrase.path, gap, over), case.layout, case.words, site)
        if gap and not self._may_insert(site, path):
            return None
        run = run_of(path, case.layout)
        sure = site.probability * phrase.probability
        if run is None or run.turn < 0 or sure < limit:
            return None
        if over and over.kind not in ("description", "demonstrative"):
            path, run = self._whole(path, run)
        name = case.context[run.turn].text[run.start : run.end]
        if gap and sure < self.limits.identified and _ID.search(name):
            return None
        if is_formula(name, case.references.stock) or (gap and is_rival(name, case.words)):
            return None
        if is_statement(name) and (not gap or sure < self.limits.stated):
            return None
        written = write_phrase(path, case.layout, case.context, case.same[run.turn])
        if gap and site.first < len(case.words):
            written = without_overlap(written, case.text, case.words[site.first].start)
        elif gap:
            written = without_overlap(written, case.text, len(case.text))
        if over and over.text.casefold() in ("there", "here"):
            written = placed(written, case.words, over.first)
        place = Site(over.first, over.last, 1.0) if over and over.kind == "demonstrative" else site
        start, end, new = insertion(case.text, case.words, place, written)
        said = case.text[start:end]
        if not written or fold(new.strip()) == fold(said):
            return None
        named = case.context[run.turn].entities
        if cuts_a_name(run.start, run.end, named) or is_no_person(said, run.start, run.end, named):
            return None
        if has_its_noun(said, case.text[end : end + 16]):
            return None
        head = over.head if over else said or name
        method = "network_ellipsis" if gap else "network"
        mention = case.mention(start, end, head, name, (run.turn, run.start, run.end), sure, method)
        return Change(start, end, new, mention)

    def _whole(self, path: list[int], run: Run) -> tuple[list[int], Run]:
        """A copied Chinese noun with the words before it that belong to it: 扫地机器人, where only 机器人 was copied."""
        layout = self.case.layout
        if layout.positions(run.turn, run.start, run.end) != list(path):
            return path, run
        for c in self.case.found:
            same = c.turn == run.turn and c.end == run.end and c.start < run.start
            if same and is_cjk(c.text) and "的" not in c.text and len(c.text) <= 8:
                return layout.positions(run.turn, c.start, c.end), Run(run.turn, c.start, c.end)
        return path, run

    def _may_insert(self, site: Site, path: Sequence[int]) -> bool:
        """Nothing is inserted after a sentence has ended, and before one a whole statement only where it is a few words."""
        words = self.case.words
        if site.first == len(words) and words and words[-1].text in "。！？.!?":
            return False
        return site.first > 0 or len(path) <= 6 or sum(w.text[0].isalnum() for w in words) <= 4

    def _trimmed(self, path: Sequence[int], gap: bool, over: Anaphor | None) -> list[int]:
        """A phrase without question words at its ends and, in a pronoun's place, without words that are no name."""
        first, last, asked = self.case.references.edges
        if gap or over is not None and over.kind == "place":
            return without_edges(path, self.case.layout, asked, asked)
        return without_edges(path, self.case.layout, first | asked, last | asked)

    def _insert_limit(self) -> float:
        if self._insert is None:
            self._insert = self.limits.named if self.case.names_something() else self.limits.insert
        return self._insert
