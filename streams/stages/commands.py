"""Commands as a stage: a person's or an operator's order about a memory -> units, tasks, audit (W5-W7, T4).

Beside them, what a recogniser's later revision takes back."""

from __future__ import annotations

from msgspec.structs import replace

from models.encoder import Encoder
from models.records import Audit, Command, Task, Unit, Utterance
from streams.messages import PIPELINE_VERSION, Output
from streams.stages.ingest import mask_value
from streams.stages.publishing import Publisher
from streams.stages.units import follow
from tables import erasure
from tables.hot_index import HotIndex
from tables.person import AppliedEvent, PersonState
from tables.store import PersonRows
from tables.vectors import pack_vector, unpack_vector
from tables.writing import write_unit


def masked(command: Command) -> Command:
    """The command with its texts masked, as the utterances are that it speaks of: what may not be stored cannot come in here either."""
    scope = replace(command.scope, text=mask_value(command.scope.text))
    return replace(command, text=mask_value(command.text), scope=scope)


def apply_command(
    command: Command, state: PersonState, rows: PersonRows, index: HotIndex, encoder: Encoder
) -> list[Unit | Task | Audit]:
    """What a command publishes. An erased unit's last record carries no content and replaces it on the compacted topic."""
    command = masked(command)
    effects = erasure.run_command(state, rows, command, PIPELINE_VERSION)
    published = _followed(effects, index)
    if effects.new_unit is not None:
        vector = unpack_vector(pack_vector(encoder.encode([effects.new_unit.resolved_content])[0].passage))
        written = write_unit(state, rows, effects.new_unit, vector, reason=f"command:{command.kind}")
        follow(index, rows, written.units, vector, written.slot)
        published += [*written.units, *written.audits]
    return published


def take_back(
    utterance: Utterance, seen: AppliedEvent, state: PersonState, rows: PersonRows, index: HotIndex, person: str
) -> list[Output]:
    """What is published when a later revision of a recognised segment takes the place of the one that was `seen`."""
    effects = erasure.take_back(state, rows, utterance.event_id or "", seen, utterance.ts, PIPELINE_VERSION)
    publisher = Publisher(person)
    publisher.add_all(_followed(effects, index))
    return publisher.outputs


def _followed(effects: erasure.Effects, index: HotIndex) -> list[Unit | Task | Audit]:
    """What effects publish; the index follows them."""
    for slot in effects.dropped_slots:
        index.remove(slot)
    return [*effects.changed, *effects.erased, *effects.tasks, *effects.audits]
