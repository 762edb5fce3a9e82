"""Signing in from the page: what becomes of the request, the list and the button, however it ends."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orrery.cockpit.comms import Comms
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.ledger import Ledger
from orrery.cockpit.set_aside import SetAsides
from orrery.cockpit.settings import SCORES
from orrery.cockpit.sign_in import SignInTabs
from orrery.errors import OrreryError
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.identity import IdentityUnreachable
from orrery.runtime.tasks import Tasks
from tests.support.clock import ManualClock, settled
from tests.support.mailboxes import ScriptedMailbox, a_message
from tests.support.stores import opened

ANN = "ann@corp.example"


@dataclass
class Provider:
    """Gives a new address to each sign-in, which ends when `done` is set.

    It raises `fails` in the place of an address, and `crashes` after it.
    """

    done: asyncio.Event = field(default_factory=asyncio.Event)
    fails: Exception | None = None
    crashes: Exception | None = None
    is_silent: bool = False
    begun: int = 0

    async def token(self, account: str) -> str:
        """See `Accounts`."""
        return f"token of {account}"

    async def forget(self, account: str) -> None:
        """See `Accounts`."""

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """See `Accounts`."""
        self.begun += 1
        if self.fails:
            raise self.fails
        if not self.is_silent:
            visit(f"https://login.example/{account}/{self.begun}")
            _ = await self.done.wait()
        if self.crashes:
            raise self.crashes


@dataclass
class Desk:
    """A mailbox whose account is signed out, and the sign-ins of its page."""

    mailbox: ScriptedMailbox
    inbox: Inbox
    provider: Provider
    tabs: SignInTabs


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    """Return one."""
    clock, tasks = ManualClock(), Tasks()
    mailbox = ScriptedMailbox(held=[a_message(1), a_message(2)], batch=1, signs_in=True)
    mailbox.broken = SignInNeeded("Ann is not signed in.")
    inbox, provider = Inbox(mailbox, clock, tasks, SCORES), Provider()
    async with opened("memory", tmp_path, clock) as store:
        comms = Comms([inbox], Ledger(store, clock), SetAsides(store, clock), clock, SCORES)
        await inbox.read()
        yield Desk(mailbox, inbox, provider, SignInTabs(lambda: provider, comms, tasks))


async def test_two_clicks(desk: Desk) -> None:
    """Two tabs and two clicks are one sign-in."""
    first, second = await asyncio.gather(desk.tabs.begin(ANN), desk.tabs.begin(ANN))
    assert first == second == await desk.tabs.begin(ANN)
    assert desk.provider.begun == 1


async def test_a_mailbox_that_is_read_after_its_sign_in(desk: Desk) -> None:
    """It is signed in as soon as that succeeded, not only when all of it was read; an old address is not shown."""
    first = await desk.tabs.begin(ANN)
    desk.mailbox.broken, desk.mailbox.hangs_after = None, 1
    desk.provider.done.set()
    await settled()
    assert desk.inbox.state == "loading"
    assert len(desk.inbox.rows) == 1
    desk.provider.done.clear()
    assert await desk.tabs.begin(ANN) != first


@pytest.mark.parametrize("error", [RuntimeError("inside"), IdentityUnreachable("no network"), None])
async def test_no_address(desk: Desk, error: Exception | None) -> None:
    """Whatever goes wrong before there is an address, the page gets an error at once, and may press again."""
    desk.provider.fails, desk.provider.is_silent = error, True
    for _ in range(2):
        with pytest.raises(OrreryError):
            await desk.tabs.begin(ANN)
        await settled()
    assert desk.provider.begun == 2


async def test_a_sign_in_that_crashes_in_the_end(desk: Desk) -> None:
    """The button is there again, with a reason."""
    desk.provider.crashes = RuntimeError("inside")
    _ = await desk.tabs.begin(ANN)
    desk.provider.done.set()
    await settled()
    assert (desk.inbox.state, "RuntimeError" in desk.inbox.why) == ("sign-in-needed", True)
