"""Weak descriptions are bound by colour and kind, and only to one thing."""

from __future__ import annotations

from models.references.descriptions import Candidate, bind, describe, fit

BLUE = Candidate("TB-30-BLU", ("买了一个天蓝的保温杯", "TB-30-BLU"))
RED = Candidate("TB-30-RED", ("还有一个酒红的保温杯", "TB-30-RED"))


def test_shades_and_names_meet() -> None:
    assert describe("那个蓝色的盒子") == describe("深空蓝的收纳盒")
    assert fit(describe("the navy backpack"), describe("一个藏青的双肩包")) == 1.0


def test_the_colour_in_a_stock_code_counts() -> None:
    assert describe("BX-200-BLUE").colours == {"blue"}


def test_binds_to_the_one_that_fits() -> None:
    assert bind("那个蓝色的杯子", [BLUE, RED]) == ("TB-30-BLU", 1.0)
    assert bind("the red cup", [BLUE, RED]) == ("TB-30-RED", 1.0)


def test_does_not_choose_between_equals() -> None:
    assert bind("那个杯子", [BLUE, RED]) is None


def test_a_contradiction_never_binds() -> None:
    assert bind("那个绿色的杯子", [BLUE, RED]) is None
    assert bind("那把蓝色的椅子", [BLUE]) is None


def test_says_nothing_binds_nothing() -> None:
    assert bind("那个东西", [BLUE]) is None
