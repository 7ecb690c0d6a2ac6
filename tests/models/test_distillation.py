"""Distillation: what goes, what must stay, the limit, grounding."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.distillation import measure_excerpts, rouge_l
from models.records import Entity
from models.units.distillation import MAX_TOKENS, distil
from models.units.token_count import count_tokens


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("您好，麻烦您帮我查一下运单 SF-9981 的位置，谢谢！", "查一下运单 SF-9981 的位置"),
        ("嗯，那个，我下周三不在上海。", "我下周三不在上海"),
        ("Hi, could you please send the label to my work address? Thanks!", "send the label to my work address?"),
        ("我每年秋天都去香山看红叶。", "我每年秋天都去香山看红叶"),
        ("请务必在8月9日前完成，这是总监亲自交代的", "请务必在8月9日前完成，这是总监亲自交代的"),
        ("请你们务必重视这件事", "你们务必重视这件事"),
        ("麻烦你们尽快补发发票", "尽快补发发票"),
    ],
)
def test_politeness_goes_the_rest_stays(text: str, summary: str) -> None:
    assert distil(text) == summary


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("好的，价格我不接受，除非降到3,500元以内，周五前给我答复，谢谢", ["不接受", "除非", "3,500元", "周五"]),
        (
            "I will not pay 1,200 dollars unless Anna approves it before May 3",
            ["not", "1,200", "unless", "Anna", "May 3"],
        ),
        ("如果明天下雨就别来了，老板说的", ["如果", "明天", "别来", "老板"]),
    ],
)
def test_numbers_dates_negations_conditions_backers_stay(text: str, kept: list[str]) -> None:
    summary = distil(text)
    assert all(word in summary for word in kept)


def test_a_long_unit_keeps_what_must_stay() -> None:
    filler = "这边的同事都觉得整体的感觉还算是比较顺利的，" * 6
    text = filler + "合同金额是48,000元，" + "大家聊得也很开心，" * 3 + "但是3月9日之前不能开工。"
    summary = distil(text)
    assert count_tokens(summary) <= MAX_TOKENS
    assert "48,000元" in summary
    assert "3月9日之前不能开工" in summary


def test_named_entities_stay() -> None:
    text = "大家都很热情地招待了我们，" * 5 + "接待的人是欧阳娜娜。"
    name = Entity(id="欧阳娜娜", type="person", text="欧阳娜娜", start=0, end=4)
    assert "欧阳娜娜" in distil(text, entities=[name])


def test_the_resolved_text_is_the_source() -> None:
    assert distil("它停工了", "东莞仓停工了") == "东莞仓停工了"


@pytest.mark.parametrize(
    "text", ["谢谢！", "ok", "🙂", "在吗？", "a" * 3000, "的" * 3000, "9" * 3000, "，" * 50, "word " * 300]
)
def test_hard_texts(text: str) -> None:
    begun = time.process_time()
    summary = distil(text)
    assert summary
    assert count_tokens(summary) <= MAX_TOKENS
    assert time.process_time() - begun < 0.5


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([
    "您好，", "麻烦", "我不去", "3月5日", "苏州", "，", "。", "如果", "please ", "send ", "the box ", "not ", "42 ", "谢谢", "嗯", "boss ",
]), min_size=1, max_size=25))  # fmt: skip
def test_every_word_is_from_the_source_in_order(words: list[str]) -> None:
    text = "".join(words)
    summary = distil(text)
    at = 0
    for piece in re.findall(r"[^\W\d_]|\d+", summary):
        at = text.index(piece, at) + len(piece)
    assert count_tokens(summary) <= MAX_TOKENS


def test_chinese_stays_chinese() -> None:
    summary = distil("您好，我每周五都去婺源写生，谢谢", lang="zh")
    assert not re.search("[A-Za-z]", summary)


@pytest.mark.parametrize(
    "text",
    ["确定最终金额", "大概3~5天到货", "Do you know the number?", "What kind of dog is it?", "麻烦事太多了", "请假三天", "It cost $1,000.50"],
)  # fmt: skip
def test_words_that_only_look_like_fillers_stay(text: str) -> None:
    assert distil(text) == text


def test_summaries_come_close_to_those_written_by_hand() -> None:
    path = Path(__file__).parent.parent / "data" / "summaries.jsonl"
    lines = [json.loads(line) for line in path.open(encoding="utf-8")]
    scores = [rouge_l(distil(line["text"]), line["summary"]) for line in lines]
    assert sum(scores) / len(scores) >= 0.82
    assert min(scores) >= 0.6
    assert all(count_tokens(distil(line["text"])) <= MAX_TOKENS for line in lines)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_calls_and_meetings_lose_nothing_that_counts(lang: str) -> None:
    found = measure_excerpts(lang, None)
    assert found["excerpts"] >= 12
    assert found["lost"] == 0
    assert found["longest_summary"] <= MAX_TOKENS
    assert found["cue_tokens"] <= 120
    assert found["whole_rouge_l"] >= 0.18


def test_a_condition_keeps_what_hangs_on_it() -> None:
    text = "大家都说这个地方的风景特别漂亮，" * 4 + "如果周五还没有修好，就直接退货，" + "我们在那边玩得很高兴，" * 3
    assert "如果周五还没有修好，就直接退货" in distil(text)
    english = (
        "Everybody was very pleased with the weather there, " * 6 + "if it isn't fixed by Friday, cancel the order."
    )
    assert "if it isn't fixed by Friday, cancel the order" in distil(english)


@pytest.mark.parametrize(
    ("text", "kept"),
    [("If anyone merges after that, no.", "no"), ("No, it is 31 Alder Close.", "No"), ("周六可以吗？不行。", "不行")],
)
def test_an_answer_of_no_stays(text: str, kept: str) -> None:
    assert kept in distil(text)
