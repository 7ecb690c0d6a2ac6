"""Whose vectors a person's rows hold: an index made by one encoder answers no other (its cosines would mean nothing)."""

from __future__ import annotations

from msgspec import Struct

from models.errors import ResourceError
from tables.person import PersonState

REBUILD = "cuestream reindex"


class Space(Struct):
    """What is read of a hot row to know its encoder."""

    encoder: str = ""


def claim(state: PersonState, encoder: str) -> None:
    """Notes in a new hot row which encoder makes its vectors. Raises ResourceError where another one made them."""
    refuse_other(state.encoder, encoder)
    state.encoder = encoder


def refuse_other(made_by: str, encoder: str) -> None:
    """Raises ResourceError where vectors of one encoder would meet those of another. Rows of before this was noted say nothing."""
    if made_by and made_by != encoder:
        raise ResourceError(
            f"the index was built by encoder {made_by}, and this worker runs {encoder}: stop the workers and rebuild it with "
            f"`{REBUILD}`, or set CUESTREAM_ENCODER back"
        )


def wrong_size(stored: int, dimension: int) -> ResourceError:
    """The error for a stored vector that the running encoder could not have made."""
    return ResourceError(
        f"a stored vector has {stored} numbers, the encoder gives {dimension}: stop the workers and rebuild the index with "
        f"`{REBUILD}`, or set CUESTREAM_ENCODER back"
    )
