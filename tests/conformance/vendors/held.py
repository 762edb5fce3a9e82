"""Requests whose answer a fault keeps back: until the sandbox's clock has moved on, or for ever."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.support.waiting import IN_CLEAR, PATIENCE, eventually


def late(web: httpx2.Client, seconds: float, path: str, **request: Any) -> httpx2.Response:  # noqa: ANN401  as httpx2 takes it
    """Post a request that the fault strikes; see that its answer is kept back until these seconds have passed."""

    async def wait() -> httpx2.Response:
        async with held(posted(web, path, **request), lambda: expect_met(web)) as answer:
            web.post("/_clock", json={"advance": seconds})
            return await answer

    return asyncio.run(wait())


def never(web: httpx2.Client, path: str, **request: Any) -> None:  # noqa: ANN401  as httpx2 takes it
    """Post a request that the fault strikes; see that it gets no answer while other requests do, and hang up."""

    async def wait() -> None:
        async with held(posted(web, path, **request), lambda: expect_met(web)):
            pass

    asyncio.run(wait())


@asynccontextmanager
async def held(work: Coroutine[Any, Any, Any], is_held: Callable[[], None]) -> AsyncGenerator[asyncio.Task[Any]]:
    """Begin the work; once `is_held` does not fail any more, yield it as a task, and give it up at the end."""
    task = asyncio.create_task(work)
    try:
        await asyncio.to_thread(eventually, is_held)
        assert not task.done()
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def posted(web: httpx2.Client, path: str, **request: Any) -> httpx2.Response:  # noqa: ANN401  as httpx2 takes it
    """Post over another connection."""
    async with httpx2.AsyncClient(
        base_url=web.base_url, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR
    ) as other:
        return await other.post(path, **request)


def expect_met(web: httpx2.Client) -> None:
    """Fail, for now, while a fault waits for its request."""
    assert web.get("/_faults").json()["active"] == []
