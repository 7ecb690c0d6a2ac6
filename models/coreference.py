"""Filter 1: what an utterance refers to or leaves out, resolved against the turns before it.

A trained network over the words of the utterance and the last 50 (80) words before it proposes what to replace or insert
and copies the antecedent word by word; rules decide what a network should not: questions about asking, weak descriptions
of known products, formulas, and who "I" is. Only confident changes are made, and every change is a mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from models.context import Turn
from models.records import Entity, Mention, Speaker
from models.references.case import ReferenceCase
from models.references.job import ReferenceJob
from models.references.mentions import References
from models.references.net import ReferenceNet
from models.references.proposals import Thresholds

MAX_TEXT = 4000
"""Only so many characters of an utterance are looked at; the rest stays as it is."""


class Resolution(Struct):
    """The utterance with its references written out, and one mention for each change or traceable guess.

    `edits` are the changes as (start, end, resolved_start, resolved_end), in order: outside them both texts are equal.
    """

    resolved_text: str
    mentions: list[Mention]
    edits: list[tuple[int, int, int, int]] = []


class CoreferenceModel:
    """Filter 1. ``load`` once, ``resolve`` for each utterance: same input, same output, no state in between."""

    def __init__(self, net: ReferenceNet, references: References, thresholds: Thresholds | None = None) -> None:
        self.net, self.references = net, references
        self.thresholds = thresholds or Thresholds()

    @classmethod
    def load(cls, folder: Path | None = None) -> CoreferenceModel:
        """Weights and word lists as shipped, or weights from ``folder``. Raises ResourceError naming a bad file."""
        return cls(ReferenceNet.load(folder), References.load())

    @property
    def name(self) -> str:
        """Version of the weights."""
        return self.net.name

    def resolve(
        self, text: str, *, lang: str | None = None, speaker: Speaker, context: Sequence[Turn],
        entities: Sequence[Entity] = (), event_id: str = "",
    ) -> Resolution:  # fmt: skip
        """Resolves one utterance against its context (oldest turn first). Offsets are into ``text`` as given.

        ``entities`` of the utterance make an insertion less likely; those of ``context`` are antecedents. ``lang`` is not
        needed: words tell their script.
        """
        case = ReferenceCase(self.net, self.references, text[:MAX_TEXT], speaker, context, event_id, entities)
        changes, mentions = ReferenceJob(case, self.thresholds).run()
        parts: list[str] = []
        edits: list[tuple[int, int, int, int]] = []
        at = length = 0
        for change in sorted(changes, key=lambda c: (c.start, c.end)):
            if change.start < at:
                continue
            parts += [text[at : change.start], change.text]
            length += change.start - at
            edits.append((change.start, change.end, length, length + len(change.text)))
            length += len(change.text)
            at = change.end
            mentions.append(change.mention)
        parts.append(text[at:])
        mentions.sort(key=lambda m: (m.start, m.end))
        return Resolution("".join(parts), mentions, edits)
