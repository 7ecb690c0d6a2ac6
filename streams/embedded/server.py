"""The broker's socket: frames in, one request after another on each connection, frames out."""

from __future__ import annotations

import asyncio
import logging
import struct
from io import BytesIO
from typing import Any

from aiokafka.protocol.admin import ApiVersionResponse_v0

from streams.embedded.api import REQUESTS, UNSUPPORTED, VERSIONS, Api

log = logging.getLogger(__name__)
API_VERSIONS = 18
MOST_FRAME_BYTES = 64 * 2**20
_HEAD = struct.Struct(">hhih")
"""Of a request: its kind, version, correlation id, and the length of the client's name (-1: none)."""


class Connection(asyncio.Protocol):
    """One client. Requests are answered in the order they came; a closed connection cancels the one in hand."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._buffer = bytearray()
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins to answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        """Cuts what came in into frames."""
        self._buffer += data
        while len(self._buffer) >= 4:
            size = int.from_bytes(self._buffer[:4], "big")
            if size > MOST_FRAME_BYTES:
                self._close()
                return
            if len(self._buffer) < 4 + size:
                return
            self._frames.put_nowait(bytes(self._buffer[4 : 4 + size]))
            del self._buffer[: 4 + size]

    def connection_lost(self, _: Exception | None) -> None:
        """Ends the work for this client."""
        if self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        try:
            while True:
                response = await self._answer(await self._frames.get())
                if response is not None and self._transport is not None:
                    self._transport.write(len(response).to_bytes(4, "big") + response)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("a request could not be answered; its connection is closed")
            self._close()

    async def _answer(self, frame: bytes) -> bytes | None:
        key, version, correlation, name = _HEAD.unpack_from(frame)
        kind = REQUESTS.get(key)
        if key == API_VERSIONS:
            error = 0 if version == 0 else UNSUPPORTED  # a client that hears 35 asks again with version 0
            body = ApiVersionResponse_v0(error, VERSIONS).encode()
            return correlation.to_bytes(4, "big", signed=True) + body
        if kind is None or version != kind.API_VERSION:
            raise ValueError(f"request {key} version {version} is not spoken here")
        request = kind.decode(BytesIO(frame[_HEAD.size + max(0, name) :]))
        response: Any = await self._api.answer(request)
        return None if response is None else correlation.to_bytes(4, "big", signed=True) + response.encode()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def serve(api: Api, host: str, port: int) -> None:
    """Answers clients until cancelled."""
    server = await asyncio.get_running_loop().create_server(lambda: Connection(api), host, port)
    watch = asyncio.create_task(api.groups.watch())
    try:
        async with server:
            await server.serve_forever()
    finally:
        watch.cancel()
