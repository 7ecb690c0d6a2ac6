"""The sentence why, in the turn's language, strongest grounds first."""

from models.cues.cue_why import explain, telling

TERMS = {
    "relevance": 0.8,
    "emotion_match": 0.9,
    "time_proximity": 0.2,
    "severity": 1.0,
    "resolution_gap": 1.0,
    "commitment": 0.0,
}
WEIGHTS = {
    "relevance": 2.0,
    "emotion_match": 0.4,
    "time_proximity": 0.25,
    "severity": 0.2,
    "resolution_gap": 0.15,
    "commitment": 0.1,
}
ROADS = {"meaning": 2.0, "words": 3.0, "dates": 0.1, "complaints": 1.0}


def test_bigrams_that_follow_each_other_are_one_word_and_particles_none() -> None:
    assert telling(
        ["客服", "服态", "态度", "的订", "od-1"], {"客服": 1.0, "服态": 1.0, "态度": 1.0, "od-1": 3.0}.__getitem__
    ) == ["od-1", "客服态度"]


def test_the_strongest_roads_and_terms_are_named() -> None:
    said = explain("zh", TERMS, WEIGHTS, ROADS, ["客服态度"], "pending")
    assert said.startswith(
        "想起它，因为用词相同（客服态度），意思相近，情绪相近（0.90），事情严重（1.00），尚未解决（1.00）"
    )
    assert said.endswith("相关度 0.80。") and "时间" not in said


def test_english_turns_are_answered_in_english_and_a_settled_matter_is_called_so() -> None:
    said = explain("en", TERMS | {"resolution_gap": 0.1}, WEIGHTS, {"entities": 2.0}, [], "resolved")
    assert (
        said
        == "Recalled: about the same thing, matching emotion (0.90), severe (1.00), already resolved; relevance 0.80."
    )


def test_there_is_always_a_reason() -> None:
    assert (
        explain(None, dict.fromkeys(TERMS, 0.1), WEIGHTS, {}, [], "none")
        == "Recalled: bears on the turn; relevance 0.10."
    )
