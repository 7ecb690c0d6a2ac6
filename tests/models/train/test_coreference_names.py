"""Texts about other people, with their spans moved along."""

import random
from typing import Any

from models.train.coreference_data import pointing
from models.train.coreference_names import moved, names_by_sex, renamed

TEXT = "Ruth Adler met Clara when her husband left. She told her about it."
RECORD: dict[str, Any] = {
    "text": TEXT,
    "mentions": [{"start": 44, "end": 47, "text": "She", "antecedent": {"turn": -1, "start": 0, "end": 10, "text": "Ruth Adler"}}],
    "candidates": [{"start": 0, "end": 10, "text": "Ruth Adler", "coref": True}, {"start": 15, "end": 20, "text": "Clara", "coref": False}],
}  # fmt: skip
NAMES = {"she": (["Ida", "Nora", "Vera"], ["Stone", "Wells"]), "he": (["Hugo", "Otto", "Karl"], ["Brandt", "Weber"])}


def said(record: dict[str, Any], span: dict[str, Any]) -> str:
    return str(record["text"][span["start"] : span["end"]])


def test_spans_follow_the_new_names() -> None:
    made = renamed(RECORD, NAMES, random.Random(3), False)
    first, second = (said(made, c) for c in made["candidates"])
    assert first.split()[0] in NAMES["she"][0] and first.split()[1] in NAMES["she"][1] and second in NAMES["she"][0]
    assert first.split()[0] != second and said(made, made["mentions"][0]) == "She"
    assert said(made, made["mentions"][0]["antecedent"]) == first


def test_the_other_sex_changes_pronouns_and_nouns() -> None:
    made = renamed(RECORD, NAMES, random.Random(3), True)
    assert " when his wife left. He told him about it." in made["text"]
    assert said(made, made["candidates"][1]) in NAMES["he"][0]


def test_names_come_from_those_whom_pronouns_mean() -> None:
    assert names_by_sex([RECORD]) == {"he": ([], []), "she": (["Ruth"], ["Adler"])}


def test_marks_left_out_move_spans() -> None:
    record = {"text": "老周，走了。他累。", "context": [], "mentions": [{"start": 6, "end": 7, "antecedent": None}]}
    made = moved(record, lambda text: text.replace("，", "").replace("。", ""))
    assert said(made, made["mentions"][0]) == "他"


def test_neither_candidate_is_wrong_and_nothing_else_is() -> None:
    record = {
        **RECORD,
        "mentions": [{"start": 44, "end": 47}],
        "candidates": [{**c, "coref": False} for c in RECORD["candidates"]],
    }
    example = pointing(record, "test", 50)
    assert example is not None
    point = example.pointings[0]
    assert point.right == [] and [example.layout.surfaces[p] for p in point.wrong] == ["Ruth", "Adler", "Clara"]
