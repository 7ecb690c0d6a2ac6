"""One block fitted anew: the others answer as before, to the bit; the same lines give the same weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.affect_net import OUTPUTS, SHIPPED

EXTRA = "training needs the extra `train`: pip install 'cuestream[train]'"
FORMS = {
    "request": "请把{}再发我一份",
    "commit": "{}我们周五前一定完成",
    "refuse": "{}我不同意",
    "neutral": "{}昨天已经到了",
}
THINGS = [
    "合同",
    "发票",
    "报价单",
    "会议纪要",
    "测试报告",
    "验收单",
    "快递单",
    "排期表",
    "采购清单",
    "物流单",
    "样品",
    "账单",
]


@pytest.mark.parametrize(
    ("block", "kept"),
    [("intent", ("emotion", "intensity", "finer", "load")), ("load", ("intent", "emotion", "intensity", "finer"))],
)
def test_only_the_block_changes(
    tmp_path: Path, block: str, kept: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason=EXTRA)
    from models.train import blocks

    lines = [
        {"text": form.format(thing), "intent": intent, "load": {"stress": 0.9 if intent == "refuse" else 0.1}}
        for intent, form in FORMS.items()
        for thing in THINGS
    ]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    made = []
    for name in ("one", "two"):
        assert blocks.main([block, "--lines", str(mine), "--out", str(tmp_path / f"{name}.npz"), "--own", "60"]) == 0
        with np.load(tmp_path / f"{name}.npz") as stored:
            made.append({key: stored[key] for key in stored.files})
    assert "kept back, user" in capsys.readouterr().out
    assert all((made[0][key] == made[1][key]).all() for key in made[0]), "deterministic"
    bounds = np.cumsum([0, *OUTPUTS.values()])
    with np.load(SHIPPED) as before:
        for place, name in enumerate(OUTPUTS):
            columns = slice(bounds[place], bounds[place + 1])
            same = (before["out"][:, columns] == made[0]["out"][:, columns]).all()
            assert bool(same) == (name in kept), name
        assert (before["hidden"] == made[0]["hidden"]).all()


def test_too_few_lines_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason=EXTRA)
    from models.train import blocks

    mine = tmp_path / "mine.jsonl"
    mine.write_text(json.dumps({"text": "a", "intent": "refuse"}), encoding="utf-8")
    assert blocks.main(["intent", "--lines", str(mine), "--out", str(tmp_path / "w.npz"), "--own", "0"]) == 2
    assert "too few" in capsys.readouterr().err
    assert not (tmp_path / "w.npz").exists()
