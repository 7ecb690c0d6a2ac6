"""Filter 2: what an utterance is meant to do (six intents) and what it carries (load, emotion) (A1 to A6).

One encoder pass feeds all heads. The net's answer is then put under the rules of ``affect_rules``. Emotions are
probabilities each of its own (several may hold); the label is the one that stands out most against its usual rate.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import cast

import numpy as np
from msgspec import Struct

from models import affect_rules as rules
from models.affect_cues import SHIPPED as CUES
from models.affect_cues import CueLexicon
from models.affect_features import TURN_CHARACTERS, Surface, SurfaceReader, hesitates
from models.affect_net import FINER, GROUPS, AffectNet, text_state
from models.affect_net import SHIPPED as WEIGHTS
from models.context import Turn
from models.encoder import Encoded, Encoder
from models.records import EMOTIONS, INTENTS, Emotion, EmotionLabel, Intent, IntentLabel, Load, Pause, Speaker

RULE_CONFIDENCE = 0.75
SERVICE_SHARE = 0.8
"""How much of an intent the service head decides where the gate is sure; the net decides the rest."""
KEPT_TURNS = 2048
"""Vectors of earlier turns that are kept, 1.5 KB each."""
_VAGUE_COST, _DOUBT_COST = 0.65, 0.75


class AffectReading(Struct, frozen=True, kw_only=True):
    """What filter 2 found in one utterance; the fields of affect/1. `raw_load` is the load before the role weighting."""

    intent: Intent
    load: Load
    emotion: Emotion
    commitment_strength: float
    confidence: float
    recurring: bool
    raw_load: Load


class AffectModel:
    """Heads, word lists and rules of filter 2; pure once loaded.

    Earlier turns are read through the same encoder. Their vectors are kept for a while, since a turn has just been read as an
    utterance itself; a reading is the same whether a vector was kept or made again.
    """

    def __init__(self, net: AffectNet, lexicon: CueLexicon, encoder: Encoder | None = None) -> None:
        self._net = net
        self._lexicon = lexicon
        self._surface = SurfaceReader(lexicon)
        self._encoder = encoder
        self._turns: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def load(
        cls, weights: str | Path = WEIGHTS, cues: str | Path = CUES, encoder: Encoder | None = None
    ) -> AffectModel:
        """The shipped model, or another pair of files; `encoder` is the one in use, else the shipped one is loaded when an earlier
        turn is first read. Raises ResourceError for a missing, cut or misshapen file."""
        lexicon = CueLexicon.load(cues)
        return cls(AffectNet.load(weights, surface_size=SurfaceReader(lexicon).size), lexicon, encoder)

    @property
    def encoder(self) -> str:
        """Name of the encoder that the heads were fitted on."""
        return self._net.encoder

    def read(
        self,
        encoded: Encoded,
        *,
        lang: str | None = None,
        speaker: Speaker,
        context: Sequence[Turn] = (),
        pauses: Sequence[Pause] = (),
    ) -> AffectReading:
        """The reading of one utterance said by `speaker` after `context` (oldest first), with its pauses.

        Raises RecordError(bad_vector) where `encoded` holds NaN or infinity.
        """
        surface = self._surface.read(encoded.text, speaker=speaker, context=context, pauses=pauses)
        other, own = (self._turn(text) if text else None for text in surface.turns)
        state = text_state(encoded)
        out = self._net.answer(self._net.layers(state, surface, other, own))
        if len(encoded.text) <= TURN_CHARACTERS:
            self._keep(encoded.text, state[0])
        intent, confidence = self._intent(encoded.text, out, surface, speaker, pauses)
        hedge = intent.corrected_by == "hedge"
        raw = _load(out["load"], surface, encoded.text, pauses, hedge=hedge)
        return AffectReading(
            intent=intent,
            load=rules.weigh(raw, speaker),
            emotion=self._emotion(out),
            commitment_strength=rules.commitment_strength(
                encoded.text, surface.cues, commits=intent.label == "commit", hedge=hedge
            ),
            confidence=confidence,
            recurring=rules.recurring(surface.cues),
            raw_load=raw,
        )

    def _turn(self, text: str) -> np.ndarray:
        found = self._turns.get(text)
        if found is None:
            self._encoder = self._encoder or Encoder.load()
            found = text_state(self._encoder.encode([text])[0])[0]
        self._keep(text, found)
        return found

    def _keep(self, text: str, state: np.ndarray) -> None:
        with self._lock:
            self._turns[text] = state
            self._turns.move_to_end(text)
            if len(self._turns) > KEPT_TURNS:
                self._turns.popitem(last=False)

    def _intent(
        self, text: str, logits: dict[str, np.ndarray], surface: Surface, speaker: Speaker, pauses: Sequence[Pause]
    ) -> tuple[Intent, float]:
        """The label after the rules, and the confidence: 0.5 to 1 by the label's probability, 0.3 for a hedge."""
        weights = self._net.weights
        probs = blended(logits, weights["temperature"], weights["intent_lift"])
        label = INTENTS[probs.index(max(probs))]
        named: dict[str, float] = {name: round(p, 4) for name, p in zip(INTENTS, probs, strict=True)}
        corrected: tuple[IntentLabel, str] | None = None
        if label in ("commit", "neutral", "request") and rules.hedged(text, surface.cues):
            corrected = "request", "hedge"
        elif label in ("neutral", "request", "refuse", "challenge") and rules.pledges(text, surface.cues):
            corrected = "commit", "pledge"
        elif label != "refuse" and self._refuses_by_delay(text, surface, speaker, pauses):
            corrected = "refuse", "deferral"
        if corrected is None:
            return Intent(label=label, probs=named), round(0.5 + 0.5 * named[label], 4)
        confidence = rules.HEDGED_CONFIDENCE if corrected[1] == "hedge" else RULE_CONFIDENCE
        return Intent(label=corrected[0], probs=named, corrected_by=corrected[1]), confidence

    def _refuses_by_delay(self, text: str, surface: Surface, speaker: Speaker, pauses: Sequence[Pause]) -> bool:
        """ "我再想想" to a proposal, from someone who decides or after a long silence (A5)."""
        if surface.earlier is None or not rules.defers(text, surface.cues):
            return False
        return rules.decides(speaker.title, self._lexicon) or hesitates(text, pauses)[0]

    def _emotion(self, out: dict[str, np.ndarray]) -> Emotion:
        weights = self._net.weights
        levels = sigmoid(out["intensity"])
        standing = (out["emotion"] / weights["temperature"][1] + weights["emotion_lift"]).tolist()
        group = GROUPS[standing.index(max(standing))]
        finer = dict(zip(FINER, sigmoid(out["finer"]), strict=True))
        probs = {}
        for name, level in zip(GROUPS, levels, strict=True):
            share = finer.get(name, 0.0)
            probs[name] = round(level * (1 - share), 4)
            if name in finer:
                probs[FINER[name]] = round(level * share, 4)
        label = FINER[group] if group in finer and finer[group] > 0.5 else group
        return Emotion(label=cast(EmotionLabel, label), probs={name: probs[name] for name in EMOTIONS})


