"""A failed send is sent again until it is through, in order; nothing is raised, nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from streams import publish as module
from streams.messages import Output
from streams.publish import publish


def outputs(count: int) -> list[Output]:
    return [Output(topic="t", person="p", key=b"p", value=b"%d" % number) for number in range(count)]


class FlakyProducer:
    """Fails the acknowledgement, or the hand-over, of chosen sends."""

    def __init__(self, fail_ack: int = 0, fail_hand: int = 0) -> None:
        self.fail_ack, self.fail_hand = fail_ack, fail_hand
        self.through: list[bytes] = []

    async def send(self, output: Output) -> asyncio.Future[None]:
        if self.fail_hand:
            self.fail_hand -= 1
            raise ConnectionError("no leader")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.fail_ack:
            self.fail_ack -= 1
            future.set_exception(ConnectionError("not acknowledged"))
        else:
            self.through.append(output.value or b"")
            future.set_result(None)
        return future


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.002)


@pytest.mark.parametrize(("ack", "hand"), [(0, 0), (3, 0), (0, 3), (25, 7)])
def test_every_output_gets_through(ack: int, hand: int) -> None:
    producer = FlakyProducer(ack, hand)
    again = asyncio.run(publish(outputs(10), producer.send))
    assert sorted(producer.through) == sorted(b"%d" % n for n in range(10))
    assert again == ack + hand


def test_order_is_kept_where_nothing_fails() -> None:
    producer = FlakyProducer()
    asyncio.run(publish(outputs(10), producer.send))
    assert producer.through == [b"%d" % n for n in range(10)]


def test_a_cancelled_batch_is_not_swallowed() -> None:
    async def never(_: Output) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    async def run() -> None:
        task = asyncio.create_task(publish(outputs(1), never))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
