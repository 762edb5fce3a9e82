"""The tokens of a process that runs for long: each account's is asked for once, until it runs out."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta

from orrery.ports.clock import Clock
from orrery.tenants.sign_ins import AccountToken, SignIns

MARGIN = timedelta(minutes=5)
"""How long a token is good for at least: the vendor's library renews its own as early."""


class AccountTokens:
    """See `Accounts`. The provider is asked in a thread, and by one caller at a time for each account."""

    def __init__(self, sign_ins: SignIns, clock: Clock) -> None:
        self._sign_ins = sign_ins
        self._clock = clock
        self._kept: dict[str, AccountToken] = {}
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def token(self, account: str) -> str:
        """See `Accounts`."""
        async with self._turns[account]:
            kept = self._kept.get(account)
            if kept is None or kept.expires_at - self._clock.now() < MARGIN:
                kept = self._kept[account] = await asyncio.to_thread(self._sign_ins.token, account)
            return kept.value

    async def forget(self, account: str) -> None:
        """See `Accounts`."""
        _ = self._kept.pop(account, None)

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """See `Accounts`."""
        _ = await asyncio.to_thread(self._sign_ins.in_browser, account, visit)
        await self.forget(account)
