"""What several commands share: settings with the broker found, reading a topic to its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from models.errors import UnavailableError
from streams.admin import BOOTSTRAP_MS
from streams.broker import running_broker
from streams.settings import Settings, load_settings
from streams.topics import MAX_DEAD_BYTES, full_name

DEFAULT_BROKER = "localhost:9092"


def settings_with_broker(assignments: Iterable[str]) -> Settings:
    """The settings; where none names a broker, that of a running `cuestream up`, else the default one."""
    settings = load_settings(assignments)
    if settings.broker:
        return settings
    return msgspec.structs.replace(settings, broker=running_broker(Path(settings.data_dir)) or DEFAULT_BROKER)


def consumer(settings: Settings) -> KafkaConsumer:
    """A consumer without a group. Raises `UnavailableError` where no broker answers."""
    try:
        return KafkaConsumer(
            bootstrap_servers=settings.broker.split(","),
            bootstrap_timeout_ms=BOOTSTRAP_MS,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=MAX_DEAD_BYTES,
        )
    except KafkaError as error:
        raise unavailable(settings, error) from None


def unavailable(settings: Settings, error: Exception) -> UnavailableError:
    """What to say when the broker does not answer."""
    return UnavailableError(
        f"no broker answers at {settings.broker} ({type(error).__name__}): start `cuestream up`, or set CUESTREAM_BROKER"
    )


def read_topic(settings: Settings, logical: str) -> Iterator[tuple[int, int, bytes | None, bytes | None]]:
    """(partition, offset, key, value) of all records of a topic up to its present end."""
    reader = consumer(settings)
    try:
        name = full_name(settings, logical)
        numbers = reader.partitions_for_topic(name) or set()
        places = [TopicPartition(name, number) for number in sorted(numbers)]
        if not places:
            raise UnavailableError(f"{name}: no such topic; run `cuestream topics create`")
        reader.assign(places)
        reader.seek_to_beginning(*places)
        ends = reader.end_offsets(places)
        while any(reader.position(place) < ends[place] for place in places):
            for records in reader.poll(timeout_ms=500).values():
                for record in records:
                    yield record.partition, record.offset, record.key, record.value
    finally:
        reader.close()
