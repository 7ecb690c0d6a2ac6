"""One utterance through all stages in their fixed order; what each publishes, and what it changes in the person's state."""

from __future__ import annotations

from collections.abc import Sequence

from models.encoder import Pending
from models.records import Utterance
from models.tasks.intents import ParsedIntent, parse_intent
from streams.messages import PIPELINE_VERSION, Output
from streams.models import Models
from streams.settings import Settings
from streams.stages import affect as affect_stage
from streams.stages import reading as reading_stage
from streams.stages.bundles import Recalling
from streams.stages.publishing import Publisher
from streams.stages.units import UnitWriter
from tables import erasure, tasks
from tables.hot_index import HotIndex
from tables.person import PersonState, session_of
from tables.rulebook import RuleBook
from tables.sessions import remember_turn
from tables.store import PersonRows


class TurnStages:
    """Filters 1 to 3, task step, write policy, recall: in this order, for one utterance at a time."""

    def __init__(self, models: Models, settings: Settings, rules: RuleBook) -> None:
        self._models = models
        self._units = UnitWriter(models)
        self._recalling = Recalling(settings, rules, models.cue_weights)

    def run(
        self,
        utterance: Utterance,
        pending: Pending,
        context_pending: Sequence[Pending],
        state: PersonState,
        rows: PersonRows,
        index: HotIndex,
        person: str,
    ) -> list[Output]:
        """The outputs of one utterance, whose vectors are on their way. Changes `state`, `rows` and `index`; of a probe only a copy of the state."""
        publish = Publisher(person)
        expired = tasks.expire(state, utterance.ts, PIPELINE_VERSION)
        if utterance.remember:
            publish.add_all(expired)
            publish.add_all(self._units.expire(state, rows, index, utterance))
        session = session_of(state, utterance)
        context = reading_stage.context_of(session, utterance)

        reading = reading_stage.read(utterance, context, self._models.coreference, self._models.gazetteer.value)
        publish.add("utterances.resolved", reading.record)
        for review in reading_stage.reviews_of(reading.record):
            publish.add("review.queue", review, key=review.review_id)

        encoded = pending.result()
        resolved_encoded = (
            encoded
            if reading.record.resolved_text == utterance.text
            else self._models.encoder.encode([reading.record.resolved_text])[0]
        )
        affect = affect_stage.read(reading.record, resolved_encoded, context, self._models.affect)
        publish.add("utterances.affect", affect)

        parsed = ParsedIntent()  # only a customer's turn moves a task by what it wants
        if affect.speaker.role == "customer":
            parsed = parse_intent(
                utterance.text, lang=utterance.lang, entities=affect.entities, mentions=affect.mentions
            )
        step = tasks.step(session, affect, parsed, version=PIPELINE_VERSION)
        session.turn += 1
        session.last_ts = max(session.last_ts, utterance.ts)
        if utterance.remember:
            publish.add_all(step.transitions)
        if utterance.remember and not erasure.was_erased(rows, utterance.event_id or "", utterance.ts):
            publish.add_all(
                self._units.write(affect, reading, encoded, resolved_encoded, session, state, rows, index, step.topic)
            )
            remember_turn(session, reading_stage.turn_of(reading, affect.intent.label))
        if utterance.remember:
            state.clock = utterance.ts if state.clock is None else max(state.clock, utterance.ts)
        if self._recalling.wants(affect):
            bundle = self._recalling.bundle(
                affect, resolved_encoded, [item.result() for item in context_pending], step, rows, index.whole()
            )
            publish.add("cues.bundles", bundle)
        return publish.outputs
