"""Lanes give what one engine gives, whatever their number."""

from __future__ import annotations

import pytest

from bench.conversation import utterances
from streams.engine import Engine
from streams.lanes import Lanes
from streams.messages import Message
from streams.offline import Offsets
from streams.routing import route
from streams.settings import load_settings
from streams.stages.ingest import Ingest


def clean_messages(count: int) -> list[Message]:
    ingest, raw, clean = Ingest(), Offsets(4), Offsets(4)
    found = []
    for line in utterances(count, persons=9):
        for output in ingest.process_one(raw.place(*route(line), line)):
            found.append(clean.place(output.topic, output.key, output.value or b""))
    return found


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(load_settings(environ={}))


@pytest.mark.parametrize("count", [2, 3])
def test_the_number_of_lanes_does_not_show(engine: Engine, count: int) -> None:
    messages = clean_messages(60)
    assert len({message.partition for message in messages}) > 2
    alone_rows: dict[bytes, bytes] = {}
    lanes_rows: dict[bytes, bytes] = {}
    alone, lanes = engine.sibling(), Lanes([engine.sibling() for _ in range(count)])
    for start in range(0, len(messages), 20):
        part = messages[start : start + 20]
        one, many = alone.process(part, alone_rows), lanes.process(part, lanes_rows)
        assert many.caused_outputs == one.caused_outputs
        assert {(index, key): value for index, key, value in many.puts} == {
            (index, key): value for index, key, value in one.puts
        }
        for rows, batch in ((alone_rows, one), (lanes_rows, many)):
            rows.update({key: value for _, key, value in batch.puts if value is not None})
    assert lanes_rows == alone_rows
