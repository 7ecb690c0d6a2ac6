"""The table's index for another encoder: read from the changelog, put there again. No worker may run meanwhile.

The changelog is the table's truth: a worker that starts afterwards follows it, whatever its own folder holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka import KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from models.errors import ResourceError, UnavailableError
from streams.admin import BOOTSTRAP_MS
from streams.cli.common import consumer, unavailable
from streams.settings import Settings
from streams.topics import changelog_name
from tables.reindex import Embed, persons_of, rebuilt

Told = Callable[[str], None]


def refuse_running(settings: Settings) -> None:
    """Raises ResourceError while a worker of this installation is a member of its consumer group."""
    try:
        client = KafkaAdminClient(bootstrap_servers=settings.broker.split(","), bootstrap_timeout_ms=BOOTSTRAP_MS)
        try:
            members = members_of(client.describe_groups([settings.app_id]), settings.app_id)
        finally:
            client.close()
    except KafkaError as error:
        raise unavailable(settings, error) from None
    if members:
        raise ResourceError(
            f"{members} workers of {settings.app_id} are running: stop them first, and start them afterwards"
        )


def members_of(answer: Any, group: str) -> int:
    """How many members a described group has."""
    found = answer.get(group) if isinstance(answer, dict) else next(iter(answer), None)
    members = found.get("members") if isinstance(found, dict) else getattr(found, "members", None)
    return len(members or ())


def read_partition(settings: Settings, partition: int) -> dict[bytes, bytes]:
    """The rows of a partition as its changelog leaves them: the last value of each key, without the deleted ones."""
    reader = consumer(settings)
    try:
        place = TopicPartition(changelog_name(settings), partition)
        reader.assign([place])
        reader.seek_to_beginning(place)
        end = reader.end_offsets([place])[place]
        rows: dict[bytes, bytes] = {}
        while reader.position(place) < end:
            for records in reader.poll(timeout_ms=1000, max_records=5000).values():
                for record in records:
                    if record.value is None:
                        rows.pop(record.key, None)
                    else:
                        rows[record.key] = record.value
        return rows
    except KafkaError as error:
        raise UnavailableError(
            f"{changelog_name(settings)} cannot be read at {settings.broker} ({type(error).__name__}): is this the installation's "
            "broker (CUESTREAM_BROKER), app_id and data_dir?"
        ) from None
    finally:
        reader.close()


def reindex(settings: Settings, encoder: str, embed: Embed, tell: Told = lambda _: None) -> tuple[int, int]:
    """Puts every person's vectors anew. Returns how many persons and vectors were put; those already made by `encoder` are left."""
    refuse_running(settings)
    producer = KafkaProducer(
        bootstrap_servers=settings.broker.split(","), acks="all", max_request_size=2**21, linger_ms=20
    )
    persons = vectors = 0
    try:
        for partition in range(settings.partitions):
            rows = read_partition(settings, partition)
            names = persons_of(rows)
            for number, person in enumerate(names, 1):
                puts = 0
                for key, value in rebuilt(rows, person, encoder, embed):
                    producer.send(changelog_name(settings), key=key, value=value, partition=partition)
                    puts += 1
                producer.flush()
                persons += puts > 0
                vectors += max(0, puts - 1)
                tell(
                    f"partition {partition + 1} of {settings.partitions}: {number} of {len(names)} persons, {vectors} vectors"
                )
    except KafkaError as error:
        raise unavailable(settings, error) from None
    finally:
        producer.close()
    return persons, vectors