def _load(logits: np.ndarray, surface: Surface, text: str, pauses: Sequence[Pause], *, hedge: bool) -> Load:
    """The four axes before the role weighting: the net's, with certainty lowered by open quantities and doubts.

    A long silence lowers certainty by a fifth and raises stress by a tenth of what is left to 1; before a "but" twice.
    """
    stress, certainty, urgency, cooperation = sigmoid(logits)
    certainty = 0.35 + 0.5 * certainty  # no Chinese set is labelled for it: half by the net, the rest by the words
    kinds = [cue.kind for cue in surface.cues]
    certainty *= _DOUBT_COST ** min(kinds.count("uncertain"), 4) * _VAGUE_COST ** min(kinds.count("vague"), 4)
    urgency = _pressed(urgency, surface)
    if hedge:
        certainty *= 0.5
    long, before_but = hesitates(text, pauses)
    for _ in range(int(long) + int(before_but)):
        certainty *= 0.8
        stress += 0.1 * (1 - stress)
    return Load(stress=stress, certainty=certainty, urgency=urgency, cooperation=cooperation)


def _pressed(urgency: float, surface: Surface) -> float:
    """Urgency with its words: each of up to two urgent ones takes it a third of the way to 1, an unhurried one halves it.

    "不着急" holds "着急", which does not count then.
    """
    calm = [cue for cue in surface.cues if cue.kind == "unhurried"]
    urgent = sum(
        cue.kind == "urgent" and not any(c.start <= cue.start and cue.end <= c.end for c in calm)
        for cue in surface.cues
    )
    for _ in range(min(urgent, 2)):
        urgency += (1 - urgency) / 3
    return urgency / 2 if calm else urgency


def blended(out: dict[str, np.ndarray], temperature: np.ndarray, lift: np.ndarray) -> list[float]:
    """Intent probabilities [6]: the service head's share grows with the gate, from nothing to SERVICE_SHARE.

    `lift` is what the net's rare labels are raised by; the service head was taught on all labels alike.
    """
    share = SERVICE_SHARE * sigmoid(out["gate"])[0]
    net, service = softmax((out["intent"] + lift) / temperature[0]), softmax(out["service"] / temperature[2])
    return [(1 - share) * a + share * b for a, b in zip(net, service, strict=True)]


def softmax(logits: np.ndarray) -> list[float]:
    """Probabilities of a few classes; plain numbers, since NumPy's calls cost more than the sums at this size."""
    plain = logits.tolist()
    highest = max(plain)
    raised = [math.exp(value - highest) for value in plain]
    total = sum(raised)
    return [value / total for value in raised]


def sigmoid(logits: np.ndarray) -> list[float]:
    """Probabilities each of its own."""
    return [1 / (1 + math.exp(-min(max(value, -30.0), 30.0))) for value in logits.tolist()]
