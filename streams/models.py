"""Every model and word list the stages need, loaded once a process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import privacy
from models.affect import CUES as AFFECT_WORDS
from models.affect import WEIGHTS as AFFECT_WEIGHTS
from models.affect import AffectModel
from models.coreference import CoreferenceModel
from models.cues.cosine_norm import fitted
from models.cues.cue_score import RecallWeights, load_weights
from models.encoder import Encoder
from models.entities.gazetteer import Gazetteer
from models.entropy import Lexicons, read_authority
from models.errors import ResourceError
from models.heads import heads_fit
from models.references.mentions import References
from models.units.boundary_net import BoundaryNet
from models.units.clauses import WEIGHTS as CLAUSE_WEIGHTS
from models.units.clauses import BoundaryModel
from models.units.distillation import read_words
from models.units.domain_terms import read_terms
from models.units.segmenting import read_joining
from models.units.surprise import LEXICON as ENTROPY_TABLE
from models.units.surprise import EntropyTable
from models.units.unit_types import WEIGHTS as TYPE_WEIGHTS
from models.units.unit_types import TypeModel
from streams.settings import Settings
from streams.watched import Joined, Watched

AFFECT = "cuestream train affect --train DIR --bench DIR --out DIR"
TYPES = "cuestream train types --out DIR"
ENTROPY = "cuestream train entropy --train DIR --out DIR"
NETWORK = ("coreference.onnx", "coreference.npz")
"""The reference network is two files."""
NOT_TAKEN = ("english_tagger.npz", "intent_net.npz", "name_gate.npz")
"""Shipped weights that are no filter's: a folder of weights does not replace them."""


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models, and the lists and weights that may be picked up again."""

    encoder: Encoder
    references: Watched[CoreferenceModel]
    heads: Watched[AffectModel]
    affect_words: Watched[AffectModel]
    """Filter 2 again, watched by its word list; both hold the same value."""
    gazetteer: Watched[Gazetteer]
    segments: Joined[Lexicons]
    cue_weights: Watched[RecallWeights]

    @property
    def coreference(self) -> CoreferenceModel:
        """Filter 1 in its last good form."""
        return self.references.value

    @property
    def affect(self) -> AffectModel:
        """Filter 2 in its last good form."""
        return self.heads.value

    @classmethod
    def load(cls, settings: Settings) -> Models:
        """Loads the shipped models and lists, or those the settings name. Raises `ResourceError` for a missing or short file."""
        privacy.load()
        _check_folder(settings.weights)
        lists = settings.lists
        encoder = Encoder.load(settings.encoder or None)

        def read_affect(_: Path | None) -> AffectModel:
            model = AffectModel.load(
                _there(settings, "affect.npz") or AFFECT_WEIGHTS, _path(lists.affect) or AFFECT_WORDS, encoder
            )
            heads_fit(model.encoder, encoder.name, "affect.npz", AFFECT)
            return model

        filter1 = CoreferenceModel.load(_folder_with(settings, *NETWORK))

        def read_references(path: Path | None) -> CoreferenceModel:
            return CoreferenceModel(filter1.net, References.load(path), filter1.thresholds) if path else filter1

        heads = Watched(_weights(settings, "affect.npz"), read_affect)
        return cls(
            encoder=encoder,
            references=Watched(_path(lists.references), read_references),
            heads=heads,
            affect_words=Watched(_path(lists.affect), read_affect, heads.value),
            gazetteer=Watched(_path(lists.entities), lambda path: Gazetteer.load(path) if path else Gazetteer.load()),
            segments=Joined(_filter3(settings, encoder), Lexicons),
            cue_weights=Watched(_path(lists.cue_weights), lambda path: fitted(load_weights(path), encoder)),
        )

    def refresh(self) -> None:
        """Reads changed lists and weights again, between batches."""
        self.gazetteer.refresh()
        self.cue_weights.refresh()
        self.references.refresh()
        for one, other in ((self.heads, self.affect_words), (self.affect_words, self.heads)):
            if one.refresh():
                other.value = one.value
        self.segments.refresh()


def _check_folder(weights: str) -> None:
    """Raises ResourceError where the folder of weights is missing, or holds what no worker would take: said, not passed over."""
    if not weights:
        return
    folder = Path(weights)
    if not folder.is_dir():
        raise ResourceError(f"weights={weights}: no such folder; `cuestream train` makes one")
    there = [name for name in NETWORK if (folder / name).is_file()]
    if len(there) == 1:
        lacks = next(name for name in NETWORK if name not in there)
        raise ResourceError(f"weights={weights}: {there[0]} without {lacks}: the two belong together")
    for name in NOT_TAKEN:
        if (folder / name).is_file():
            raise ResourceError(f"weights={weights}: {name} cannot be replaced by setting; take it out of the folder")


def _filter3(settings: Settings, encoder: Encoder) -> list[Watched[dict[str, Any]]]:
    """The lists and weights of filter 3, each under the names of the `Lexicons` fields it fills."""

    def read_types(_: Path | None) -> dict[str, Any]:
        found = TypeModel.load(_there(settings, "unit_types.npz") or TYPE_WEIGHTS)
        heads_fit(found.vector_head.encoder, encoder.name, "unit_types.npz", TYPES)
        return {"types": found}

    def read_table(_: Path | None) -> dict[str, Any]:
        found = EntropyTable.load(_there(settings, "entropy.toml") or ENTROPY_TABLE)
        heads_fit(found.encoder, encoder.name, "entropy.toml", ENTROPY)
        return {"table": found}

    def read_net(_: Path | None) -> dict[str, Any]:
        found = BoundaryNet.load(_there(settings, "segments_net.npz") or CLAUSE_WEIGHTS / "segments_net.npz")
        return {"net": found if found.encoder == encoder.name else None}  # other encoders: the word models read

    def read_word_models(_: Path | None) -> dict[str, Any]:
        names = ("segments_zh.npz", "segments_en.npz")
        found = [BoundaryModel.load(_there(settings, name) or CLAUSE_WEIGHTS / name) for name in names]
        return {"words": (found[0], found[1])}

    def read_authority_words(path: Path | None) -> dict[str, Any]:
        words, backing = read_authority(path) if path else read_authority()
        return {"authority": words, "backing": backing}

    lists = settings.lists
    return [
        Watched(_path(lists.terms), lambda path: {"terms": read_terms(path) if path else read_terms()}),
        Watched(_path(lists.authority), read_authority_words),
        Watched(_path(lists.segmenting), lambda path: {"joining": read_joining(path) if path else read_joining()}),
        Watched(_path(lists.distillation), lambda path: {"distilling": read_words(path) if path else read_words()}),
        Watched(_weights(settings, "unit_types.npz"), read_types),
        Watched(_weights(settings, "entropy.toml"), read_table),
        Watched(_weights(settings, "segments_net.npz"), read_net),
        Watched(_weights(settings, "segments_zh.npz"), read_word_models),
        Watched(_weights(settings, "segments_en.npz"), read_word_models),
    ]


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
