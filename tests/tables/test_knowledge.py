"""Rules in force: dates first, clearance, the narrowest that fits, the newest version."""

from datetime import datetime

from models.records import Rule
from tables.knowledge import rules_for
from tests.tables.people import turn


def rule(name: str, text: str, begins: str = "2025-01-01", ends: str | None = None, **more: object) -> Rule:
    moment = datetime.fromisoformat(f"{begins}T00:00:00+08:00")
    until = datetime.fromisoformat(f"{ends}T00:00:00+08:00") if ends else None
    return Rule(rule_id=name, text=text, effective_from=moment, effective_to=until, ts=moment, **more)  # type: ignore[arg-type]


def known(*rules: Rule) -> dict[str, Rule]:
    return {each.rule_id: each for each in rules}


def test_of_three_versions_only_the_one_in_force() -> None:
    rules = known(
        rule("w1", "家电保修一年。", "2024-01-01", "2025-01-01", category="warranty"),
        rule("w2", "家电保修两年。", "2025-01-01", "2026-03-05", category="warranty"),
        rule("w3", "家电保修三年。", "2026-03-05", category="warranty"),
    )
    assert rules_for(turn("家电的保修期是几年？", ts="2026-03-04T23:59:59+08:00"), rules) == ["家电保修两年。"]
    assert rules_for(turn("家电的保修期是几年？", ts="2026-03-05T00:00:00+08:00"), rules) == ["家电保修三年。"]


def test_overlapping_versions_leave_the_newest_and_what_it_supersedes_goes() -> None:
    rules = known(
        rule("a", "Returns are accepted within 7 days.", "2025-01-01", category="returns"),
        rule("b", "Returns are accepted within 30 days.", "2026-01-01", category="returns"),
        rule("c", "Refunds of returns go to the original card.", "2025-01-01", category="returns"),
    )
    found = rules_for(turn("How many days are returns accepted, and how are refunds paid?"), rules)
    assert "Returns are accepted within 30 days." in found and "Refunds of returns go to the original card." in found
    assert "Returns are accepted within 7 days." not in found
    named = known(
        rule("a", "旧版：可以退换。", category="r"),
        rule("b", "新版：不可以退换。", "2026-01-01", category="r", supersedes="a"),
    )
    assert rules_for(turn("可以退换吗"), named) == ["新版：不可以退换。"]


def test_a_narrower_rule_beats_the_general_one_only_where_it_fits() -> None:
    rules = known(
        rule("all", "大件订单三天内送达。", category="delivery"),
        rule("island", "大件订单送到海岛需要十天。", category="delivery", scope={"region": "海岛"}),
    )
    assert rules_for(turn("大件订单送到海岛要几天？"), rules) == ["大件订单送到海岛需要十天。"]
    assert rules_for(turn("大件订单要几天？"), rules) == ["大件订单三天内送达。"]


def test_clearance_and_nothing_near() -> None:
    rules = known(rule("x", "内部折扣底线是六折。", clearance=2))
    assert rules_for(turn("内部折扣底线是多少？"), rules) == []
    assert rules_for(turn("内部折扣底线是多少？", clearance=2), rules) == ["内部折扣底线是六折。"]
    assert rules_for(turn("今天心情不错", clearance=2), rules) == []
