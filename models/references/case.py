"""One utterance laid out with its context: the network's reading, the candidates, and how mentions of it are written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from models.context import Turn
from models.records import Entity, Mention, Speaker
from models.references.candidates import UNNAMED, Candidate, candidates
from models.references.edit_net import lay_out
from models.references.mentions import Anaphor, References
from models.references.net import Reading, ReferenceNet
from models.references.phrasing import cased, placed
from models.wording import is_cjk

POSSESSIVE = ("its", "his", "her", "their")
Source = tuple[int, int, int]
"""Where an antecedent stands: turn (index into the context, -1: the utterance itself), start, end."""


class Change(Struct):
    """Characters ``start..end`` of the utterance become ``text``; and the mention that says why."""

    start: int
    end: int
    text: str
    mention: Mention


class ReferenceCase:
    """What is known of one utterance; nothing here decides."""

    def __init__(
        self, net: ReferenceNet, references: References, text: str, speaker: Speaker, context: Sequence[Turn],
        event_id: str, entities: Sequence[Entity] = (),
    ) -> None:  # fmt: skip
        self.net, self.references = net, references
        self.text, self.event_id, self.context = text, event_id, context
        turns = [{"speaker": _speaks(t, speaker), "text": t.text} for t in context]
        self.same = [t["speaker"] == "same" for t in turns]
        self.layout = lay_out(text, "same", turns, references.reach(text))
        self.words = self.layout.words
        self._own = [e for e in entities if e.type not in UNNAMED and is_cjk(e.text)]
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
            starts: dict[int, int] = {}
            for turn, start, _ in self.layout.places:
                if turn >= 0:
                    starts[turn] = min(start, starts.get(turn, start))
            first = min(starts, default=len(self.context))
            every = candidates(self.context, first, self.references)
            self._found = [c for c in every if c.start >= starts.get(c.turn, 0)]
        return self._found

    def names_something(self) -> bool:
        """Whether a Chinese utterance has an entity of its own, or a noun or foreign name that the context has too."""
        if self._own:
            return True
        layout = self.layout
        here = [i + 1 for i in range(len(self.words))]
        if not any(layout.shapes[i] == 5 for i in here):
            return False
        return any(
            layout.matches[i] and len(layout.keys[i]) > 1 and layout.shapes[i] != 6 and not layout.classes[i]
            for i in here
        )

    def named(self, anaphor: Anaphor, c: Candidate, sure: float, method: str) -> Change:
        """Writes a candidate's own name in place of a referring expression."""
        new = c.text + ("'s" if anaphor.text.casefold() in POSSESSIVE and c.text.isascii() else "")
        new += "的" if anaphor.text == "其" else ""
        if anaphor.text.casefold() in ("there", "here"):
            new = placed(new, self.words, anaphor.first)
        source = (c.turn, c.start, c.end)
        mention = self.mention(anaphor.start, anaphor.end, anaphor.head, c.text, source, sure, method)
        return Change(anaphor.start, anaphor.end, cased(new, self.text, anaphor.start), mention)

    def unresolved(self, anaphor: Anaphor, sure: float) -> Mention:
        """A mention that names no entity."""
        return Mention(
            text=anaphor.text, start=anaphor.start, end=anaphor.end, core_referent=anaphor.head,
            confidence=round(max(0.0, min(1.0, sure)), 4), method="unresolved",
        )  # fmt: skip

    def mention(self, start: int, end: int, head: str, name: str, source: Source, sure: float, method: str) -> Mention:
        """A mention with its antecedent, the text around that, and the distance in words."""
        turn, a, b = source
        text = self.text if turn < 0 else self.context[turn].text
        event = self.event_id if turn < 0 else self._event(turn)
        return Mention(
            text=self.text[start:end], start=start, end=end, core_referent=head or name, resolved_entity=name,
            antecedent_span=(a, b), antecedent_event_id=event or None, context_window=text[max(0, a - 100) : b + 100],
            distance=self._distance(turn, a, start), confidence=round(min(1.0, sure), 4), method=method,
        )  # fmt: skip

    def source_of(self, mention: Mention) -> Source:
        """Where a mention's antecedent stands."""
        turn = next(i for i in range(len(self.context)) if self._event(i) == mention.antecedent_event_id)
        return turn, *(mention.antecedent_span or (0, 0))

    def _event(self, turn: int) -> str:
        return self.context[turn].event_id or f"context:{turn}"

    def _distance(self, turn: int, at: int, start: int) -> int:
        before = sum(w.start < start for w in self.words)
        if turn < 0:
            return abs(before - sum(w.start < at for w in self.words))
        return before + sum(1 for t, a, _ in self.layout.places if t > turn or t == turn and a >= at)


def _speaks(turn: Turn, speaker: Speaker) -> str:
    if turn.speaker_id and speaker.id:
        return "same" if turn.speaker_id == speaker.id else "other"
    return "same" if turn.role == speaker.role else "other"
