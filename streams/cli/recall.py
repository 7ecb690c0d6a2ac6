"""`cuestream recall --user … --text …`: one bundle from the running worker's state. A probe: it leaves no trace."""

from __future__ import annotations

import argparse
import time
import uuid
from datetime import UTC, datetime

import msgspec

from models.errors import ResourceError, UnavailableError
from models.records import Speaker, Utterance, encode
from streams.cli.common import consumer, settings_with_broker, unavailable
from streams.settings import Settings
from streams.topics import full_name, partition_for
from tables.person import person_key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--user", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--tenant", default="default")
    parser.add_argument(
        "--session", default=None, help="continue this session; by default the probe has one of its own"
    )
    parser.add_argument("--clearance", type=int, default=0)
    parser.add_argument(
        "--now", default=None, help="the probe's event time, RFC 3339 with an offset (default: the present)"
    )
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds to wait for the bundle")


def run(args: argparse.Namespace) -> int:
    """0 and the bundle on standard output, or 1 where none came."""
    settings = settings_with_broker(args.assignments)
    if settings.recall.on == "none":
        raise ResourceError("recall.on is none: no turn gets a bundle")
    event_id = f"probe-{uuid.uuid4()}"
    probe = Utterance(
        event_id=event_id, tenant=args.tenant, user_id=args.user, session_id=args.session or event_id,
        speaker=Speaker(id=args.user, role="customer"), text=args.text, ts=_moment(args.now), clearance=args.clearance, remember=False,
    )  # fmt: skip
    key = person_key(args.tenant, args.user, "").encode()
    bundle = ask(settings, key, encode(probe), event_id, args.timeout)
    print(msgspec.json.format(bundle, indent=2).decode())
    return 0


def ask(settings: Settings, key: bytes, value: bytes, event_id: str, timeout_s: float) -> bytes:
    """Sends a probe and waits for its bundle. Raises `UnavailableError` where none comes."""
    from kafka import KafkaProducer, TopicPartition
    from kafka.errors import KafkaError

    reader = consumer(settings)
    try:
        place = TopicPartition(full_name(settings, "cues.bundles"), partition_for(key, settings.partitions))
        reader.assign([place])
        reader.seek_to_end(place)
        reader.position(place)
        producer = KafkaProducer(bootstrap_servers=settings.broker.split(","))
        producer.send(full_name(settings, "utterances.raw"), key=key, value=value).get(timeout=timeout_s)
        producer.close()
        limit = time.monotonic() + timeout_s
        needle = f'"event_id":"{event_id}"'.encode()
        while time.monotonic() < limit:
            for records in reader.poll(timeout_ms=200).values():
                for record in records:
                    if record.value is not None and needle in record.value:
                        return record.value
    except KafkaError as error:
        raise unavailable(settings, error) from None
    finally:
        reader.close()
    raise UnavailableError(
        f"no bundle within {timeout_s:g} s: is a worker running? `cuestream dead list` shows refused records"
    )


def _moment(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ResourceError(f"--now {text}: expected RFC 3339, for example 2026-11-30T10:00:00+08:00") from None
    if moment.tzinfo is None:
        raise ResourceError(f"--now {text}: needs an offset, for example +08:00")
    return moment
