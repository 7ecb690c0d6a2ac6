"""Filter 3: entropy, terms, authority, hypotheses, merging within bounds, hard input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoder import Encoded, Heads
from models.entropy import Lexicons, Segment, segment, statement_spans
from models.errors import ResourceError
from models.records import Pause
from models.units.segmenting import MAX_TOKENS, group
from models.units.surprise import EntropyTable, Scale, spreads, vector_distances, word_distances
from models.units.token_count import count_tokens

EXAMPLE = "好的收到！关于接口文档，麻烦补充下错误码说明，另外测试账号权限我们已开通，谢谢！"


def worth(text: str, encoded: Encoded | None = None) -> list[Segment]:
    return [s for s in segment(text, encoded) if not s.small_talk]


def said(text: str) -> list[str]:
    return [text[s.start : s.end] for s in worth(text)]


def encoded_as(text: str, value: float) -> Encoded:
    """A reading whose states are all `value`."""
    size = 8
    states = np.full((len(text), size), value, np.float32)
    offsets = np.array([(i, i + 1) for i in range(len(text))], np.int32)
    zero = np.zeros((size, size), np.float32)
    heads = Heads(zero, zero[0], zero, zero[0])
    return Encoded(text, offsets, states, states[0], states[0], states[0], heads)


def test_the_sources_example() -> None:
    request, status = worth(EXAMPLE)
    assert (request.type, status.type) == ("action_request", "status_update")
    assert "错误码" in EXAMPLE[request.start : request.end]
    assert "开通" in EXAMPLE[status.start : status.end]
    assert request.entropy > 0.6
    assert status.entropy < 0.3


def test_greeting_and_thanks_are_small_talk() -> None:
    found = segment(EXAMPLE)
    assert [s.small_talk for s in found] == [True, False, False, True]
    assert all(s.entropy < 0.15 for s in found if s.small_talk)


def test_a_short_clause_with_a_term_is_no_surprise() -> None:
    assert worth("TCP三次握手")[0].entropy == 0.1
    assert worth("It uses OAuth2.")[0].entropy == 0.1
    assert worth("他们昨晚把整个订单系统从旧机房搬到了新机房，用的是 gRPC 通信协议而且没有通知任何人")[0].entropy != 0.1


def test_authority_is_flagged_and_keeps_its_backer() -> None:
    text = "请务必在5月20日前完成，这是老板亲自交代的"
    (only,) = worth(text)
    assert only.priority_flag
    assert only.entropy == 0.5
    assert text[only.start : only.end] == text


def test_authority_clauses_are_never_merged_with_others() -> None:
    text = "仓库那边说货齐了，总监要求今天必须发出，运费我们来付。"
    flagged = [text[s.start : s.end] for s in worth(text) if s.priority_flag]
    assert flagged == ["总监要求今天必须发出"]
    english = "The venue is booked. The CEO wants the numbers by noon. Lunch is at one."
    assert [english[s.start : s.end] for s in worth(english) if s.priority_flag] == [
        "The CEO wants the numbers by noon."
    ]


def test_authority_beats_a_term() -> None:
    (only,) = worth("CEO 要看 API 的 QPS")
    assert (only.entropy, only.priority_flag) == (0.5, True)


def test_parallel_hypotheses_stay_side_by_side() -> None:
    text = "页面打不开的原因，一种可能是证书过期，另一种可能是域名没解析。"
    (only,) = worth(text)
    assert only.type == "hypothesis"
    assert "证书过期" in text[only.start : only.end]
    assert "域名没解析" in text[only.start : only.end]


def test_a_hold_is_a_decision() -> None:
    assert worth("先别急着付款，等样品到了再说。")[0].type == "decision"
    meeting = "张工说首页打开慢，李经理问是不是磁盘满了，王总监插话说先别急，我让运维看下日志。"
    kinds = {meeting[s.start : s.end]: s.type for s in worth(meeting)}
    assert kinds["王总监插话说先别急"] == "decision"
    assert len(kinds) == 4


def test_an_act_parts_from_another_act() -> None:
    assert len(said("帮我退掉那双鞋，你们的包装太差了。")) == 2
    assert len(said("以后发票都开电子版，抬头写公司全称。")) == 1


def test_a_condition_stays_with_its_consequence() -> None:
    assert len(said("如果下雨，活动就改到室内。")) == 1
    assert len(said("If it rains, we will move the party indoors.")) == 1


def test_who_demands_stays_with_what_is_demanded() -> None:
    for text in ("CEO要求务必在月底前完成", "王总强调，合同必须先审", "My boss said that we need it by Friday"):
        assert said(text) == [text]


def test_words_of_a_new_topic_part_speech_without_marks() -> None:
    assert said("我昨天下的单还没发货另外发票也开错了") == ["我昨天下的单还没发货", "另外发票也开错了"]
    assert said("房间已经订好了对了顺便帮我叫辆车")[0] == "房间已经订好了"


def test_what_is_kept_by_itself_is_not_merged_with_another_kind() -> None:
    assert "预算不超过五万" in said("我住在苏州，预算不超过五万")
    assert len(said("我叫周敏，我是护士")) == 1


def test_a_list_number_stays_with_its_item() -> None:
    assert said("1. Charge the battery. 2. Press the red button.")[0].startswith("1. Charge")


def test_a_long_pause_parts_speech() -> None:
    text = "我们下周二肯定能给到初版不过测试环境还在搭"
    at = text.index("不过")
    assert len(segment(text)) == 1
    assert len(segment(text, pauses=[Pause(at=at, ms=1300)])) == 2


def test_nan_and_zero_vectors_give_a_defined_answer() -> None:
    plain = segment(EXAMPLE)
    assert segment(EXAMPLE, encoded_as(EXAMPLE, float("nan"))) == plain
    assert [s.start for s in segment(EXAMPLE, encoded_as(EXAMPLE, 0.0))] == [s.start for s in plain]


def test_one_character_and_none() -> None:
    assert segment("") == segment(" \n") == []
    assert len(segment("嗯")) == 1
    assert segment("嗯")[0].small_talk
    assert len(segment("。。。")) == 1


def test_no_clauses_make_no_statements_and_no_units() -> None:
    assert statement_spans("", []) == []
    assert group([]) == []
    assert word_distances([]).tolist() == []


def test_three_hundred_clauses_stay_within_bounds() -> None:
    text = "".join(f"第{i}箱装了苹果，" for i in range(300))
    found = segment(text)
    assert len(found) > 20
    assert sum(len(s.clauses) for s in found) >= 300
    assert all(count_tokens(text[s.start : s.end]) <= MAX_TOKENS for s in found)


def test_same_input_same_answer() -> None:
    assert segment(EXAMPLE) == segment(EXAMPLE)


def _bare(text: str) -> str:
    return "".join(ch for ch in text if not ch.isspace() and ch not in "，,；：、")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="我你请把的了吗。，,. aBc1\n“？；老板CEO必须", max_size=90))
def test_segments_cover_the_text(text: str) -> None:
    found = segment(text)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert _bare("".join(text[s.start : s.end] for s in found)) == _bare(text)
    assert all(0.0 <= s.entropy <= 1.0 and s.clauses for s in found)


def test_spread_is_the_mean_square_about_the_smooth_distance() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    distances = vector_distances(vectors)
    assert distances is not None
    assert distances.tolist() == [0.0, 1.0]
    assert spreads(distances, Scale(0.2, 0.0, 1.0)) == [0.0, 0.32, 0.64]
    assert spreads(np.zeros(0), Scale(0.2, 0.0, 1.0)) == [None]


def test_unusable_vectors() -> None:
    assert vector_distances(np.array([[np.nan, 1], [1, 0]], np.float32)) is None
    assert vector_distances(np.array([[np.inf, 1], [1, 0]], np.float32)) is None
    assert vector_distances(np.zeros((2, 4), np.float32)) is None
    assert len(word_distances([])) == 0


def test_word_lists_are_checked(tmp_path: Path) -> None:
    bad = tmp_path / "authority.toml"
    bad.write_text("words = 3\nbacking = '''x'''\n", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"authority\.toml"):
        Lexicons.load(authority=bad)
    bad.write_text("words = [\"\", \"太后\", \"太后\"]\nbacking = '''^这是'''\n", encoding="utf-8")
    lists = Lexicons.load(authority=bad)
    assert segment("太后有旨", lexicons=lists)[0].priority_flag
    assert not segment("老板有话", lexicons=lists)[0].priority_flag
    table = tmp_path / "entropy.toml"
    table.write_text("[base]\nbias = 1\n", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"entropy\.toml"):
        EntropyTable.load(table)
