"""How the cockpit's own parts are: its store, its action ledger, its mailboxes. Its own page shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from orrery.cockpit.inbox import Inbox
from orrery.cockpit.ledger import Ledger
from orrery.errors import OrreryError, StoreError
from orrery.ports.clock import Clock
from orrery.ports.comms.mailboxes import Mailbox
from orrery.ports.health import Finding
from orrery.runtime.store_probe import STORE, StoreProbe
from orrery.syntax.track import label

LEDGER_PART = "action ledger"

_UNREADABLE = "A newer version wrote them, or the file is damaged: run the newer one, or restore a backup."
_ASK_AGAIN = "It is asked again by itself; the rows of before stay. See `orrery cockpit doctor` if it lasts."


@dataclass(frozen=True, slots=True)
class CockpitHealth:
    """Examines the parts. `failing` are jobs whose last run failed."""

    probe: StoreProbe
    ledger: Ledger
    inboxes: tuple[Inbox, ...]
    clock: Clock
    failing: Mapping[str, str]

    async def examine(self) -> tuple[datetime, list[Finding]]:
        """Return the findings without asking a mailbox, and when that was."""
        await self.probe.examine()
        own = [*await self._store(), await self._ledger(), *map(_of_inbox, self.inboxes)]
        return self.clock.now(), [*own, *self._mailboxes_missing(), *self._jobs()]

    async def ask(self) -> list[Finding]:
        """Return the findings of `orrery cockpit doctor`, which asks each mailbox."""
        await self.probe.examine()
        asked = [await _asked(inbox.mailbox) for inbox in self.inboxes]
        return [*await self._store(), await self._ledger(), *asked, *self._mailboxes_missing()]

    async def _store(self) -> list[Finding]:
        return await self.probe.findings("Make room or fix it, then look again: until then nothing can be kept.")

    async def _ledger(self) -> Finding:
        try:
            found = await self.ledger.all()
        except StoreError as error:
            return Finding(LEDGER_PART, "broken", str(error), "See the store.", cause=STORE, essential=False)
        if found.unreadable:
            return Finding(
                LEDGER_PART,
                "broken",
                f"{len(found.unreadable)} items cannot be read.",
                _UNREADABLE,
                essential=False,
                items=tuple(one.name for one in found.unreadable),
            )
        waiting = sum(one.dismissed_at is None for one in found.values())
        return Finding(LEDGER_PART, "ok", f"{waiting} items wait", essential=False)

    def _mailboxes_missing(self) -> list[Finding]:
        if self.inboxes:
            return []
        return [
            Finding(
                "mailboxes",
                "off",
                "None is configured.",
                "Add [[cockpit.mailboxes]] to the settings.",
                essential=False,
            )
        ]

    def _jobs(self) -> list[Finding]:
        todo = "It is tried again by itself; see the terminal if it lasts."
        return [
            Finding(f"job: {name}", "broken", why, todo, essential=False) for name, why in self.failing.items()
        ]


def _of_inbox(inbox: Inbox) -> Finding:
    part = _part(inbox.mailbox)
    if inbox.why:
        return Finding(part, "broken", inbox.why, _ASK_AGAIN, essential=False)
    if inbox.unreadable:
        why = f"{inbox.unreadable} messages are not as documented, and left out."
        return Finding(part, "broken", why, "Read them in the mailbox itself.", essential=False)
    state = "is being read" if inbox.at is None else f"{len(inbox.rows)} rows"
    return Finding(part, "ok", _with_caution(state, inbox.mailbox), essential=False)


async def _asked(mailbox: Mailbox) -> Finding:
    try:
        await mailbox.check()
    except OrreryError as error:
        return Finding(
            _part(mailbox),
            "broken",
            str(error),
            "Check the account, its sign-in and the network.",
            essential=False,
        )
    return Finding(_part(mailbox), "ok", _with_caution("can be read", mailbox), essential=False)


def _with_caution(state: str, mailbox: Mailbox) -> str:
    return f"{state}. {mailbox.caution}" if mailbox.caution else state


def _part(mailbox: Mailbox) -> str:
    return f"mailbox {mailbox.account} {label(mailbox.track)}"
