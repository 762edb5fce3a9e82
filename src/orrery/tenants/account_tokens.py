"""The tokens of a process that runs for long: each account's is asked for once, until it runs out."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from threading import Thread
from typing import TypeVar, cast

from orrery.ports.clock import Clock
from orrery.tenants.settings import TenantsSettings
from orrery.tenants.sign_ins import AccountToken, SignIns

T = TypeVar("T")

MARGIN = timedelta(minutes=5)
"""How long a token is good for at least: the vendor's library renews its own as early."""


class AccountTokens:
    """See `Accounts`. The provider is asked in a thread, and by one caller at a time for each account."""

    def __init__(self, sign_ins: SignIns, clock: Clock) -> None:
        self._sign_ins = sign_ins
        self._clock = clock
        self._kept: dict[str, AccountToken] = {}
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)

    @property
    def settings(self) -> TenantsSettings:
        """The tracks and their accounts."""
        return self._sign_ins.settings

    async def token(self, account: str) -> str:
        """See `Accounts`."""
        async with self._turns[account]:
            kept = self._kept.get(account)
            # Signing out is done by another process.
            _, sign_in = await _beside(partial(self._sign_ins.find, account))
            if kept is None or sign_in is None or kept.expires_at - self._clock.now() < MARGIN:
                kept = self._kept[account] = await _beside(partial(self._sign_ins.token, account))
            return kept.value

    async def forget(self, account: str) -> None:
        """See `Accounts`."""
        _ = self._kept.pop(account, None)

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """See `Accounts`."""
        _ = await _beside(partial(self._sign_ins.in_browser, account, visit))
        await self.forget(account)


async def _beside(work: Callable[[], T]) -> T:
    """Return what `work` returns, done in a thread that does not hold up the end of the process.

    A person may take minutes to sign in, and a pool of threads is waited for at the end.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(cast("T", result))
        else:
            done.set_exception(error)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  the caller gets it
            failed = error
        with suppress(RuntimeError):  # the process is ending, and its loop is closed
            _ = loop.call_soon_threadsafe(finish, result, failed)

    Thread(target=run, daemon=True).start()
    return await done
