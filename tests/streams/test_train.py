"""`cuestream train`: what is missing is said before anything is begun; a worker takes the folder, and a new file in it, without a restart."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from models.affect_net import SHIPPED
from models.errors import ResourceError
from models.units.unit_types import WEIGHTS as TYPES
from streams.cli import train
from streams.cli.main import main
from streams.models import Models
from streams.settings import load_settings


def test_the_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train.importlib.util, "find_spec", lambda name: None)
    assert main(["train", "intent", "--out", str(tmp_path)]) == 2
    assert "pip install 'cuestream[train]'" in capsys.readouterr().err


def test_what_a_folder_lacks_is_named_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train.importlib.util, "find_spec", lambda name: True)
    assert main(["train", "intent", "--out", str(tmp_path / "w")]) == 2
    told = capsys.readouterr().err
    assert "--train DIR" in told and "--lines FILE" in told
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "load_en_sad.jsonl.gz").write_bytes(b"")
    assert main(["train", "load", "--train", str(kit), "--out", str(tmp_path / "w")]) == 2
    told = capsys.readouterr().err
    assert "emotion_en_goemotions" in told and "load_en_sad" not in told
    assert main(["train", "segments", "--train", str(tmp_path / "none"), "--out", str(tmp_path / "w")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["train", "segments", "--lines", "x", "--out", str(tmp_path / "w")]) == 2
    assert "segments takes none" in capsys.readouterr().err
    assert not (tmp_path / "w").exists()


def test_bad_lines_stop_it_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train.importlib.util, "find_spec", lambda name: True)
    mine = tmp_path / "mine.jsonl"
    mine.write_text('{"text": "a", "intent": "refuse"}\n{"text": 7}\n', encoding="utf-8")
    assert main(["train", "intent", "--lines", str(mine), "--out", str(tmp_path / "w")]) == 2
    assert f"{mine}:2: " in capsys.readouterr().err


def altered(path: Path, **changes: np.ndarray) -> None:
    """A copy of the shipped heads with some arrays changed."""
    with np.load(SHIPPED) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(path, **{**arrays, **changes})


def test_a_worker_takes_the_folder_and_a_new_file_in_it(tmp_path: Path) -> None:
    settings = load_settings([f"weights={tmp_path}"], environ={})
    models = Models.load(settings)
    shipped = models.affect
    models.refresh()
    assert models.affect is shipped
    altered(tmp_path / "affect.npz", intent_lift=np.ones(6, np.float32))
    models.refresh()
    good = models.affect
    assert good is not shipped
    (tmp_path / "affect.npz").write_bytes(b"half a file")
    os.utime(tmp_path / "affect.npz", ns=(1, 1))
    models.refresh()
    assert models.affect is good and models.heads.error is not None and "affect.npz" in models.heads.error
    words = models.segments.value
    (tmp_path / "unit_types.npz").write_bytes(TYPES.read_bytes())
    models.refresh()
    assert models.segments.value is not words


def test_heads_of_another_encoder_are_refused_by_name(tmp_path: Path) -> None:
    altered(tmp_path / "affect.npz", encoder=np.array("mini-lm-1234"))
    with pytest.raises(
        ResourceError, match=r"affect\.npz was trained for encoder mini-lm-1234, and this is .*`cuestream train affect "
    ):
        Models.load(load_settings([f"weights={tmp_path}"], environ={}))
    with pytest.raises(ResourceError, match="no such folder"):
        Models.load(load_settings([f"weights={tmp_path / 'none'}"], environ={}))


@pytest.mark.parametrize(
    ("name", "said"), [("coreference.npz", "without coreference.onnx"), ("name_gate.npz", "cannot be replaced")]
)
def test_a_file_that_would_not_be_taken_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ResourceError, match=said):
        Models.load(load_settings([f"weights={tmp_path}"], environ={}))
