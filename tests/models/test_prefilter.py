"""The prefilter never rules out an expression that would match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.prefilter import MAX_TEXT, Named, Prefilter, factors_of
from models.tasks.intents import _lexicon
from models.units import claims, corrections, validity
from models.units.unit_types import Cues

SOURCES = [
    "refunds?|退(?:货|款)", r"\bno(?:t|pe)?\b", "(?:a|b?)c+", r"\d{2,}元", "(?P<x>您|你)[^，]{0,4}(?:好|行)", "(?:的)?吗$", "[^a]z", "x{0,2}y", "(?<!不)要(?!不)",
    "ſ|K", "(?:(?:k|s)i)+", "一{2,3}", "(?!)",
]  # fmt: skip
PATTERNS = [re.compile(source, re.IGNORECASE) for source in SOURCES] + [re.compile(source) for source in SOURCES]
PIECES = st.sampled_from([*"refunds退货款noptabckiſKİz你您好行的吗不要一xy12元 ，", "REFUND", "Not", "12元", "要不要"])


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_what_matches_is_possible(text: str) -> None:
    possible = set(Prefilter(PATTERNS).possible(text))
    assert {number for number, pattern in enumerate(PATTERNS) if pattern.search(text)} <= possible


@pytest.mark.parametrize(
    "text",
    [
        "麻烦补充下错误码说明，另外测试账号权限我们已开通", "不是周三，是周四，麻烦改一下。", "I prefer window seats every Friday, not Monday", "",
        "It IS fixed now; we MOVED it to Monday", "每个工作日都要，还没处理", "嗯", "\u212aeep in touch, don't", "已经退款了吗？", "x" * (MAX_TEXT + 1) + "退款",
    ],
)  # fmt: skip
def test_shipped_expressions(text: str) -> None:
    cues = Cues.load()
    sets = [
        corrections._patterns(), claims._patterns(), dict(claims._milestones()), dict(validity._COMPILED),
        {f"zh {name}": pattern for name, pattern in cues._chinese}, {f"en {name}": pattern for name, pattern in cues._english},
        {name: getattr(_lexicon(), name) for name in ("action_words", "target_words", "reason_words", "marker_words", "this_words", "want_words")},
    ]  # fmt: skip
    for patterns in sets:
        found = {name for name, pattern in patterns.items() if pattern.search(text)}
        assert found <= Named(patterns).possible(text)


def test_most_expressions_are_ruled_out() -> None:
    cues = Cues.load()
    assert len(cues._may_chinese.possible("麻烦补充下错误码说明")) < len(cues._chinese) / 4


def test_factors() -> None:
    assert factors_of(re.compile("(?:ab|cd)e?")) == {"ab", "cd", "abe", "cde"}
    assert factors_of(re.compile(".*")) is None
    assert factors_of(re.compile("a?b?")) is None
