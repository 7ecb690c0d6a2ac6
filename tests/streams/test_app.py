"""The Faust settings that hold the promises, the table's bounds, the topics and their keys."""

from __future__ import annotations

import faust

from streams.app import faust_app, rocksdb_options
from streams.settings import load_settings
from streams.topics import TOPICS
from tables.person import person_key


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
