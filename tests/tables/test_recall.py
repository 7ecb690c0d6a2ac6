"""Recall on small memories: what comes first, what stays silent, what may never be seen."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from models.cues.cue_mlp import INPUTS, CueMlp
from models.records import Affect, Emotion, Entity, Slot, Speaker, TaskView, TimeExpression, Unit, Validity
from tables.person_index import PersonIndex
from tables.recall import Recall, RecallSettings, recall, wanted
from tests.tables.people import DIMENSION, entity, toy_vector, toy_weights, turn, unit

DISAPPOINTED = Emotion(label="disappointment", probs={"disappointment": 0.8, "calm": 0.2})
ANGRY = Emotion(label="anger", probs={"anger": 0.8, "frustration": 0.2})


def memory(units: Sequence[Unit], like: dict[str, str] | None = None) -> PersonIndex:
    index = PersonIndex(DIMENSION)
    for slot, made in enumerate(units):
        index.add(slot, made, toy_vector(made.summary, (like or {}).get(made.source_event_ids[0], "")))
    return index


def ask(index: PersonIndex, said: Affect, like: str = "", max_cues: int = 3, **more: Any) -> Recall:
    task = more.pop("task", TaskView())
    return recall(
        said,
        toy_vector(said.resolved_text, like),
        index,
        task=task,
        settings=RecallSettings(max_cues=max_cues, weights=toy_weights()),
        **more,
    )


def events(found: Recall) -> list[str]:
    return [cue.source_event_ids[0] for cue in found.cues]


def test_the_identifier_and_not_its_neighbour() -> None:
    index = memory([unit("导出报错 ERR_5120_AB", "a"), unit("导出报错 ERR_5121_AB", "b"), unit("中午吃了面条", "c")])
    assert events(ask(index, turn("ERR_5121_AB 怎么办")))[0] == "b"


def test_spreading_over_two_shared_entities() -> None:
    index = memory(
        [
            unit("订单 QD-7 由佛山仓发出", "a", entities=[entity("QD-7"), entity("佛山仓")]),
            unit("佛山仓因暴雨暂停作业", "b", "2026-03-02T10:00:00+08:00", entities=[entity("佛山仓")], session="x"),
            unit("昨天的电影不错", "c", "2026-03-02T11:00:00+08:00", session="y"),
        ]
    )
    found = ask(index, turn("QD-7 为什么没动静", entities=[entity("QD-7")]))
    assert sorted(events(found)[:2]) == ["a", "b"]


def test_the_task_supplies_the_entity_that_the_turn_leaves_out() -> None:
    index = memory([unit("QD-8 选了货到付款", "a", entities=[entity("QD-8")]), unit("喜欢靠窗的座位", "b")])
    task = TaskView(task_id="T", continues="deepen", critical_entities={"order_id": "qd-8"})
    assert events(ask(index, turn("那怎么付？"), task=task))[:1] == ["a"]


def test_an_open_complaint_outranks_a_settled_matter_when_trouble_returns() -> None:
    settled = unit("上个月把发票改好了", "a", "2026-02-08T10:00:00+08:00", resolution_status="resolved")
    waiting = unit(
        "投诉客服态度差，没人处理", "b", "2026-03-02T10:00:00+08:00", type="complaint", severity="high",
        resolution_status="pending", emotion=ANGRY,
    )  # fmt: skip
    now = turn("客服态度又是同样的问题，太失望了", emotion=DISAPPOINTED, recurring=True)
    found = ask(memory([settled, waiting]), now, like="投诉客服态度差")
    assert events(found)[0] == "b"
    cue = found.cues[0]
    assert cue.terms["resolution_gap"] == 1.0 and cue.terms["severity"] == 1.0
    assert cue.weights["severity"] == 0.2 and cue.weights["resolution_gap"] == 0.15
    assert cue.why.startswith("想起它") and "尚未解决" in cue.why
    assert found.debug_marker == f"[DEBUG:cue={cue.unit_id},css={cue.score:.2f}]"


def test_score_can_be_recomputed_from_terms_and_weights() -> None:
    found = ask(memory([unit("The lamp of order L-3 is broken", "a")]), turn("What about order L-3?"))
    cue = found.cues[0]
    total = sum(cue.weights.values())
    assert cue.score == pytest.approx(sum(cue.terms[n] * w for n, w in cue.weights.items()) / total, abs=2e-3)
    assert cue.why.startswith("Recalled") and "l-3" in cue.why


def test_you_promised_finds_the_promise_though_no_word_is_shared() -> None:
    promise = unit(
        "We will definitely repair the boiler by Friday",
        "a",
        speaker=Speaker(role="agent"),
        type="commitment",
        commitment_strength=1.0,
    )
    index = memory([promise, unit("The new brochure looks nice", "b", session="z")])
    assert events(ask(index, turn("Nobody came. You said it would be done!")))[0] == "a"


def test_a_day_that_is_named_finds_what_was_said_on_it() -> None:
    day = TimeExpression(
        original_form="March 3", start=0, end=7, normalized_time="2026-03-03T00:00:00+08:00", grain="day"
    )
    index = memory(
        [
            unit("Signed the lease", "a", "2026-03-03T15:00:00+08:00"),
            unit("Bought a bicycle", "b", "2026-02-01T15:00:00+08:00"),
        ]
    )
    assert events(ask(index, turn("What happened on March 3?", times=[day])))[:1] == ["a"]


def test_a_ritual_comes_round() -> None:
    ritual = unit("每周三晚上去游泳", "a", validity=Validity(type="periodic", cycle_pattern="every_wednesday"))
    assert events(ask(memory([ritual, unit("在学弹吉他", "b")]), turn("哈，又到周三了")))[:1] == ["a"]


@pytest.mark.parametrize("text", ["qwzx flmp troo vvv", "帮我写一句新年祝福"])
def test_it_is_silent_when_nothing_bears_on_the_turn(text: str) -> None:
    found = ask(memory([unit("我的车牌尾号是三", "a"), unit("Gym membership ends in May", "b")]), turn(text))
    assert found.abstained and not found.cues and found.debug_marker == ""


def test_clearance_comes_before_everything() -> None:
    index = memory([unit("The takeover of Blue Pine closes in June", "a", clearance=3)])
    assert ask(index, turn("When does the Blue Pine takeover close?")).abstained
    assert events(ask(index, turn("When does the Blue Pine takeover close?", clearance=3))) == ["a"]


def test_only_what_was_current_and_said_before() -> None:
    index = memory(
        [
            unit("My desk is number 12", "old", status="superseded"),
            unit("My desk is number 14", "gone", expires_at=datetime.fromisoformat("2026-03-05T00:00:00+08:00")),
            unit("My desk is number 15", "later", "2026-04-01T10:00:00+08:00"),
            unit("My desk is number 16", "now"),
            unit("My desk is number 17", "good"),
        ]
    )
    assert events(ask(index, turn("Which desk number is mine?"))) == ["good"]


def test_near_copies_become_one_cue_but_another_number_is_another_fact() -> None:
    index = memory(
        [
            unit("我对花生过敏", "a"),
            unit("对花生过敏", "b", session="x"),
            unit("花生 3 箱", "c"),
            unit("花生 4 箱", "d"),
        ]
    )
    found = ask(index, turn("花生过敏 花生 箱"), max_cues=10)
    together = next(cue for cue in found.cues if "a" in cue.source_event_ids)
    assert sorted(together.source_event_ids) == ["a", "b"]
    assert {"c", "d"} <= set(events(found))


def test_at_most_the_newest_two_of_one_subject() -> None:
    slot = Slot(subject="user", attribute="seat")
    made = [unit(f"prefers seat {n}", f"e{n}", f"2026-03-0{n}T10:00:00+08:00", slot=slot) for n in (1, 2, 3)]
    assert sorted(events(ask(memory(made), turn("Which seat do I prefer?"), max_cues=5))) == ["e2", "e3"]


def test_earlier_turns_of_the_conversation_help() -> None:
    index = memory([unit("学会了骑自行车", "a"), unit("养了一只乌龟", "b", session="x")])
    earlier = "我养了一只乌龟"
    now = turn("那它吃什么？")
    found = recall(
        now,
        toy_vector(now.text),
        index,
        task=TaskView(),
        settings=RecallSettings(weights=toy_weights()),
        context_queries=[(earlier, toy_vector(earlier))],
    )
    assert events(found)[0] == "b"


def test_an_empty_memory_and_no_wish_for_cues() -> None:
    assert ask(memory([]), turn("Where do I live?")).abstained
    assert ask(memory([unit("I live in Porto", "a")]), turn("Where do I live? Porto?"), max_cues=0).abstained


def test_ages_are_counted_from_the_given_moment() -> None:
    index = memory([unit("The lamp L-3 is broken", "a")])
    early = ask(index, turn("lamp L-3?"), now=datetime.fromisoformat("2026-03-01T11:00:00+08:00"))
    assert early.cues[0].terms["time_proximity"] > ask(index, turn("lamp L-3?")).cues[0].terms["time_proximity"]


@pytest.mark.parametrize(
    ("on", "role", "remember", "want"),
    [("customer", "customer", True, True), ("customer", "agent", True, False), ("all", "agent", True, True), ("probes", "customer", False, True),
     ("probes", "customer", True, False), ("none", "customer", True, False)],
)  # fmt: skip
def test_which_turns_get_a_bundle(on: str, role: Any, remember: bool, want: bool) -> None:
    assert wanted(turn("hello", speaker=Speaker(role=role), remember=remember), on) is want


def test_a_choice_to_be_made_calls_for_what_lasts() -> None:
    diet = unit("我不能吃辣", "a", type="constraint")
    assert ask(memory([diet]), turn("今天股市收盘了吗"), like="我").abstained
    with_choice = ask(
        memory([diet, unit("昨天修好了自行车", "b", session="x")]), turn("晚上帮我点几个菜"), like="我不能吃辣"
    )
    assert events(with_choice)[:1] == ["a"]
    assert "正是所问的那类记忆" in with_choice.cues[0].why


def test_a_question_after_a_place_prefers_the_unit_that_holds_one() -> None:
    there = unit("新仓库在嘉兴", "a", entities=[Entity(id="嘉兴", type="place", text="嘉兴", start=4, end=6)])
    index = memory([unit("新仓库归小陈管", "b"), there])
    assert events(ask(index, turn("新仓库在哪里？")))[0] == "a"


def test_of_one_utterance_the_strongest_clause_comes_before_other_utterances_only() -> None:
    index = memory(
        [
            unit("the blue boat needs paint", "a", turn=1), unit("the blue boat has a hole", "a", turn=1, unit_id="a2"),
            unit("the blue boat was sold", "b", turn=9),
        ]
    )  # fmt: skip
    assert {cue.source_event_ids[0] for cue in ask(index, turn("What about the blue boat?"), max_cues=2).cues} == {
        "a",
        "b",
    }


def test_what_the_turn_itself_left_in_memory_does_not_make_nonsense_known() -> None:
    index = memory([unit("Gym membership ends in May", "a"), unit("qwzx flmp troo vvv", "now")])
    assert ask(index, turn("qwzx flmp troo vvv"), like="Gym membership ends in May").abstained


def test_the_silence_is_harder_to_break_in_a_large_memory() -> None:
    limits = toy_weights().abstain
    assert limits.silence(1) == limits.silent
    assert limits.silence(10) < limits.silence(1000)


def test_a_remark_is_compared_as_like_with_like() -> None:
    text = "I turned the promotion down because of the endless evening calls it would bring again"
    index = memory([unit("stopped taking work calls after six", "a"), unit("planted tomatoes", "b", session="x")])
    far = toy_vector("planted tomatoes")
    said = turn(text)
    plain = recall(said, far, index, task=TaskView(), settings=RecallSettings(weights=toy_weights()))
    near = recall(
        said, far, index, task=TaskView(), settings=RecallSettings(weights=toy_weights()),
        passage_vector=toy_vector("stopped taking work calls after six"),
    )  # fmt: skip
    assert events(near).count("a") >= events(plain).count("a")
    assert "a" in events(near)


def test_a_trained_network_may_take_the_place_of_the_weights() -> None:
    hidden = np.zeros((INPUTS, 1))
    hidden[2, 0] = 5.0
    network = CueMlp(hidden, np.zeros(1), np.ones(1), np.zeros(()))
    old = unit("the lamp L-3 flickers", "old", "2026-01-01T10:00:00+08:00")
    new = unit("the lamp L-3 hums", "new", "2026-03-09T09:00:00+08:00", session="x")
    settings = RecallSettings(weights=toy_weights(), network=network)
    said = turn("lamp L-3?")
    found = recall(said, toy_vector(said.text), memory([old, new]), task=TaskView(), settings=settings)
    assert events(found)[0] == "new"
