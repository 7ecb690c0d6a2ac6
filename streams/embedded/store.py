"""What the broker keeps: topics with their partitions and configs, and the offsets of groups."""

from __future__ import annotations

from pathlib import Path

import msgspec

from streams.embedded.log import PartitionLog

REWRITE_LINES = 20_000
"""The file of committed offsets is written anew when it has grown by so many lines."""


class Topic(msgspec.Struct):
    """A topic: its number of partitions and its configs."""

    partitions: int
    configs: dict[str, str]


class Commit(msgspec.Struct, array_like=True):
    """A group's offset in a partition, as a line of ``offsets.jsonl``."""

    group: str
    topic: str
    partition: int
    offset: int
    metadata: str


class Store:
    """The broker's data folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.topics: dict[str, Topic] = {}
        self.logs: dict[tuple[str, int], PartitionLog] = {}
        self.commits: dict[tuple[str, str, int], Commit] = {}
        names = folder / "topics.json"
        if names.is_file():
            self.topics = msgspec.json.decode(names.read_bytes(), type=dict[str, Topic])
        for name, topic in self.topics.items():
            self._open(name, topic)
        self._read_commits()

    def create(self, name: str, partitions: int, configs: dict[str, str]) -> None:
        """Makes a topic that does not exist yet."""
        topic = self.topics[name] = Topic(partitions, configs)
        self._open(name, topic)
        self._save_topics()

    def delete(self, name: str) -> None:
        """Removes a topic with its records and the offsets committed in it."""
        topic = self.topics.pop(name)
        self._save_topics()
        for number in range(topic.partitions):
            self.logs.pop((name, number)).close()
            folder = self._folder / "logs" / f"{name}-{number}"
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
        self.commits = {place: commit for place, commit in self.commits.items() if place[1] != name}
        self._rewrite_commits()

    def commit(self, commit: Commit) -> None:
        """Keeps a committed offset."""
        self.commits[(commit.group, commit.topic, commit.partition)] = commit
        self._commit_file.write(msgspec.json.encode(commit) + b"\n")
        self._lines += 1
        if self._lines >= REWRITE_LINES:
            self._rewrite_commits()

    def _open(self, name: str, topic: Topic) -> None:
        compacted = topic.configs.get("cleanup.policy", "delete") == "compact"
        retention = int(topic.configs.get("retention.ms", 7 * 86_400_000))
        for number in range(topic.partitions):
            folder = self._folder / "logs" / f"{name}-{number}"
            self.logs[(name, number)] = PartitionLog(folder, None if compacted or retention < 0 else retention)

    def _save_topics(self) -> None:
        _replace(self._folder / "topics.json", msgspec.json.encode(self.topics))

    def _read_commits(self) -> None:
        path = self._folder / "offsets.jsonl"
        for line in path.read_bytes().splitlines() if path.is_file() else []:
            try:
                commit = msgspec.json.decode(line, type=Commit)
            except msgspec.DecodeError:
                continue  # the last line, cut short by a kill
            self.commits[(commit.group, commit.topic, commit.partition)] = commit
        self._rewrite_commits()

    def _rewrite_commits(self) -> None:
        path = self._folder / "offsets.jsonl"
        _replace(path, b"".join(msgspec.json.encode(commit) + b"\n" for commit in self.commits.values()))
        self._commit_file = path.open("ab", buffering=0)
        self._lines = 0


def _replace(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(data)
    fresh.replace(path)
