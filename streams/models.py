"""Every model and word list the stages need, loaded once a process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models import privacy
from models.affect import AffectModel
from models.coreference import CoreferenceModel
from models.cosine_norm import fitted
from models.cue_score import RecallWeights, load_weights
from models.encoder import Encoder
from models.entropy import Lexicons
from models.gazetteer import Gazetteer
from streams.settings import Settings
from streams.watched import Watched


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models, and the lists that may be picked up again."""

    encoder: Encoder
    coreference: CoreferenceModel
    affect: AffectModel
    gazetteer: Watched[Gazetteer]
    segments: Watched[Lexicons]
    authority: Watched[Lexicons]
    cue_weights: Watched[RecallWeights]

    @classmethod
    def load(cls, settings: Settings) -> Models:
        """Loads the shipped models and lists, or those the settings name. Raises `ResourceError` for a missing or short file."""
        privacy.load()
        lists = settings.lists
        terms, authority = _path(lists.terms), _path(lists.authority)

        def read_segments(_: Path | None) -> Lexicons:
            return Lexicons.load(terms, authority)

        encoder = Encoder.load(settings.encoder or None)
        return cls(
            encoder=encoder,
            coreference=CoreferenceModel.load(),
            affect=AffectModel.load(),
            gazetteer=Watched(_path(lists.entities), lambda path: Gazetteer.load(path) if path else Gazetteer.load()),
            segments=Watched(terms, read_segments),
            authority=Watched(authority, read_segments),
            cue_weights=Watched(_path(lists.cue_weights), lambda path: fitted(load_weights(path), encoder)),
        )

    def refresh(self) -> None:
        """Reads changed lists again, between batches."""
        self.gazetteer.refresh()
        self.cue_weights.refresh()
        terms, authority = self.segments.refresh(), self.authority.refresh()
        if terms:
            self.authority.value = self.segments.value
        elif authority:
            self.segments.value = self.authority.value


def _path(text: str) -> Path | None:
    return Path(text) if text else None
