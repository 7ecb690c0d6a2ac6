"""Word pieces of the reference network."""

from models.references.pieces import Pieces

SCORES = {
    "<s>": 0.0,
    "<pad>": 0.0,
    "</s>": 0.0,
    "<unk>": 0.0,
    "▁": -4.0,
    "▁un": -3.0,
    "do": -3.0,
    "▁undo": -5.0,
    "盒": -5.0,
    "子": -5.0,
    "盒子": -6.0,
}
NAMES = list(SCORES)


def cut(word: str) -> list[str]:
    return [NAMES[i] for i in Pieces(SCORES, 3).cut(word)]


def test_the_best_segmentation_wins() -> None:
    assert cut("undo") == ["▁undo"]
    assert cut("盒子") == ["盒子"]
    assert cut("盒盒") == ["盒", "盒"]


def test_unknown_characters_share_one_id_and_marks_are_whole() -> None:
    assert cut("ж") == ["▁", "<unk>"]
    assert cut("</s>") == ["</s>"]
