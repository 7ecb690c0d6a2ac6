"""Handing a record over at once changes nothing but the cost: what waits, is given up or fails does so as Faust has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from mode import Service

from streams import fetching


class Plain(Service):
    """A service that waits as Faust's consumer does, through the replacement."""

    wait_first = fetching._hand_over  # type: ignore[assignment]


def run(test: Callable[[Plain], Awaitable[None]]) -> None:
    async def inner() -> None:
        await asyncio.wait_for(test(Plain()), 10)

    asyncio.run(inner())


async def never() -> None:
    await asyncio.Event().wait()


def test_a_hand_over_that_need_not_wait_makes_no_task() -> None:
    async def test(service: Plain) -> None:
        async def callback() -> str:
            return "taken"

        before = len(asyncio.all_tasks())
        result = await service.wait_first(callback(), never())
        assert (result.results, result.stopped) == (["taken"], False)
        assert len(asyncio.all_tasks()) == before

    run(test)


@pytest.mark.parametrize("waits", [1, 3])
def test_one_that_waits_is_waited_for(waits: int) -> None:
    async def test(service: Plain) -> None:
        queue: asyncio.Queue[int] = asyncio.Queue(1)
        await queue.put(0)

        async def callback() -> str:
            for number in range(waits):
                await queue.put(number)
                await asyncio.sleep(0)
            return "taken"

        async def drain() -> None:
            for _ in range(waits):
                await asyncio.sleep(0.01)
                await queue.get()

        draining = asyncio.create_task(drain())
        result = await service.wait_first(callback(), never())
        assert (result.results, result.stopped) == (["taken"], False)
        await draining

    run(test)


def test_one_that_waits_is_given_up_in_a_rebalance() -> None:
    async def test(service: Plain) -> None:
        given_up = asyncio.Event()
        suspended = asyncio.Event()

        async def callback() -> None:
            try:
                await never()
            except asyncio.CancelledError:
                given_up.set()
                raise

        asyncio.get_running_loop().call_later(0.02, suspended.set)
        result = await service.wait_first(callback(), suspended.wait())
        assert result.results == [True]
        await asyncio.wait_for(given_up.wait(), 1)

    run(test)


@pytest.mark.parametrize("later", [False, True])
def test_what_fails_fails(later: bool) -> None:
    async def test(service: Plain) -> None:
        async def callback() -> None:
            if later:
                await asyncio.sleep(0.01)
            raise ValueError("full")

        with pytest.raises(ValueError, match="full"):
            await service.wait_first(callback(), never())

    run(test)


def test_other_waits_are_left_alone() -> None:
    async def test(service: Plain) -> None:
        event = asyncio.Event()
        asyncio.get_running_loop().call_later(0.01, event.set)
        assert (await service.wait(event)).stopped is False  # type: ignore[arg-type]

        async def one() -> int:
            return 1

        waiting: Coroutine[Any, Any, int] = one()
        assert (await service.wait_first(waiting, timeout=1)).results == [1]

    run(test)
