"""`cuestream dead list|retry`: what could not be taken, and feeding it again."""

from __future__ import annotations

import argparse
import base64
import sys

import msgspec

from models.errors import ResourceError
from models.records import Dead
from streams.cli.common import consumer, read_topic, settings_with_broker
from streams.settings import Settings
from streams.topics import full_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("action", choices=("list", "retry"))
    parser.add_argument("--reason", help="only dead letters with this reason")
    parser.add_argument("--stage", help="only those of this stage")
    parser.add_argument("--source", help="only this one: topic/partition/offset, as `list` shows it")
    parser.add_argument("--json", action="store_true", help="list whole records, one a line")


def run(args: argparse.Namespace) -> int:
    """0, or 1 where a record could not be fed again."""
    settings = settings_with_broker(args.assignments)
    found = [dead for dead in dead_letters(settings) if wanted(dead, args)]
    if args.action == "list":
        for dead in found:
            print(
                msgspec.json.encode(dead).decode()
                if args.json
                else f"{place_of(dead)}\t{dead.stage}\t{dead.reason}\t{dead.error}"
            )
        print(f"{len(found)} dead letters", file=sys.stderr)
        return 0
    return retry(settings, found)


def dead_letters(settings: Settings) -> list[Dead]:
    """All dead letters, by partition and offset; of a repeated one the last."""
    letters: dict[tuple[str, str], Dead] = {}
    for _, _, _, value in read_topic(settings, "dead.letters"):
        if value is not None:
            dead = msgspec.json.decode(value, type=Dead)
            letters[(place_of(dead), dead.stage)] = dead
    return list(letters.values())


def place_of(dead: Dead) -> str:
    """The raw record's place as ``topic/partition/offset``."""
    return f"{dead.source.topic}/{dead.source.partition}/{dead.source.offset}"


def wanted(dead: Dead, args: argparse.Namespace) -> bool:
    """Whether the filters let it through."""
    return (
        (args.reason is None or dead.reason == args.reason)
        and (args.stage is None or dead.stage == args.stage)
        and (args.source is None or place_of(dead) == args.source)
    )


def retry(settings: Settings, letters: list[Dead]) -> int:
    """Feeds records to their raw topics again: from there where they still lie, else from the dead letter's own copy."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=settings.broker.split(","), max_request_size=4 * 2**20)
    failed = 0
    for dead in letters:
        record = original(settings, dead)
        if record is None:
            failed += 1
            print(f"{place_of(dead)}: its bytes are gone from the topic, and the letter holds none", file=sys.stderr)
            continue
        key, value = record
        producer.send(full_name(settings, dead.source.topic), key=key, value=value).get(timeout=30)
        print(f"{place_of(dead)}: fed again")
    producer.close()
    print(f"{len(letters) - failed} fed again, {failed} not", file=sys.stderr)
    return 1 if failed else 0


def original(settings: Settings, dead: Dead) -> tuple[bytes | None, bytes] | None:
    """(key, bytes) of the raw record, or None where neither the topic nor the letter has them."""
    from kafka import TopicPartition

    reader = consumer(settings)
    try:
        place = TopicPartition(full_name(settings, dead.source.topic), dead.source.partition)
        reader.assign([place])
        first, last = reader.beginning_offsets([place])[place], reader.end_offsets([place])[place]
        if first <= dead.source.offset < last:
            reader.seek(place, dead.source.offset)
            for records in reader.poll(timeout_ms=5000, max_records=1).values():
                for record in records:
                    if record.offset == dead.source.offset:
                        return record.key, record.value
    except KeyError as error:
        raise ResourceError(f"{dead.source.topic}: no such topic ({error})") from None
    finally:
        reader.close()
    if dead.original_b64 is None:
        return None
    return None, base64.b64decode(dead.original_b64)
