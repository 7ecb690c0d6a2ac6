"""Every model and word list the stages need, loaded once a process."""

from __future__ import annotations

from dataclasses import dataclass

from models.affect import AffectModel
from models.coreference import CoreferenceModel
from models.encoder import Encoder
from models.entities import Gazetteer
from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models. Immutable but for the word lists, which may be picked up again."""

    encoder: Encoder
    coreference: CoreferenceModel
    affect: AffectModel
    gazetteer: Gazetteer

    @classmethod
    def load(cls, settings: Settings) -> Models:
        """Loads the shipped models, or those the settings name. Raises `ResourceError` for a missing or short file."""
        return cls(
            encoder=Encoder.load(),
            coreference=CoreferenceModel.load(),
            affect=AffectModel.load(),
            gazetteer=Gazetteer.load(),
        )
