"""A later correction moves the same event and keeps what it does not change."""

from __future__ import annotations

from datetime import datetime

import pytest

from models.context import Turn
from models.times import find_times

MORNING = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
EVENING = datetime.fromisoformat("2026-03-02T18:00:00+08:00")


def said(*texts: str) -> list[Turn]:
    return [Turn(text=text, ts=MORNING) for text in texts]


REVIEW = said("我们明天下午三点开评审会。")
BOTH = said("我们明天下午三点开评审会。", "后天上午十点去医院体检")
SYNC = said("Let's have the design sync on Wednesday at 2pm")


@pytest.mark.parametrize(
    ("context", "text", "start"),
    [
        (REVIEW, "评审会改到周四吧。", "2026-03-05T15:00"),
        (REVIEW, "改到周四", "2026-03-05T15:00"),
        (REVIEW, "那就改成五点", "2026-03-03T17:00"),
        (REVIEW, "推迟两天", "2026-03-05T15:00"),
        (REVIEW, "会议挪到下周三", "2026-03-11T15:00"),
        (REVIEW, "评审会改到后天上午九点", "2026-03-04T09:00"),
        (BOTH, "评审会提前半小时", "2026-03-03T14:30"),
        (BOTH, "体检推迟一小时", "2026-03-04T11:00"),
        (BOTH, "体检改到15号", "2026-03-15T10:00"),
        (SYNC, "push the design sync to Friday", "2026-03-06T14:00"),
        (SYNC, "push the sync back by an hour", "2026-03-04T15:00"),
        (SYNC, "Reschedule it for tomorrow", "2026-03-03T14:00"),
        (SYNC, "can we make it Thursday instead?", "2026-03-05T14:00"),
        (SYNC, "an hour later", "2026-03-04T15:00"),
        (SYNC, "move it to 4pm", "2026-03-04T16:00"),
        (REVIEW, "不对，是四点", "2026-03-03T16:00"),
        (REVIEW, "说错了，是后天", "2026-03-04T15:00"),
        (REVIEW, "我是说周四", "2026-03-05T15:00"),
        (REVIEW, "换到下周同一时间", "2026-03-10T15:00"),
        (REVIEW, "push 到周五吧", "2026-03-06T15:00"),
        (REVIEW, "meeting 改到 Thursday", "2026-03-05T15:00"),
        (said("每周一上午十点例会"), "例会改到周四", "2026-03-05T10:00"),
        (said("The standup is every Tuesday at 9am"), "move the standup to Wednesday", "2026-03-04T09:00"),
        (said("每天晚上八点到十点直播"), "直播改到九点", "2026-03-02T21:00"),
        (SYNC, "let's make it 4", "2026-03-04T16:00"),
        (SYNC, "Sorry, I meant Thursday", "2026-03-05T14:00"),
        (SYNC, "same time? no wait, it's Friday", "2026-03-06T14:00"),
        (SYNC, "move it to next week, same time", "2026-03-11T14:00"),
        (SYNC, "bring it forward 30 minutes", "2026-03-04T13:30"),
    ],
)
def test_moves_the_event(context: list[Turn], text: str, start: str) -> None:
    assert [(t.normalized_time or "")[:16] for t in find_times(text, EVENING, None, context)] == [start]


def test_corrections_chain() -> None:
    context = [*REVIEW, Turn(text="评审会改到周四", ts=EVENING)]
    assert (find_times("评审会推迟一小时", EVENING, None, context)[0].normalized_time or "")[:16] == "2026-03-05T16:00"


def test_a_range_keeps_its_length() -> None:
    moved = find_times("培训改到周日", EVENING, None, said("周五下午2点到4点培训"))[0]
    assert (moved.normalized_time, moved.end_time) == ("2026-03-08T14:00:00+08:00", "2026-03-08T16:00:00+08:00")


def test_known_times_of_a_turn_are_used_as_they_are() -> None:
    times = find_times("明天下午三点", MORNING)
    turn = Turn(text="开评审会", times=times)
    assert (find_times("评审会改到周四", EVENING, None, [turn])[0].normalized_time or "")[:16] == "2026-03-05T15:00"


@pytest.mark.parametrize("text", ["我周四要出差", "make it 4 copies", "我的要求是三点：快，准，稳", "改到下周"])
def test_other_times_are_left_alone(text: str) -> None:
    assert find_times(text, EVENING) == find_times(text, EVENING, None, REVIEW)


def test_without_an_event_the_words_stand() -> None:
    alone = find_times("改到周四", EVENING, None, said("我喜欢蓝色"))[0]
    assert (alone.normalized_time, alone.grain) == ("2026-03-05T00:00:00+08:00", "day")
