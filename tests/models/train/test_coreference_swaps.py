"""Copies of a dialogue about other things."""

import random

from models.train.coreference_data import rewriting
from models.train.coreference_swaps import swapped, swapped_case

CASE = {
    "text": "How about Thai food there?", "speaker": "customer",
    "context": [
        {"speaker": "customer", "text": "Is there an Italian restaurant in the south part of town?"},
        {"speaker": "agent", "text": "No, there is no italian restaurant in the south."},
    ],
}  # fmt: skip


def test_a_name_becomes_the_same_other_name_everywhere() -> None:
    first, second = swapped(["Is there an Italian place?", "no italian place"], random.Random(3), False)
    name = first.removeprefix("Is there ").removesuffix(" place?").split(" ", 1)[1]
    assert name != "Italian" and second == f"no {name.lower()} place"
    assert first.split()[2] == ("an" if name[0] in "AEIOU" else "a")


def test_a_swapped_case_is_still_a_case() -> None:
    record, rewrites = swapped_case(CASE, ["How about Thai food in the south part of town?"], random.Random(1), False)
    assert record["text"] != CASE["text"] and len(record["context"]) == 2
    example = rewriting(record, rewrites, "test", 60)
    assert example is not None and example.edits


def test_the_same_seed_gives_the_same_names() -> None:
    texts = ["我想去成都吃火锅", "成都的火锅好吃"]
    assert swapped(texts, random.Random(5), True) == swapped(texts, random.Random(5), True) != texts
