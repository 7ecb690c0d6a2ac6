"""The table: rows lie with their person, and the local store never holds what the changelog lacks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rocksdict import Options, Rdict

from models.errors import UnavailableError
from streams.publish import Record
from streams.rows import Put, Rows, TableRows, build, gathered, row_partition, whole
from streams.topics import partition_for
from tables.person import person_key
from tables.store import EVENT, HOT, UNIT, row_key

PERSON = "default/u"
OFFSET = b"__faust\0offset__"


@pytest.fixture
def stores(tmp_path: Path) -> dict[int, Any]:
    return {row_partition(row_key(HOT, PERSON), 4): Rdict(str(tmp_path / "0.db"), Options(raw_mode=True))}


def table(stores: dict[int, Any]) -> Any:
    return SimpleNamespace(data=SimpleNamespace(_dbs=stores, offset_key=OFFSET))


class Changelog:
    """Takes records; acknowledges them only while `answers` is set."""

    def __init__(self) -> None:
        self.batches: list[Rows] = []
        self.answers = asyncio.Event()

    async def send(self, rows: Rows) -> asyncio.Task[Any]:
        offset = sum(len(batch.rows) for batch in self.batches)
        self.batches.append(rows)

        async def acknowledge(offset: int) -> Any:
            await self.answers.wait()
            return SimpleNamespace(offset=offset)

        return asyncio.create_task(acknowledge(offset))


PUTS: list[Put] = [
    (0, row_key(EVENT, PERSON, "e1"), b"1"),
    (0, row_key(HOT, PERSON), b"one"),
    (1, row_key(EVENT, PERSON, "e1"), None),
    (1, row_key(HOT, PERSON), b"two"),
]


def test_the_changelog_comes_first_in_order_and_then_all_rows_at_once(stores: dict[int, Any]) -> None:
    rows, store = TableRows(table(stores), 4, "log"), next(iter(stores.values()))

    async def run() -> Changelog:
        changelog = Changelog()
        writing = asyncio.create_task(rows.write(rows.batches(PUTS), changelog.send))
        await asyncio.sleep(0.02)
        assert store.get(row_key(HOT, PERSON)) is None, "a row is there before its changelog record is"
        changelog.answers.set()
        await writing
        return changelog

    changelog = asyncio.run(run())
    assert changelog.batches == [Rows("log", next(iter(stores)), tuple((key, value) for _, key, value in PUTS))]
    assert rows.get(row_key(HOT, PERSON)) == b"two"
    assert rows.get(row_key(EVENT, PERSON, "e1")) is None
    assert store.get(OFFSET) == b"3"


def test_a_row_put_again_goes_into_the_changelog_again(stores: dict[int, Any]) -> None:
    """A repeated event's rows, tombstones among them: equal to what the store holds, and sent all the same."""
    rows = TableRows(table(stores), 4, "log")

    async def run() -> Changelog:
        changelog = Changelog()
        changelog.answers.set()
        await rows.write(rows.batches(PUTS), changelog.send)
        await rows.write(rows.batches(PUTS[2:]), changelog.send)
        return changelog

    changelog = asyncio.run(run())
    assert [value for _, value in changelog.batches[1].rows] == [None, b"two"]


def test_rows_are_one_batch_a_partition_unless_it_would_be_too_large() -> None:
    rows = TableRows(table({}), 4, "log")
    puts = [(n, row_key(UNIT, f"default/u{n % 7}", n), b"x" * 300) for n in range(50)]
    batches = rows.batches(puts)
    assert whole(batches) and len(batches) == len({batch.partition for batch in batches})
    assert sorted(key for batch in batches for key, _ in batch.rows) == sorted(key for _, key, _ in puts)
    large: list[Put] = [(n, row_key(UNIT, PERSON, n), b"x" * 400_000) for n in range(10)]
    parts = rows.batches(large)
    assert not whole(parts)
    assert [row for part in parts for row in part.rows] == [(key, value) for _, key, value in large], "in order"
    for part in [*parts, *batches]:
        builder = build(part)
        builder.close()
        assert builder.record_count() == len(part.rows) and builder.size() < 2**21


@pytest.mark.parametrize("user", ["acct-1", "用户 1", "a:b/c", "a\x00b", "back\\slash", None])
def test_a_row_lies_where_its_persons_events_lie(user: str | None) -> None:
    person = person_key("default", user, "S-1")
    for key in (row_key(HOT, person), row_key(UNIT, person, 17)):
        assert row_partition(key, 4) == partition_for(person.encode(), 4)


def test_a_store_that_is_not_there_is_no_dead_letter() -> None:
    rows = TableRows(table({}), 4, "log")
    with pytest.raises(UnavailableError):
        rows.get(row_key(HOT, PERSON))


def test_outputs_are_gathered_by_partition_in_their_order() -> None:
    records = [Record("t", number % 2, b"k", b"x" * 100) for number in range(20)] + [Record("t", 0, None, b"y" * 5000)]
    found = gathered(records, most=600)
    for partition in (0, 1):
        sent = [row for batch in found if batch.partition == partition for row in batch.rows]
        assert sent == [(record.key, record.value) for record in records if record.partition == partition]
    assert all(len(batch.rows) == 1 or sum(len(v or b"") for _, v in batch.rows) <= 600 for batch in found)
    for batch in found:
        assert build(batch).record_count() == len(batch.rows)
