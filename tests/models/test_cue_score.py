"""The cue score against the source's formula, by hand."""

from pathlib import Path

import numpy as np
import pytest

from models.cues import cue_score
from models.cues.cue_score import TERMS, load_weights
from models.errors import ResourceError
from models.records import EMOTIONS, Emotion


def vector(**probs: float) -> np.ndarray:
    label = max(probs, key=lambda name: probs[name])
    return cue_score.emotion_vector(Emotion(label=label, probs=probs))  # type: ignore[arg-type]


def test_time_proximity_is_the_compressed_inverse() -> None:
    assert cue_score.time_proximity(np.array([0.0])).item() == 1.0
    assert cue_score.time_proximity(np.array([np.e - 1])).item() == pytest.approx(0.5)
    assert cue_score.time_proximity(np.array([-5.0])).item() == 1.0


def test_resolution_gap_decays_to_its_floor() -> None:
    pending = np.array([True, False, False, False])
    resolved = np.array([np.inf, 0.0, 84.0, 10_000.0])
    assert cue_score.resolution_gap(pending, resolved) == pytest.approx([1.0, 1.0, 0.5, 0.1])


def test_like_emotions_match_more_than_unlike_ones() -> None:
    units = np.stack([vector(anger=0.9, calm=0.1), vector(joy=1.0), vector(disappointment=1.0)])
    angry, happy, disappointed = cue_score.emotion_match(vector(frustration=0.8, anger=0.2), units)
    assert angry > disappointed > happy


def test_nearness_is_symmetric_and_whole() -> None:
    table = cue_score.emotion_nearness()
    assert table.shape == (len(EMOTIONS), len(EMOTIONS))
    assert np.allclose(table, table.T)
    assert np.allclose(np.diag(table), 1.0)


def test_score_is_the_weighted_mean_of_the_terms() -> None:
    weights = cue_score.turn_weights(load_weights().cue, pressing=1.0, emotion=1.0)
    assert dict(zip(TERMS, weights, strict=True))["emotion_match"] == 0.4
    ones = np.ones((1, len(TERMS)))
    assert cue_score.strength(ones, weights).item() == pytest.approx(1.0)
    row = np.array([[0.5, 0.9, 0.2, 1.0, 1.0, 0.0]])
    assert cue_score.strength(row, weights).item() == pytest.approx(float((row[0] * weights).sum() / weights.sum()))


def test_a_pressing_turn_lets_the_causal_terms_decide() -> None:
    plain = cue_score.turn_weights(load_weights().cue, pressing=0.0, emotion=1.0)
    pressing = cue_score.turn_weights(load_weights().cue, pressing=1.0, emotion=1.0)
    rows = np.array([[0.8, 0.2, 0.1, 0.3, 0.0, 0.0], [0.65, 0.9, 0.2, 1.0, 1.0, 0.0]])
    assert cue_score.strength(rows, plain).argmax() == 0
    assert cue_score.strength(rows, pressing).argmax() == 1


def test_marker_as_the_administrator_knows_it() -> None:
    assert cue_score.debug_marker("CUE-7891", 0.8712) == "[DEBUG:cue=CUE-7891,css=0.87]"


def test_a_bad_weights_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[cue]\nemotion_match = 'much'\n", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"mine\.toml"):
        load_weights(path)
