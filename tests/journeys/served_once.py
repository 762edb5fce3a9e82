"""Composes a deployment, asks each of its routes, runs each of its jobs, and prints what was loaded meanwhile.

usage: python -m tests.journeys.served_once SETTINGS PASSWORD   Prints one JSON object.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx2

from orrery.adapters.movable_clock import MovableClock
from orrery.app.cli.serve import log_settings, serve
from orrery.app.composition import opened
from orrery.app.deployment import Orrery
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import load
from orrery.errors import OrreryError
from orrery.ports.clock import Clock
from orrery.runtime.jobs import Job
from orrery.runtime.parts import routes_of
from orrery.runtime.readiness import Readiness
from tests.support.waiting import PATIENCE

CENTRE = ("/healthz", "/readyz", "/metrics", "/owner", "/docs", "/openapi.json")


async def served(config: Path, password: str) -> dict[str, object]:
    """Return our modules that were loaded while serving, and the jobs and answers that there were."""
    async with opened(*load(config)) as deployment:
        for start in (one for parts in deployment.modules for one in parts.at_start):
            await start()
        apps = apps_of(deployment)
        assert serve.__module__ in sys.modules  # as the service has it
        before = set(sys.modules)
        log_settings(await deployment[Readiness].run_round())
        answers = [await _asked(client, password, deployment) for client in map(_client, apps)]
        jobs = [job for parts in deployment.modules for job in parts.jobs]
        await _run(jobs, deployment[Clock])
        meanwhile = sorted(one for one in set(sys.modules) - before if one.startswith("orrery"))
    return {"loaded": meanwhile, "answers": answers, "jobs": [job.name for job in jobs]}


async def _asked(client: httpx2.AsyncClient, password: str, deployment: Orrery) -> dict[str, int]:
    """Ask every path that there is; return the status of each answer."""
    found: dict[str, int] = {}
    for method, path in [*(("GET", one) for one in CENTRE), *_routes(deployment)]:
        answer = await client.request(method, path, json={}, auth=("owner", password), timeout=PATIENCE)
        found[f"{method} {path}"] = answer.status_code
    return found


def _routes(deployment: Orrery) -> list[tuple[str, str]]:
    routers = [one for routes in routes_of(deployment.modules) for one in (*routes.public, *routes.private)]
    routes = [
        (getattr(route, "methods", ()), getattr(route, "path", "")) for one in routers for route in one.routes
    ]
    return [(method, path.replace("{session_id}", "cs_none")) for methods, path in routes for method in methods]


async def _run(jobs: Sequence[Job], clock: Clock) -> None:
    """Run each job once, all side by side; the time goes on for those that wait, a hundred times as fast."""
    assert isinstance(clock, MovableClock)
    running = [asyncio.create_task(_ran(job)) for job in jobs]
    while not all(one.done() for one in running):
        clock.advance(5)
        await clock.sleep(0.05)  # without it this computes for as long as an answer from outside takes


async def _ran(job: Job) -> None:
    try:
        _ = await job.run()
    except OrreryError as error:
        print(f"{job.name}: {error}", file=sys.stderr)  # noqa: T201  for whom the test fails


def _client(app: object) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)  # pyright: ignore[reportArgumentType]  an ASGI app
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(served(Path(sys.argv[1]), sys.argv[2]))))  # noqa: T201  what the test reads
