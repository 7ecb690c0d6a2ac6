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
from models.errors import ResourceError
from models.gazetteer import Gazetteer
from models.heads import heads_fit
from streams.settings import Settings
from streams.watched import Watched

AFFECT = "cuestream train affect --train DIR --bench DIR --out DIR"
TYPES = "cuestream train types --out DIR"
ENTROPY = "cuestream train entropy --train DIR --out DIR"


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models, and the lists and weights that may be picked up again."""

    encoder: Encoder
    coreference: CoreferenceModel
    heads: Watched[AffectModel]
    gazetteer: Watched[Gazetteer]
    segments: Watched[Lexicons]
    segment_files: tuple[Watched[Lexicons], ...]
    """One for each file of filter 3 that may change; all hold the same value."""
    cue_weights: Watched[RecallWeights]

    @property
    def affect(self) -> AffectModel:
        """Filter 2 in its last good form."""
        return self.heads.value

    @classmethod
    def load(cls, settings: Settings) -> Models:
        """Loads the shipped models and lists, or those the settings name. Raises `ResourceError` for a missing or short file."""
        privacy.load()
        if settings.weights and not Path(settings.weights).is_dir():
            raise ResourceError(f"weights={settings.weights}: no such folder; `cuestream train` makes one")
        lists = settings.lists
        encoder = Encoder.load(settings.encoder or None)

        def read_affect(path: Path | None) -> AffectModel:
            model = AffectModel.load(path) if path and path.is_file() else AffectModel.load()
            heads_fit(model.encoder, encoder.name, "affect.npz", AFFECT)
            return model

        def read_segments(_: Path | None) -> Lexicons:
            found = Lexicons.load(
                _path(lists.terms),
                _path(lists.authority),
                _there(settings, "unit_types.npz"),
                _there(settings, "entropy.toml"),
            )
            heads_fit(found.types.vector_head.encoder, encoder.name, "unit_types.npz", TYPES)
            heads_fit(found.table.encoder, encoder.name, "entropy.toml", ENTROPY)
            return found

        segments = Watched(_path(lists.terms), read_segments)
        others = (_path(lists.authority), _weights(settings, "unit_types.npz"), _weights(settings, "entropy.toml"))
        files = (segments, *(Watched(path, read_segments, segments.value) for path in others))
        return cls(
            encoder=encoder,
            coreference=CoreferenceModel.load(_folder_with(settings, "coreference.onnx", "coreference.npz")),
            heads=Watched(_weights(settings, "affect.npz"), read_affect),
            gazetteer=Watched(_path(lists.entities), lambda path: Gazetteer.load(path) if path else Gazetteer.load()),
            segments=segments,
            segment_files=files,
            cue_weights=Watched(_path(lists.cue_weights), lambda path: fitted(load_weights(path), encoder)),
        )

    def refresh(self) -> None:
        """Reads changed lists and weights again, between batches."""
        self.gazetteer.refresh()
        self.cue_weights.refresh()
        self.heads.refresh()
        for changed in [file for file in self.segment_files if file.refresh()]:
            for file in self.segment_files:
                file.value = changed.value


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _weights(settings: Settings, name: str) -> Path | None:
    """Where a file of retrained weights lies, or will lie."""
    return Path(settings.weights) / name if settings.weights else None


def _there(settings: Settings, name: str) -> Path | None:
    path = _weights(settings, name)
    return path if path is not None and path.is_file() else None


def _folder_with(settings: Settings, *names: str) -> Path | None:
    return Path(settings.weights) if settings.weights and all(_there(settings, name) for name in names) else None
