"""Settings: cuestream.toml, overridden by CUESTREAM_* variables, overridden by ``--set key=value``.

A dotted name such as ``recall.max_cues`` is a section and a field below; its variable is ``CUESTREAM_RECALL_MAX_CUES``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from models.errors import ResourceError

FILE = "cuestream.toml"
PREFIX = "CUESTREAM_"


class RecallSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns get a bundle, how many cues it may carry, and how much memory the hot indexes may take.

    `cue_model`: a network trained by ``cuestream tune --mlp`` that scores cues in the place of the linear weights.
    """

    on: Literal["customer", "all", "probes", "none"] = "customer"
    max_cues: Annotated[int, Meta(ge=0, le=200)] = 3
    index_cache_mb: Annotated[int, Meta(ge=1)] = 256
    cue_model: str = ""


class PrivacySection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`dead_letter_bytes` false keeps a dead letter's bytes only by reference to its raw topic and offset."""

    dead_letter_bytes: bool = True


class ListsSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Paths of a user's own lists in the place of the shipped ones; a running worker picks a changed file up again."""

    entities: str = ""
    terms: str = ""
    authority: str = ""
    segmenting: str = ""
    distillation: str = ""
    references: str = ""
    affect: str = ""
    cue_weights: str = ""


class WorkerSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Batching, commits and group membership of a worker. Times in seconds."""

    lanes: Annotated[int, Meta(ge=1, le=64)] = 2
    batch: Annotated[int, Meta(ge=1, le=4096)] = 64
    commit_interval: Annotated[float, Meta(gt=0.0)] = 0.5
    session_timeout: Annotated[float, Meta(ge=6.0)] = 10.0
    heartbeat: Annotated[float, Meta(gt=0.0)] = 1.0
    linger: Annotated[float, Meta(ge=0.0)] = 0.0
    rocksdb_cache_mb: Annotated[int, Meta(ge=1)] = 16


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. `broker` empty: that of a running `cuestream up` on `data_dir`, else localhost:9092. `partitions` is one number for every topic and the table, and cannot be changed later.

    `encoder`: a folder, or ``st:NAME_OR_PATH`` of a sentence-transformers or transformers model (extra `train`). `weights`: a folder
    of retrained weights (`cuestream train`), each file in the place of the shipped one of its name.
    """

    broker: str = ""
    topic_prefix: str = "cuestream."
    app_id: str = "cuestream"
    partitions: Annotated[int, Meta(ge=1, le=1024)] = 4
    replication: Annotated[int, Meta(ge=1)] = 1
    data_dir: str = ".cuestream"
    encoder: str = ""
    weights: str = ""
    web_port: Annotated[int, Meta(ge=0, le=65535)] = 6066
    recall: RecallSection = field(default_factory=RecallSection)
    privacy: PrivacySection = field(default_factory=PrivacySection)
    lists: ListsSection = field(default_factory=ListsSection)
    worker: WorkerSection = field(default_factory=WorkerSection)


def load_settings(
    assignments: Iterable[str] = (), *, file: Path | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings in force. Raises `ResourceError` for an unknown name, a wrong value or an unreadable file."""
    path = file or Path(FILE)
    values: dict[str, Any] = {}
    if path.is_file():
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ResourceError(f"{path}: {error}") from None
    elif file is not None:
        raise ResourceError(f"{path}: no such file")
    known = dict(_names(Settings))
    for variable, text in sorted((os.environ if environ is None else environ).items()):
        name = known.get(variable)
        if name is not None:
            _assign(values, name, text)
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or name not in known.values():
            raise ResourceError(
                f"--set {assignment}: expected key=value with a key of: {', '.join(sorted(known.values()))}"
            )
        _assign(values, name, text)
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ResourceError(f"settings: {error}") from None


def _names(struct: type[Struct], prefix: str = "") -> Iterable[tuple[str, str]]:
    """(variable, dotted name) of every setting."""
    for item in msgspec.structs.fields(struct):
        name = f"{prefix}{item.name}"
        if isinstance(item.type, type) and issubclass(item.type, Struct):
            yield from _names(item.type, f"{name}.")
        else:
            yield PREFIX + name.replace(".", "_").upper(), name


def _assign(values: dict[str, Any], name: str, text: str) -> None:
    *sections, last = name.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ResourceError(f"settings: `{section}` must be a table")
    values[last] = text
