"""The gate in front of the reference network."""

import numpy as np

from models.references.edit_net import lay_out
from models.references.gate import BUCKETS, ReferenceGate, buckets

BEFORE = [{"speaker": "a", "text": "你看过平凡的世界吗"}]


def test_an_untrained_gate_is_open() -> None:
    gate = ReferenceGate(np.zeros(BUCKETS, np.float32), 0.0, 0.0)
    assert gate.opens(lay_out("我没看过", "c", BEFORE, 50))


def test_features_depend_on_the_turn_before() -> None:
    alone, after = lay_out("没看过", "c", [], 50), lay_out("没看过", "c", BEFORE, 50)
    assert buckets(alone) != buckets(after)
    assert buckets(after) == buckets(lay_out("没看过", "c", BEFORE, 50))
    assert all(0 <= b < BUCKETS for b in buckets(after))


def test_the_threshold_decides() -> None:
    layout = lay_out("没看过", "c", BEFORE, 50)
    weights = np.zeros(BUCKETS, np.float32)
    weights[buckets(layout)[0]] = 2.0
    assert ReferenceGate(weights, 0.0, 0.8).opens(layout)
    assert not ReferenceGate(weights, 0.0, 0.9).opens(layout)


def test_an_empty_text_is_taken() -> None:
    assert 0 <= ReferenceGate(np.ones(BUCKETS, np.float32), 0.0, 0.5).probability(lay_out("", "c", [], 50)) <= 1
