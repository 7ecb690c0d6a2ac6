"""The Faust settings that hold the promises, the table's bounds, where rows lie, and that the guard waits."""

from __future__ import annotations

import asyncio

import faust
import pytest

from models.errors import UnavailableError
from streams.app import faust_app, rocksdb_options
from streams.guard import until_available
from streams.rows import TableRows, row_partition
from streams.settings import load_settings
from streams.topics import TOPICS, partition_for
from tables.person import person_key
from tables.store import HOT, UNIT, row_key


def test_faust_is_the_pinned_version() -> None:
    assert faust.__version__.startswith("0.15.3"), "streams/rows.py uses a private name of this very version"


def test_a_changelog_record_is_not_given_up_early() -> None:
    app = faust_app(load_settings(environ={}))
    assert app.conf.producer_request_timeout >= 300
    assert app.conf.processing_guarantee.value == "at_least_once"
    assert app.conf.stream_wait_empty is True


def test_rocksdb_is_bounded_and_the_options_are_made_afresh() -> None:
    settings = load_settings(environ={})
    options = rocksdb_options(settings)
    assert options["block_cache_size"] <= 64 * 2**20
    assert options["write_buffer_size"] * options["max_write_buffer_number"] <= 32 * 2**20
    options.pop("driver")
    assert rocksdb_options(settings)["driver"] == "rocksdict"


@pytest.mark.parametrize("user", ["acct-1", "用户 1", "a:b/c", "a\x00b", None])
def test_a_row_lies_where_its_persons_events_lie(user: str | None) -> None:
    person = person_key("default", user, "S-1")
    for key in (row_key(HOT, person), row_key(UNIT, person, 17)):
        assert row_partition(key, 4) == partition_for(person.encode(), 4)


def test_a_store_that_cannot_be_read_is_no_dead_letter() -> None:
    class Closed:
        @property
        def data(self) -> object:
            raise RuntimeError("closed")

    with pytest.raises(UnavailableError):
        TableRows(Closed(), 4).get(row_key(HOT, "default/u"))


def test_the_guard_tries_again_until_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.guard.FIRST_DELAY_S", 0.001)
    tries = []

    async def work() -> str:
        tries.append(1)
        if len(tries) < 4:
            raise UnavailableError("not yet")
        return "done"

    assert asyncio.run(until_available(work)) == "done"
    assert len(tries) == 4


def test_keys_do_not_collide() -> None:
    keys = [
        person_key("t", "a/b", "S"), person_key("t/a", "b", "S"), person_key("t", "a%2Fb", "S"),
        person_key("t", "~S", "x"), person_key("t", None, "S"), person_key("t", "S", "S"),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)


def test_every_topic_of_the_contract_is_there() -> None:
    names = {spec.name for spec in TOPICS}
    assert names == {
        "utterances.raw", "asr.raw", "utterances.clean", "utterances.resolved", "utterances.affect", "memory.units",
        "tasks.events", "memory.commands", "memory.audit", "knowledge.rules", "cues.bundles", "replies", "review.queue",
        "dead.letters",
    }  # fmt: skip
