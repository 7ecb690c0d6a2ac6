"""Synthetic load in both languages: many persons, sessions, believable turns. Deterministic, no data set."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

_ZH = (
    "你好，帮我查一下订单 OD-{n} 的物流到哪了。", "订单 OD-{n} 已经从东莞仓发出，预计明天下午三点前送到。", "那个蓝色的收纳盒能不能退？",
    "我们保证周五之前把货送到，请您放心。", "你们客服态度太差了，我要投诉，到现在也没人回复我！", "好的收到，谢谢。",
    "预算不超过五万，只考虑本地供应商。", "我每周五晚上都去和老同学打羽毛球。", "不是周三，是周四，麻烦改一下。",
    "以后给我的报告都用表格，金额单位用万元。", "关于接口文档，麻烦补充下错误码说明，另外测试账号权限我们已开通。", "它现在停工了吗？",
)  # fmt: skip
_EN = (
    "Could you check where my order OD-{n} is right now?", "It left the warehouse this morning and should arrive by Friday.",
    "I prefer window seats and a quiet room whenever I travel.", "We will definitely replace the cracked screen by next Monday.",
    "This is the third time it breaks, I am really disappointed.", "Thanks, that works for me.",
    "Please send the invoice to finance before the end of the month.", "When will it arrive?",
)  # fmt: skip
_BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=timezone(timedelta(hours=8)))


def utterances(count: int, persons: int = 100) -> Iterator[bytes]:
    """`count` utterance/1 records of `persons` persons, a third English, in event-time order."""
    turns = itertools.cycle((*_ZH, *_EN))
    for number in range(count):
        person = number % persons
        text = next(turns).format(n=10_000 + person * 7 + number // (persons * 6) % 7)
        record = {
            "schema": "utterance/1",
            "event_id": f"load-{number}",
            "tenant": "bench",
            "user_id": f"person-{person}",
            "session_id": f"s-{person}-{number // (persons * 12)}",
            "speaker": {"id": f"p{person}", "role": "agent" if number % 5 == 3 else "customer"},
            "text": text,
            "ts": (_BEGIN + timedelta(seconds=number * 0.5)).isoformat(),
        }
        yield json.dumps(record, ensure_ascii=False).encode()
