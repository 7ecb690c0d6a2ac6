"""What an earlier turn offers as an antecedent."""

from models.context import Turn
from models.references.candidates import asked_kind, candidates, described, kind_of, same_head
from models.references.mentions import References

REFERENCES = References.load()


def fit(text: str, head: str, *turns: str):
    context = [Turn(text=t) for t in turns]
    return described(text, head, candidates(context, 0, REFERENCES))


def test_a_weak_description_is_bound_to_the_code_said_with_it() -> None:
    got = fit("那个红色的箱子", "箱子", "我要一个酒红的行李箱，货号 CS-310-RED。", "好的。")
    assert got is not None and got.text == "CS-310-RED"


def test_an_english_description_is_bound_by_colour_and_head() -> None:
    got = fit("the green kettle", "kettle", "I bought a green kettle and a red lamp.")
    assert got is not None and "green kettle" in got.text


def test_two_codes_that_fit_are_not_guessed_between() -> None:
    assert fit("那个红色的箱子", "箱子", "CS-310-RED 和 CS-311-RED 都是行李箱。") is None


def test_another_colour_does_not_fit() -> None:
    assert fit("那个绿色的箱子", "箱子", "我要一个酒红的行李箱，货号 CS-310-RED。") is None


def test_kinds_by_name_and_by_verb() -> None:
    assert kind_of("城西仓", REFERENCES) == "facility"
    assert kind_of("order 5521", REFERENCES) == "order"
    assert asked_kind(["昨天", "停业", "了"], REFERENCES) == "facility"
    assert asked_kind(["很", "好"], REFERENCES) is None


def test_heads() -> None:
    assert same_head("收纳盒", "盒子")
    assert not same_head("blue lamp", "box")
    assert same_head("the blue kettle", "kettle")
