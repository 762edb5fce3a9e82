"""Signing an account in from the page: the person does it in another tab of the same browser."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from orrery.cockpit.comms import Comms
from orrery.cockpit.inbox import Inbox
from orrery.errors import OrreryError
from orrery.logs import log
from orrery.ports.accounts import Accounts
from orrery.ports.comms.errors import SignInNeeded
from orrery.runtime.tasks import Tasks


@dataclass(frozen=True, slots=True)
class SignInTabs:
    """Begins sign-ins, one for an account at a time, and reads the mailbox when one has succeeded.

    `accounts` is called when it is needed: where no mailbox signs in, the vendor's library is not loaded.
    """

    accounts: Callable[[], Accounts]
    comms: Comms
    tasks: Tasks
    _addresses: dict[str, asyncio.Future[str]] = field(default_factory=dict[str, asyncio.Future[str]])

    async def begin(self, account: str) -> str:
        """Return the address that the page opens; raise `NotFound` and the errors of the identity provider.

        A sign-in that is under way is not begun again: its address is returned.
        """
        inbox = self.comms.inbox_to_sign_in(account)
        if account not in self._addresses:
            address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self._addresses[account] = address
            _ = self.tasks.start(self._sign_in(inbox, address))
        return await asyncio.shield(self._addresses[account])

    async def _sign_in(self, inbox: Inbox, address: "asyncio.Future[str]") -> None:
        failed = await self._failure(inbox.mailbox.account, address)
        if not address.done():
            address.set_exception(failed or OrreryError("The sign-in ended without an address to open."))
        elif failed:
            inbox.refuse(SignInNeeded(str(failed)))
        if not failed:
            inbox.welcome()
            await inbox.read()

    async def _failure(self, account: str, address: "asyncio.Future[str]") -> OrreryError | None:
        """Let a person sign in, and return why that did not succeed."""
        try:
            await self.accounts().sign_in(account, _setting(address))
        except OrreryError as error:
            return error
        except Exception as error:  # the page waits for the address
            log.exception("sign-in crashed")
            return OrreryError(f"The sign-in did not succeed: unexpected {type(error).__name__}.")
        finally:
            del self._addresses[account]  # it leads nowhere by now
        return None


def _setting(address: "asyncio.Future[str]") -> Callable[[str], None]:
    """Return what a thread calls with the address."""
    loop = address.get_loop()
    return lambda found: _set_once(loop, address, found)


def _set_once(loop: asyncio.AbstractEventLoop, address: "asyncio.Future[str]", found: str) -> None:
    _ = loop.call_soon_threadsafe(lambda: None if address.done() else address.set_result(found))
