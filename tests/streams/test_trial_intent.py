"""`cuestream try intent`: targets and ids through the task that the context runs."""

from __future__ import annotations

from typing import Any

import pytest

from streams.trials import Trial
from streams.trials.intent import build


@pytest.fixture(scope="module")
def trial() -> Trial:
    return build()


def ask(trial: Trial, text: str, *earlier: tuple[str, str]) -> dict[str, Any]:
    return trial({"id": 1, "text": text, "context": [{"speaker": who, "text": said} for who, said in earlier]})


def test_this_order_is_the_one_that_was_looked_up(trial: Trial) -> None:
    answer = ask(
        trial, "顺便帮我取消这个订单，重复下单了", ("customer", "帮我查一下订单 OD-88921 的物流"), ("agent", "已到杭州")
    )
    assert (answer["action"], answer["target"], answer["reason"]) == ("cancel", "current_order", "duplicate")
    assert [entity["id"] for entity in answer["entities"]] == ["OD-88921"]


def test_it_is_what_the_task_is_about(trial: Trial) -> None:
    answer = ask(trial, "Cancel it, I ordered twice", ("customer", "Where is order OD-4711?"))
    assert (answer["target"], [entity["id"] for entity in answer["entities"]]) == ("current_order", ["OD-4711"])


def test_nobody_said_an_id(trial: Trial) -> None:
    assert ask(trial, "Please cancel it.")["entities"] == []


@pytest.mark.parametrize("text", ["", "   ", "🙂", "x" * 5000])
def test_any_text_is_answered(trial: Trial, text: str) -> None:
    assert set(ask(trial, text)) == {"action", "target", "reason", "entities"}
