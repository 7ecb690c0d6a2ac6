"""The index of persons built anew from their rows' own text, for another encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from models.records import Unit
from tables.person import HotRow
from tables.store import HOT, UNIT, VECTOR, row_key
from tables.vectors import pack_vector

Embed = Callable[[Sequence[str]], Sequence[np.ndarray]]
"""Texts to unit vectors of the index space."""
BATCH = 64
_decoder = msgspec.json.Decoder(Unit)
_encoder = msgspec.json.Encoder()


def persons_of(rows: Mapping[bytes, bytes]) -> list[str]:
    """The persons who have a hot row among these rows, in order."""
    lead = HOT + b"\0"
    found = (key[len(lead) :].decode("utf-8", "surrogatepass") for key in rows if key.startswith(lead))
    return sorted(name.replace("\\\\", "\\") for name in found)  # as `row_key` escaped it


def rebuilt(
    rows: Mapping[bytes, bytes], person: str, encoder: str, embed: Embed
) -> Iterator[tuple[bytes, bytes | None]]:
    """The rows to put so that a person's vectors are those of `encoder`, the hot row last; nothing where they already are.

    A person's rows are complete when their hot row is put: a run that was cut short is begun again and skips who is done.
    """
    state = msgspec.json.decode(rows[row_key(HOT, person)], type=HotRow)
    if state.encoder == encoder:
        return
    waiting: list[tuple[int, str]] = []
    for slot in range(state.next_slot):
        raw = rows.get(row_key(UNIT, person, slot))
        unit = None if raw is None else _decoder.decode(raw)
        if unit is not None and unit.status == "current":
            waiting.append((slot, unit.resolved_content or unit.content))
        elif row_key(VECTOR, person, slot) in rows:
            yield row_key(VECTOR, person, slot), None
    for begin in range(0, len(waiting), BATCH):
        part = waiting[begin : begin + BATCH]
        for (slot, _), vector in zip(part, embed([text for _, text in part]), strict=True):
            yield row_key(VECTOR, person, slot), pack_vector(vector)
    state.encoder = encoder
    yield row_key(HOT, person), _encoder.encode(state)
