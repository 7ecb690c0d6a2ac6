"""The status page of a worker: /health and /metrics on the loopback address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from streams.app import Job

HOST = "127.0.0.1"


class StatusPage:
    """A tiny HTTP server in the worker's own loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listens on `web_port`."""
        app = web.Application()
        app.router.add_get("/", self._home)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self._job.settings.web_port).start()

    async def stop(self) -> None:
        """Stops listening."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _home(self, _: web.Request) -> web.Response:
        metrics = self._job.metrics
        rows = "".join(f"<tr><td>{name}<td align=right>{count}" for name, count in sorted(metrics.records.items()))
        page = f"<!doctype html><meta charset=utf-8><title>cuestream</title><h1>cuestream</h1><table>{rows}</table>"
        return web.Response(text=page, content_type="text/html")

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "up", "events": dict(self._job.metrics.events)})

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(text=self._job.metrics.text(), content_type="text/plain")
