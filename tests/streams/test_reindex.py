"""`cuestream reindex` on a real installation: another encoder is refused at start, and taken after it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.affect import WEIGHTS as AFFECT_WEIGHTS
from models.encoder import SHIPPED, Encoder
from models.units.surprise import LEXICON as ENTROPY_TABLE
from models.units.unit_types import WEIGHTS as TYPE_WEIGHTS
from tests.streams.conftest import ROOT
from tests.streams.test_up import answered, reachable, up, utterance


def cuestream(folder: Path, *arguments: str, encoder: Path, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs a command on the installation in `folder` with an encoder."""
    return subprocess.run(
        [sys.executable, "-m", "streams.cli.main", *arguments, "--set", f"data_dir={folder / 'data'}", "--set", "web_port=0"],
        cwd=ROOT, env={**os.environ, "CUESTREAM_ENCODER": str(encoder), "CUESTREAM_WEIGHTS": str(encoder)}, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip


def fit_heads(folder: Path) -> None:
    """Puts the shipped heads beside an encoder under its name: what `cuestream train` would make for it."""
    name = Encoder.load(folder).name
    for path in (AFFECT_WEIGHTS, TYPE_WEIGHTS):
        with np.load(path) as stored:
            arrays = {key: stored[key] for key in stored.files}
        np.savez(folder / path.name, **{**arrays, "encoder": np.array(name)})
    table = ENTROPY_TABLE.read_text(encoding="utf-8")
    (folder / "entropy.toml").write_text(re.sub(r"(?m)^encoder = .*$", f'encoder = "{name}"', table), encoding="utf-8")


def test_another_encoder_is_refused_and_taken_after_reindex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    shutil.copytree(SHIPPED, other)
    manifest = json.loads((other / "encoder.json").read_text(encoding="utf-8"))
    (other / "encoder.json").write_text(json.dumps({**manifest, "version": "other"}), encoding="utf-8")
    fit_heads(other)
    with up(tmp_path):
        cluster = reachable(tmp_path, 20)
        cluster.send([utterance(number) for number in range(10)])
        assert len(answered(cluster, 10, 60)) == 10
        running = cuestream(tmp_path, "reindex", encoder=other)
        assert running.returncode == 2 and "stop it first" in running.stderr
    refused = cuestream(tmp_path, "up", encoder=other)
    assert refused.returncode == 70
    assert "built by encoder" in refused.stderr and "`cuestream reindex`" in refused.stderr
    made = cuestream(tmp_path, "reindex", encoder=other)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("5 persons, ")
    again = cuestream(tmp_path, "reindex", encoder=other)
    assert again.stdout.startswith("0 persons, 0 vectors")
    monkeypatch.setenv("CUESTREAM_ENCODER", str(other))
    monkeypatch.setenv("CUESTREAM_WEIGHTS", str(other))
    with up(tmp_path):
        cluster = reachable(tmp_path, 20)
        cluster.send([utterance(number) for number in range(10, 12)])
        assert len(answered(cluster, 12, 60)) == 12
