"""`cuestream try pii` and `try language`: the contract's fields, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.cli.main import main
from streams.trials import answer_lines, language, pii, times


def answers(module: object, *cases: dict[str, object]) -> list[dict[str, object]]:
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    return [json.loads(line) for line in answer_lines(module.build(), lines)]  # type: ignore[attr-defined]


def test_pii_names_spans_types_and_masks_all() -> None:
    (answer,) = answers(pii, {"id": "a", "text": "收件人：程晓明，13912345678", "lang": "zh"})
    assert answer["id"] == "a"
    assert [(item["type"], item["text"]) for item in answer["pii"]] == [("person", "程晓明"), ("phone", "13912345678")]
    assert answer["masked"] == "收件人：[person:xs]，[phone:m]"


def test_pii_answers_a_text_without_any() -> None:
    (answer,) = answers(pii, {"id": 1, "text": "好的"})
    assert answer == {"id": 1, "pii": [], "masked": "好的"}


@pytest.mark.parametrize(("said", "lang"), [("请稍等", "zh"), ("One moment please", "en"), ("123", None)])
def test_language(said: str, lang: str | None) -> None:
    (answer,) = answers(language, {"id": 1, "text": said})
    assert answer["lang"] == lang


def test_a_bad_line_is_answered_with_an_error() -> None:
    good, bad = answers(pii, {"id": 1, "text": "好"}, {"id": 2})
    assert "pii" in good and "error" in bad


def test_try_runs_on_what_the_settings_name(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = tmp_path / "mine.toml"
    words.write_text(
        '[[entity]]\ntype = "environment"\ncanonical = "压测环境"\naliases = ["压测服"]\n', encoding="utf-8"
    )
    assert main(["try", "intent", "压测服挂了", "--set", f"lists.entities={words}"]) == 0
    assert "压测环境" in capsysbinary.readouterr().out.decode()
    words.write_text("[[entity]]\n", encoding="utf-8")
    assert main(["try", "intent", "压测服挂了", "--set", f"lists.entities={words}"]) == 2
    assert b"mine.toml" in capsysbinary.readouterr().err


def test_a_clients_language_tag_is_read() -> None:
    (answer,) = answers(
        times, {"id": 1, "text": "tomorrow at 3pm", "lang": "en-GB", "now": "2026-03-02T10:00:00+08:00"}
    )
    assert [found["normalized_time"] for found in answer["times"]] == ["2026-03-03T15:00:00+08:00"]
