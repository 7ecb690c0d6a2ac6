"""What replaces, repeats or stands beside what: love and hate, owning and selling, roles, periods, corrections."""

from __future__ import annotations

import pytest

from models.records import Speaker
from tables.units import unit_id
from tables.writing import write_unit
from tests.tables.state_records import Memory, at, span, unit


def after(*texts: str) -> list[str]:
    """The statuses of one unit per statement, said on successive days."""
    memory = Memory()
    for number, text in enumerate(texts):
        memory.say(text, event=f"e{number}", ts=at(days=number))
    return [",".join(memory.status(f"e{number}")) for number in range(len(texts))]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I love Chinese food.", "Honestly, I hate Chinese food now."),
        ("I really enjoy jazz.", "I don't like jazz any more."),
        ("My favourite player is Ronaldo.", "My favourite player is Messi these days."),
        ("My favorite color is green.", "My favorite color is now teal."),
        ("I own a red Honda Civic.", "I sold the Honda Civic yesterday."),
        ("We have a small boat.", "We got rid of the boat last week."),
        ("I live in Canada, in a small flat.", "I moved to Portugal in April."),
        ("I work at Siemens.", "I just started at Bosch."),
        ("My parking spot is number 42.", "My parking spot is number 57."),
        ("I'm allergic to peanuts.", "It turns out I'm not allergic to peanuts."),
        ("Please reply in English from now on.", "From now on please use Chinese."),
        ("我喜欢吃香菜。", "我现在不喜欢吃香菜了。"),
        ("我讨厌下雨天。", "我现在喜欢下雨天了。"),
        ("我最喜欢的球员是C罗。", "现在最喜欢的球员是梅西了。"),
        ("我有一辆红色的本田思域。", "我把那辆本田思域卖了。"),
        ("我住在南京。", "我搬到苏州了。"),
        ("我在华为上班。", "我跳槽到小米了。"),
        ("我偏好语音沟通。", "以后只用文字沟通吧。"),
        ("去年我负责华东区。", "今年我调岗到华南了。"),
        ("我的收货城市是杭州。", "收货城市改成苏州。"),
        ("我们公司在虹桥，发票寄到虹桥就行。", "你记错了，我们公司已经搬到张江了。"),
    ],
)
def test_newer_replaces_older(older: str, newer: str) -> None:
    before, now = after(older, newer)
    assert before in ("superseded", "corrected")
    assert now == "current"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann is the CTO at Acme.", "Ann administers Acme's GitHub organisation."),
        ("Ann is the CTO at Acme.", "Ann is also a board director at Beta."),
        ("I love Chinese food.", "I love Thai food."),
        ("I like tea.", "My sister hates tea."),
        ("I'm allergic to peanuts.", "I'm allergic to shrimp."),
        ("I own a Honda.", "I own a bicycle."),
        ("I own a Honda.", "I sold the bicycle."),
        ("I live in Canada.", "Do I live in France?"),
        ("I live in Canada.", "If I lived in France I would love it."),
        ("I love Chinese food.", "My friend Jack hates Chinese food."),
        ("我对海鲜过敏。", "我对花粉过敏。"),
        ("我喜欢吃辣。", "我妈妈不喜欢吃辣。"),
        ("我住在南京。", "我哥哥住在苏州。"),
        (
            "Ticket SR-2023-052 is about the printer on floor three.",
            "Ticket SR-2023-053 is about the projector in room nine.",
        ),
        ("My dog is called Max.", "My dog is three years old."),
        ("The meeting is in room 12.", "The meeting is on Monday at 3pm."),
        ("以后报告都用表格。", "以后金额单位用万元。"),
    ],
)
def test_what_can_hold_together_does(one: str, other: str) -> None:
    assert after(one, other) == ["current", "current"]


def test_love_hate_love_leaves_exactly_one() -> None:
    assert after("I love opera.", "I hate opera.", "I love opera again.") == ["superseded", "superseded", "current"]


def test_disjoint_periods_coexist() -> None:
    memory = Memory()
    memory.say(
        "Alex is assigned to Payments.",
        event="e1",
        times=[span("in 2025", "2025-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", "year")],
    )
    memory.say(
        "Alex is assigned to Billing.",
        event="e2",
        ts=at(days=70),
        times=[span("in 2026", "2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00", "year")],
    )
    memory.say(
        "Alex is assigned to Search.",
        event="e3",
        ts=at(days=80),
        times=[span("in 2026", "2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00", "year")],
    )
    assert [memory.status(e) for e in ("e1", "e2", "e3")] == [["current"], ["superseded"], ["current"]]


def test_past_assignment_is_history_not_conflict() -> None:
    assert after(
        "Alex was assigned to Payments from January to February 2026.",
        "Alex is assigned to Payments again since May 2026.",
    ) == ["current", "current"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我对海鲜过敏。", "提醒一下，我海鲜过敏。"),
        ("I live in Oslo.", "I live in Oslo, just a note."),
        ("我不喜欢香菜。", "我真的不喜欢香菜。"),
    ],
)
def test_said_twice_is_one_unit_with_both_sources(one: str, other: str) -> None:
    memory = Memory()
    memory.say(one, event="e1", type="preference")
    written = memory.say(other, event="e2", ts=at(days=1), type="preference")
    assert written.merged
    assert len(memory.published) == 1
    assert next(iter(memory.published.values())).source_event_ids == ["e1", "e2"]


def test_said_again_with_more_is_kept_beside() -> None:
    assert after("I live in Oslo.", "I live in Oslo with two cats and a noisy neighbour.") == ["current", "current"]


def test_late_arrival_of_an_old_statement_loses() -> None:
    memory = Memory()
    memory.say("I live in Rome.", event="new", ts=at(days=9))
    memory.say("I live in Paris.", event="old", ts=at(days=1))
    assert memory.status("new") == ["current"]
    assert memory.status("old") == ["superseded"]


