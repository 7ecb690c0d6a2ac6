"""Which noun of the same text a pronoun means."""

import numpy as np

from models.references.edit_net import lay_out
from models.references.mentions import References
from models.references.same_text import choose, is_person
from models.wording import split_words

REFERENCES = References.load()


def chosen(text: str, pronoun: str) -> str | None:
    layout = lay_out(text, "", [], 50)
    anaphor = next(a for a in REFERENCES.anaphors(text, split_words(text)) if a.text == pronoun)
    even = np.full(len(layout.keys) + 1, 1 / (len(layout.keys) + 1))
    named = choose(anaphor, text, layout, even, REFERENCES)
    return text[named.start : named.end] if named else None


def test_a_thing_is_not_a_person_and_the_reverse() -> None:
    assert chosen("姑娘抱着一只花猫，它睡着了。", "它") == "花猫"
    assert chosen("医生打开了窗户，他有点累。", "他") == "医生"


def test_sex_is_agreed_with() -> None:
    assert chosen("小伙子遇到了一位老奶奶，她迷路了。", "她") == "老奶奶"


def test_nothing_to_mean() -> None:
    assert chosen("他累了。", "他") is None


def test_people_by_ending() -> None:
    assert is_person("老师", REFERENCES) and not is_person("扫地机器人", REFERENCES)
