"""Settings: file, then variables, then --set; a wrong one is named."""

from pathlib import Path

import pytest

from models.errors import ResourceError
from streams.settings import load_settings


def test_order_of_precedence(tmp_path: Path) -> None:
    file = tmp_path / "cuestream.toml"
    file.write_text('topic_prefix = "a."\npartitions = 8\n[recall]\nmax_cues = 5\non = "all"\n', encoding="utf-8")
    settings = load_settings(
        ["recall.max_cues=20"], file=file, environ={"CUESTREAM_RECALL_MAX_CUES": "7", "CUESTREAM_TOPIC_PREFIX": "b."}
    )
    assert (settings.recall.max_cues, settings.topic_prefix, settings.partitions, settings.recall.on) == (
        20,
        "b.",
        8,
        "all",
    )


@pytest.mark.parametrize(
    ("assignment", "said"),
    [("recall.max_cue=3", "expected key=value"), ("recall.max_cues", "expected key=value"), ("recall.max_cues=many", "max_cues"),
     ("recall.on=sometimes", "recall.on"), ("worker.session_timeout=2", "session_timeout"), ("partitions=0", "partitions")],
)  # fmt: skip
def test_a_wrong_setting_is_named(assignment: str, said: str) -> None:
    with pytest.raises(ResourceError, match=said):
        load_settings([assignment], environ={})


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cuestream.toml"
    file.write_text("partitions = ", encoding="utf-8")
    with pytest.raises(ResourceError, match=r"cuestream\.toml"):
        load_settings(file=file, environ={})
