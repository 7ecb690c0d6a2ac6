"""Recall as a stage: what comes to mind for a turn, with the task, its constraints and facts, the profile, the rules -> bundle/1."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from models.cues.cue_mlp import CueMlp
from models.cues.cue_score import RecallWeights
from models.encoder import Encoded
from models.records import Affect, Bundle
from streams.messages import PIPELINE_VERSION
from streams.settings import Settings
from streams.watched import Watched
from tables import profile
from tables.knowledge import rules_for
from tables.person_index import PersonIndex
from tables.recall import RecallSettings, recall, wanted
from tables.rulebook import RuleBook
from tables.store import PersonRows
from tables.tasks import TaskStep

_NAMESPACE = uuid.UUID("0d8a6b1c-52a1-5a8e-8a55-1f3a8a2e9c77")


class Recalling:
    """Makes bundles for the turns that the settings name."""

    def __init__(self, settings: Settings, rules: RuleBook, weights: Watched[RecallWeights]) -> None:
        self._on, self._max_cues = settings.recall.on, settings.recall.max_cues
        self._weights = weights
        self._network = CueMlp.load(Path(settings.recall.cue_model)) if settings.recall.cue_model else None
        self._rules = rules

    def wants(self, affect: Affect) -> bool:
        """Whether this turn gets a bundle."""
        return wanted(affect, self._on)

    def bundle(
        self,
        affect: Affect,
        encoded: Encoded,
        context: Sequence[Encoded],
        step: TaskStep,
        rows: PersonRows,
        index: PersonIndex,
    ) -> Bundle:
        """The bundle of a turn. The same turn gives the same bundle id."""
        found = recall(
            affect,
            encoded.query,
            index,
            task=step.view,
            settings=RecallSettings(
                max_cues=self._max_cues, on=self._on, weights=self._weights.value, network=self._network
            ),
            context_queries=[(item.text, item.query) for item in context],
            passage_vector=encoded.passage,
        )
        return Bundle(
            bundle_id=str(uuid.uuid5(_NAMESPACE, f"{affect.tenant}\0{affect.event_id}")),
            event_id=affect.event_id or "",
            tenant=affect.tenant,
            user_id=affect.user_id,
            session_id=affect.session_id,
            ts=affect.ts,
            task=step.view,
            cues=found.cues,
            constraints=step.constraints,
            confirmed_facts=step.confirmed_facts,
            profile=profile.lines(rows, affect.clearance),
            knowledge=rules_for(affect, self._rules.of(affect.tenant), task=step.view),
            abstained=found.abstained,
            debug_marker=found.debug_marker,
            pipeline_version=PIPELINE_VERSION,
        )
