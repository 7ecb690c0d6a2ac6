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
from streams.rows import Put, TableRows, row_partition
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
        self.records: list[Record] = []
        self.answers = asyncio.Event()

    async def send(self, record: Record) -> asyncio.Task[Any]:
        self.records.append(record)

        async def acknowledge(offset: int) -> Any:
            await self.answers.wait()
            return SimpleNamespace(offset=offset)

        return asyncio.create_task(acknowledge(len(self.records) - 1))


PUTS: list[Put] = [
    (0, row_key(EVENT, PERSON, "e1"), b"1"),
    (0, row_key(HOT, PERSON), b"one"),
    (1, row_key(EVENT, PERSON, "e1"), None),
    (1, row_key(HOT, PERSON), b"two"),
]


def test_the_changelog_comes_first_in_order_and_then_all_rows_at_once(stores: dict[int, Any]) -> None:
    rows, store = TableRows(table(stores), 4), next(iter(stores.values()))

    async def run() -> Changelog:
        changelog = Changelog()
        writing = asyncio.create_task(rows.write(PUTS, "log", changelog.send))
        await asyncio.sleep(0.02)
        assert store.get(row_key(HOT, PERSON)) is None, "a row is there before its changelog record is"
        changelog.answers.set()
        await writing
        return changelog

    changelog = asyncio.run(run())
    assert [(record.key, record.value) for record in changelog.records] == [(key, value) for _, key, value in PUTS]
    assert rows.get(row_key(HOT, PERSON)) == b"two"
    assert rows.get(row_key(EVENT, PERSON, "e1")) is None
    assert store.get(OFFSET) == b"3"


def test_a_row_put_again_goes_into_the_changelog_again(stores: dict[int, Any]) -> None:
    """A repeated event's rows, tombstones among them: equal to what the store holds, and sent all the same."""
    rows = TableRows(table(stores), 4)

    async def run() -> Changelog:
        changelog = Changelog()
        changelog.answers.set()
        await rows.write(PUTS, "log", changelog.send)
        await rows.write(PUTS[2:], "log", changelog.send)
        return changelog

    changelog = asyncio.run(run())
    assert [record.value for record in changelog.records[4:]] == [None, b"two"]


@pytest.mark.parametrize("user", ["acct-1", "用户 1", "a:b/c", "a\x00b", "back\\slash", None])
def test_a_row_lies_where_its_persons_events_lie(user: str | None) -> None:
    person = person_key("default", user, "S-1")
    for key in (row_key(HOT, person), row_key(UNIT, person, 17)):
        assert row_partition(key, 4) == partition_for(person.encode(), 4)


def test_a_store_that_is_not_there_is_no_dead_letter() -> None:
    rows = TableRows(table({}), 4)
    with pytest.raises(UnavailableError):
        rows.get(row_key(HOT, PERSON))
