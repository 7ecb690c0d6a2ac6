"""Language of an utterance and its mix."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.language import detect, primary


@pytest.mark.parametrize(
    ("said", "lang"),
    [
        ("这个报表的 format 不太对，帮我 check 一下", "zh"),
        ("ThinkPad X1 Carbon Gen 12 坏了", "zh"),
        ("OK 收到", "zh"),
        ("ＨＥＬＬＯ　ＷＯＲＬＤ", "en"),
        ("ｐｌｅａｓｅ call me", "en"),
        ("請問發票什麼時候寄出？", "zh"),
        ("CN-A10293 到哪了", "zh"),
        ("Please forward it to 王芳 before Friday", "en"),
        ("Shall we meet at 广州南站 tomorrow?", "en"),
        ("thanks", "en"),
        ("¿Dónde está mi pedido? No lo veo", "es"),
        ("Wo ist mein Paket? Ich habe es nicht", "de"),
        ("これはいつ届きますか", "ja"),
        ("언제 도착하나요", "ko"),
        ("Где мой заказ", "ru"),
        ("138 1234 5678", None),
        ("？！", None),
        ("", None),
    ],
)
def test_language(said: str, lang: str | None) -> None:
    assert detect(said).lang == lang


@pytest.mark.parametrize(
    ("tag", "lang"),
    [
        ("zh", "zh"), ("zh-CN", "zh"), ("ZH_hant_TW", "zh"), ("cmn-Hans", "zh"), ("Chinese", "zh"), ("en-US", "en"),
        ("EN", "en"), ("eng", "en"), ("fr-CA", "fr"), ("und", None), ("", None), ("?", None), ("english please", None), (None, None),
    ],
)  # fmt: skip
def test_a_clients_tag_names_its_language(tag: str | None, lang: str | None) -> None:
    assert primary(tag) == lang


def test_mix_names_both_languages_of_a_switched_sentence() -> None:
    mix = detect("这个 deadline 有点紧，能不能 push 到下周？").mix
    assert set(mix) == {"zh", "en"}
    assert mix["zh"] > mix["en"] > 0.1


def test_identifiers_carry_no_language() -> None:
    assert detect("订单 OD-88921 发到 li@example.com 了").mix == {"zh": 1.0}


def test_masked_values_carry_no_language() -> None:
    assert detect("密码是[secret:s]").mix == {"zh": 1.0}


@given(st.text(max_size=200))
def test_shares_sum_to_one(text: str) -> None:
    language = detect(text)
    assert not language.mix or abs(sum(language.mix.values()) - 1) < 0.01
    assert language.lang is None or language.lang in language.mix


@pytest.mark.parametrize("unit", ["9", "的", "(", " ", "ab", "a-", "@"])
def test_linear_on_long_runs(unit: str) -> None:
    started = time.perf_counter()
    detect((unit * 10_000)[:10_000])
    assert time.perf_counter() - started < 0.1