def test_at_one_moment_the_users_word_beats_an_inference() -> None:
    memory = Memory()
    memory.say("I live in Rome.", event="said")
    memory.say("Bob lives in Rome.", event="other", speaker=Speaker(id="a", role="agent"))
    memory.say("I live in Paris.", event="low", confidence=0.4)
    assert memory.status("said") == ["current"]
    assert memory.status("low") == ["superseded"]


def test_two_speakers_of_one_account_are_two_subjects() -> None:
    memory = Memory()
    memory.say("I live in Rome.", event="e1", speaker=Speaker(id="a", name="Ada", role="customer"))
    memory.say("I live in Paris.", event="e2", ts=at(days=1), speaker=Speaker(id="b", name="Bo", role="customer"))
    assert [memory.status(e) for e in ("e1", "e2")] == [["current"], ["current"]]


@pytest.mark.parametrize(
    ("said", "corrected"),
    [
        ("我们周三前一定送到。", "不是周三，是周四。"),
        ("The gate code is 4471 for deliveries.", "You got it wrong, the gate code for deliveries is 4417."),
        ("Her name is Marta Kowalska.", "No, it's Marta Kowalczyk."),
    ],
)
def test_correction_marks_the_old_and_is_kept_with_high_confidence(said: str, corrected: str) -> None:
    memory = Memory()
    memory.say(said, event="e1", role="agent")
    memory.say(corrected, event="e2", ts=at(1))
    assert memory.status("e1") == ["corrected"]
    assert memory.status("e2") == ["current"]


def test_explicit_correction_is_a_correction_unit() -> None:
    memory = Memory()
    memory.say("我们公司在虹桥。", event="e1")
    new = memory.say("你记错了，我们公司已经搬到张江了。", event="e2", ts=at(days=7)).units[-1]
    assert (new.type, new.write_class) == ("correction", "must")
    assert new.confidence >= 0.9
    old = next(u for u in memory.published.values() if "e1" in u.source_event_ids)
    assert (old.superseded_by, old.validity.effective_to) == (new.unit_id, at(days=7))


def test_moved_event_replaces_its_old_time() -> None:
    memory = Memory()
    memory.say(
        "我们明天下午三点开评审会。",
        event="e1",
        times=[span("明天下午三点", "2026-03-02T15:00:00+00:00", grain="minute")],
    )
    memory.say("今天午饭吃了面条。", event="e2", ts=at(5))
    memory.say(
        "评审会改到周四吧。", event="e3", ts=at(10), times=[span("周四", "2026-03-05T15:00:00+00:00", grain="minute")]
    )
    assert [memory.status(e) for e in ("e1", "e2", "e3")] == [["superseded"], ["current"], ["current"]]


def test_settled_matter_is_resolved_not_lost() -> None:
    memory = Memory()
    memory.say("家里的宽带又断网了，一直没人处理。", event="e1", resolution_status="pending")
    memory.say("宽带断网的问题解决了，谢谢。", event="e2", ts=at(days=1))
    old = next(u for u in memory.published.values() if "e1" in u.source_event_ids)
    assert (old.status, old.resolution_status, old.resolved_at) == ("current", "resolved", at(days=1))


def test_audit_lines_hold_no_content() -> None:
    memory = Memory()
    memory.say("I love sailing boats.", event="e1")
    written = memory.say("I hate sailing boats.", event="e2", ts=at(days=1))
    assert [line.action for line in written.audits] == ["superseded", "written"]
    assert not any("sailing" in str(line) for line in written.audits)


def test_work_per_unit_does_not_grow_with_history() -> None:
    memory = Memory()
    reads = []
    for number in range(400):
        rows = memory.rows()
        counted = rows.get
        count = [0]

        def get(kind: bytes, *parts: str | int, counted=counted, count=count) -> bytes | None:  # type: ignore[no-untyped-def]
            count[0] += 1
            return counted(kind, *parts)

        rows.get = get  # type: ignore[method-assign]
        write_unit(memory.state, rows, unit(f"I like hobby number{number} very much.", event=f"e{number}"), None)
        memory.commit()
        reads.append(count[0])
    assert max(reads[-50:]) <= max(reads[20:70]) + 2


def test_a_correction_reaches_the_rest_of_what_was_said_in_one_breath() -> None:
    memory = Memory()
    rows = memory.rows()
    one = unit("我们公司在虹桥", event="e1", layer="profile")
    two = unit("发票寄到虹桥就行", event="e1")
    two.unit_id = unit_id("t", "e1", 8, 16)
    three = unit("电梯坏了两天", event="e1")
    three.unit_id = unit_id("t", "e1", 17, 23)
    for said in (one, two, three):
        write_unit(memory.state, rows, said, None)
    memory.commit()
    written = memory.say("你记错了，我们公司已经搬到张江了。", event="e2", ts=at(days=7))
    assert [u.content for u in written.units] == [one.content, two.content, "你记错了，我们公司已经搬到张江了。"]
    assert [u.status for u in written.units] == ["corrected", "corrected", "current"]
    assert written.units[-1].layer == "profile"


def test_a_correction_without_a_common_word_is_about_what_the_other_side_just_said() -> None:
    memory = Memory()
    memory.say("Your appointment is booked for Tuesday at 9 am.", event="e1", role="agent")
    memory.say("That's not right, I asked for Thursday.", event="e2", ts=at(1))
    assert memory.status("e1") == ["corrected"]
    later = Memory()
    later.say("Your appointment is booked for Tuesday at 9 am.", event="e1", role="agent")
    later.say("That's not right, I asked for Thursday.", event="e2", ts=at(60))
    assert later.status("e1") == ["current"]
