"""Creating and checking topics, the table's changelog among them (kafka-python's admin client)."""

from __future__ import annotations

import time

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from models.errors import ResourceError, UnavailableError
from streams.settings import Settings
from streams.topics import TOPICS, changelog_name, configs, full_name

BOOTSTRAP_MS = 8_000
"""How long a command waits for a broker that does not answer."""
CHANGELOG_DELETE_RETENTION_MS = 7 * 86_400_000
"""How long a changelog keeps its tombstones: a data folder that was away longer would bring erased rows back."""


def wanted_topics(settings: Settings) -> dict[str, dict[str, str]]:
    """Every topic's full name with its configs on the broker."""
    found = {full_name(settings, spec.name): configs(spec) for spec in TOPICS}
    changelog = {
        "cleanup.policy": "compact",
        "max.message.bytes": str(2**21),
        "delete.retention.ms": str(CHANGELOG_DELETE_RETENTION_MS),
    }
    if settings.replication > 2:
        changelog["min.insync.replicas"] = "2"
    found[changelog_name(settings)] = changelog
    return found


def _client(settings: Settings) -> KafkaAdminClient:
    try:
        return KafkaAdminClient(
            bootstrap_servers=settings.broker.split(","), client_id="cuestream-admin", bootstrap_timeout_ms=BOOTSTRAP_MS
        )
    except KafkaError as error:
        raise UnavailableError(
            f"no broker answers at {settings.broker} ({type(error).__name__}): is it running?"
        ) from None


def create_topics(settings: Settings) -> list[str]:
    """Creates what is missing and returns its names. Raises `ResourceError` where the broker refuses."""
    client = _client(settings)
    try:
        known = set(client.list_topics())
        missing = {name: found for name, found in wanted_topics(settings).items() if name not in known}
        if not missing:
            return []
        topics = [
            NewTopic(
                name, num_partitions=settings.partitions, replication_factor=settings.replication, topic_configs=found
            )
            for name, found in missing.items()
        ]
        answer = client.create_topics(topics, raise_errors=False)
        refused = [
            f"{topic['name']}: {topic['error_message'] or topic['error_code']}"
            for topic in answer["topics"]
            if topic["error_code"] not in (0, 36)  # 36: somebody else created it meanwhile
        ]
        if refused:
            raise ResourceError("the broker refused: " + "; ".join(refused))
        limit = time.monotonic() + BOOTSTRAP_MS / 1000
        while set(missing) - set(client.list_topics()) and time.monotonic() < limit:
            time.sleep(0.1)  # a broker answers before all its parts know of a topic
        return sorted(missing)
    except KafkaError as error:
        raise UnavailableError(f"the broker at {settings.broker} failed: {type(error).__name__}") from None
    finally:
        client.close()


def check_topics(settings: Settings) -> list[str]:
    """What is wrong with the topics as they are, a sentence each with what to do; empty where all is well."""
    client = _client(settings)
    try:
        known = set(client.list_topics())
        wanted = wanted_topics(settings)
        problems = [f"{name}: missing; run `cuestream topics create`" for name in wanted if name not in known]
        there = [name for name in wanted if name in known]
        for topic in client.describe_topics(there) if there else []:
            count = len(topic["partitions"])
            if count != settings.partitions:
                problems.append(
                    f"{topic['name']}: {count} partitions, the settings say {settings.partitions}; every topic and the table "
                    "must have the same number: correct `partitions`, or make the topic anew"
                )
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in there]
        real = client.describe_configs(resources)["topic"] if resources else {}
        for name in there:
            policy = real.get(name, {}).get("cleanup.policy", {}).get("value", "delete")
            if policy != wanted[name]["cleanup.policy"]:
                problems.append(
                    f"{name}: cleanup.policy is {policy}, not {wanted[name]['cleanup.policy']}; alter it on the broker"
                )
        return problems
    except KafkaError as error:
        raise UnavailableError(f"the broker at {settings.broker} failed: {type(error).__name__}") from None
    finally:
        client.close()
