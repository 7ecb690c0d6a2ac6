"""A stage that raises costs only the record that made it raise, and an agent never raises."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from models.errors import ResourceError, UnavailableError
from streams.guard import FAIL_STOP, guarded, until_available
from streams.messages import Batch, Message, Output
from tables.store import Readable
from tests.streams.conftest import ROOT


def messages(*values: bytes) -> list[Message]:
    return [
        Message(topic="utterances.clean", partition=1, offset=number, key=b"t/u", value=value)
        for number, value in enumerate(values)
    ]


def adding(batch: Sequence[Message], rows: Readable) -> Batch:
    """Appends each value to one row; fails on "bad", is out of reach on "later"."""
    result, row = Batch(), rows.get(b"row") or b""
    for index, message in enumerate(batch):
        if message.value == b"bad":
            raise RuntimeError("unforeseen")
        if message.value == b"later":
            raise UnavailableError("not now")
        row += message.value
        result.caused_outputs.append((index, Output(topic="cues.bundles", person="t/u", key=b"t/u", value=row)))
        result.puts.append((index, b"row", row))
    return result


def test_a_record_that_fails_is_a_dead_letter_and_the_others_go_on() -> None:
    batch = guarded("memory", adding, messages(b"a", b"bad", b"b", b"bad", b"c"), {}, True)
    kinds = [(index, output.topic) for index, output in batch.caused_outputs]
    assert kinds == [
        (0, "cues.bundles"), (1, "dead.letters"), (2, "cues.bundles"), (3, "dead.letters"), (4, "cues.bundles"),
    ]  # fmt: skip
    assert [value for _, _, value in batch.puts] == [b"a", b"ab", b"abc"]
    letter = json.loads(batch.caused_outputs[1][1].value or b"")
    assert (letter["stage"], letter["reason"], letter["error"]) == ("memory", "internal_error", "RuntimeError")
    assert letter["source"] == {"topic": "utterances.clean", "partition": 1, "offset": 1}


def test_a_sound_batch_goes_through_at_once() -> None:
    batch = guarded("memory", adding, messages(b"a", b"b"), {b"row": b"0"}, True)
    assert [value for _, _, value in batch.puts] == [b"0a", b"0ab"]


def test_what_is_out_of_reach_is_no_dead_letter() -> None:
    with pytest.raises(UnavailableError):
        guarded("memory", adding, messages(b"a", b"later"), {}, True)
    with pytest.raises(UnavailableError):
        guarded("memory", adding, messages(b"bad", b"later"), {}, True)


def test_a_bad_file_blames_no_record_and_no_text_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(batch: Sequence[Message], _: Readable) -> Batch:
        raise (
            ResourceError("weights.npz: cut short")
            if batch[0].value == b"file"
            else ValueError(batch[0].value.decode())
        )

    with pytest.raises(ResourceError):
        guarded("memory", broken, messages(b"file"), {}, True)
    guarded("memory", broken, messages("她说了什么".encode()), {}, True)
    assert "ValueError" in caplog.text and "她说了什么" not in caplog.text


def test_it_tries_again_until_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.guard.FIRST_DELAY_S", 0.001)
    tries = []

    async def work() -> str:
        tries.append(1)
        if len(tries) < 4:
            raise UnavailableError("not yet")
        return "done"

    assert asyncio.run(until_available(work)) == "done"
    assert len(tries) == 4


def test_a_worker_that_must_not_go_on_ends_at_once() -> None:
    code = (
        "import atexit; atexit.register(print, 'unwound')\nfrom streams.guard import fail_stop; fail_stop('disk full')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == FAIL_STOP
    assert "unwound" not in ended.stdout
    assert "disk full" in ended.stderr
