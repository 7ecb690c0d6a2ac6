"""Where an utterance refers, and the question rule."""

import pytest

from models.errors import ResourceError
from models.references.mentions import References
from models.wording import split_words

REFERENCES = References.load()


def found(text: str) -> list[tuple[str, str, str]]:
    return [(a.text, a.kind, a.head) for a in REFERENCES.anaphors(text, split_words(text))]


def test_pronouns_and_described_things() -> None:
    assert found("那个红色的箱子还在吗？")[0] == ("那个红色的箱子", "description", "箱子")
    assert ("it", "thing", "it") in found("When does it close?")
    assert found("Is the green kettle still in stock?")[0][0] == "the green kettle"


def test_speakers_are_not_anaphors() -> None:
    assert found("我觉得你说得对") == []
    assert found("I think you are right") == []


def test_the_conjunction_that_is_not_a_pronoun() -> None:
    assert found("I think that the service was good") == []


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("请问她确认过合同条款了吗？", "她"),
        ("他们咨询过法务吗", "他们"),
        ("Did he ask about the refund?", "he"),
        ("Has she confirmed it yet?", "she"),
    ],
)
def test_subject_of_a_question_about_asking_is_a_questioner(text: str, subject: str) -> None:
    words = split_words(text)
    assert [words[a].text for a, _ in REFERENCES.questioners(text, words)] == [subject]


@pytest.mark.parametrize(
    "text", ["他确认过合同了。", "你能确认一下吗？", "请问几点开门？", "Can you confirm my booking?", "她喜欢吗？"]
)
def test_other_sentences_have_no_questioner(text: str) -> None:
    assert REFERENCES.questioners(text, split_words(text)) == []


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("It is snowing in Oslo.", True),
        ("It is important to rest.", True),
        ("It is late.", False),
        ("It broke again.", False),
        ("Is it good?", False),
    ],
)
def test_pleonastic_it(text: str, empty: bool) -> None:
    words = split_words(text)
    at = next(i for i, w in enumerate(words) if w.key == "it")
    assert REFERENCES.pleonastic(words, at) is empty


def test_window_grows_where_the_text_points_back() -> None:
    assert REFERENCES.reach("它到了吗") == 50
    assert REFERENCES.reach("刚才说的那个到了吗") == 80
    assert REFERENCES.reach("the one you mentioned earlier") == 80


def test_formulas() -> None:
    assert REFERENCES.is_stock(split_words("好的，谢谢！"))
    assert not REFERENCES.is_stock(split_words("好的，退款呢？"))


def test_a_bad_list_is_named(tmp_path) -> None:
    bad = tmp_path / "references.toml"
    bad.write_text("[pronouns\n", encoding="utf-8")
    with pytest.raises(ResourceError, match="references.toml"):
        References.load(bad)
