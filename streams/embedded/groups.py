"""Consumer groups: who is in, which generation, who has what. The classic protocol: join, sync, heartbeat, leave."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

ILLEGAL_GENERATION, INCONSISTENT_PROTOCOL, UNKNOWN_MEMBER, REBALANCING = 22, 23, 25, 27
CHECK_S = 0.2


@dataclass
class Member:
    """A consumer in a group. `joining` is set while its join waits for the others."""

    member_id: str
    session_s: float
    rebalance_s: float
    protocols: dict[str, bytes]
    seen: float
    joining: asyncio.Future[int] | None = None
    assignment: bytes = b""


@dataclass
class Group:
    """State ``empty``, ``joining`` (members are gathered), ``syncing`` (the leader divides) or ``stable``."""

    name: str
    state: str = "empty"
    generation: int = 0
    protocol: str = ""
    protocol_type: str = ""
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    deadline: float = 0.0
    synced: asyncio.Event = field(default_factory=asyncio.Event)

    def check(self, member_id: str, generation: int) -> int:
        """The error code of a request by a member of a generation; 0 where all is well."""
        member = self.members.get(member_id)
        if member is None:
            return UNKNOWN_MEMBER
        member.seen = time.monotonic()
        return ILLEGAL_GENERATION if generation != self.generation else 0

    def gather(self) -> None:
        """Begins a rebalance: every member is to join again within the longest rebalance time."""
        if self.state != "joining":
            self.state = "joining"
            self.synced.set()  # whoever waits for a division hears that it is void
            longest = max((member.rebalance_s for member in self.members.values()), default=0.0)
            self.deadline = time.monotonic() + longest

    def settle(self) -> None:
        """Ends the gathering when every member has joined: a new generation with its leader and protocol."""
        if self.state != "joining" or not self.members or any(m.joining is None for m in self.members.values()):
            return
        self.generation += 1
        self.leader = self.leader if self.leader in self.members else next(iter(self.members))
        common = set.intersection(*(set(member.protocols) for member in self.members.values()))
        self.protocol = next(name for name in self.members[self.leader].protocols if name in common)
        self.state, self.synced = "syncing", asyncio.Event()
        for member in self.members.values():
            member.seen, member.assignment = time.monotonic(), b""
            if member.joining is not None and not member.joining.done():
                member.joining.set_result(self.generation)
            member.joining = None

    def drop(self, member_id: str) -> None:
        """Takes a member out."""
        member = self.members.pop(member_id)
        if member.joining is not None and not member.joining.done():
            member.joining.cancel()
        if not self.members:
            self.state, self.leader = "empty", ""
            return
        self.gather()
        self.settle()

    def expire(self) -> None:
        """Takes out members that were silent for their session time, and those that did not join in time."""
        now = time.monotonic()
        late = self.state == "joining" and now > self.deadline
        for member in list(self.members.values()):
            if member.joining is None and (late or now - member.seen > member.session_s):
                self.drop(member.member_id)


class Coordinator:
    """All groups."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def group(self, name: str) -> Group:
        """The group, made on first use."""
        return self.groups.setdefault(name, Group(name))

    async def watch(self) -> None:
        """Expires members until cancelled."""
        while True:
            await asyncio.sleep(CHECK_S)
            for group in self.groups.values():
                group.expire()

    async def join(
        self,
        name: str,
        session_ms: int,
        rebalance_ms: int,
        member_id: str,
        kind: str,
        protocols: Sequence[tuple[str, bytes]],
    ) -> tuple[int, Group, str]:
        """(error, group, member id) once the group's next generation stands."""
        group, offered = self.group(name), dict(protocols)
        if member_id and member_id not in group.members:
            return UNKNOWN_MEMBER, group, member_id
        others = [member for member in group.members.values() if member.member_id != member_id]
        if not offered or any(not set(offered) & set(member.protocols) for member in others):
            return INCONSISTENT_PROTOCOL, group, member_id
        member_id = member_id or f"member-{uuid.uuid4()}"
        member = Member(member_id, session_ms / 1000, rebalance_ms / 1000, offered, time.monotonic())
        before = group.members.get(member_id)
        if before is not None and before.joining is not None and not before.joining.done():
            before.joining.cancel()
        member.joining = waiting = asyncio.get_running_loop().create_future()
        group.members[member_id] = member
        group.protocol_type = kind
        group.gather()
        group.settle()
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if waiting.cancelled():  # it was dropped, or joined again elsewhere
                return UNKNOWN_MEMBER, group, member_id
            member.joining = None  # its connection is gone: it expires unless it comes again
            raise
        return 0, group, member_id

    async def sync(
        self, name: str, generation: int, member_id: str, assignments: Sequence[tuple[str, bytes]]
    ) -> tuple[int, bytes]:
        """(error, the member's share) once the leader has divided."""
        group = self.group(name)
        error = group.check(member_id, generation)
        if error or group.state == "joining":
            return error or REBALANCING, b""
        if group.state == "syncing" and member_id == group.leader:
            for other, share in assignments:
                if other in group.members:
                    group.members[other].assignment = share
            group.state = "stable"
            group.synced.set()
        await group.synced.wait()
        if group.state != "stable" or group.generation != generation or member_id not in group.members:
            return REBALANCING, b""
        group.members[member_id].seen = time.monotonic()
        return 0, group.members[member_id].assignment

    def heartbeat(self, name: str, generation: int, member_id: str) -> int:
        """0, or what the member is to do: join again."""
        group = self.group(name)
        return group.check(member_id, generation) or (REBALANCING if group.state == "joining" else 0)

    def leave(self, name: str, member_id: str) -> int:
        """Takes a member out at its own wish."""
        group = self.group(name)
        if member_id not in group.members:
            return UNKNOWN_MEMBER
        group.drop(member_id)
        return 0
