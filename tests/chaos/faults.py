"""What goes wrong: each fault begins, lasts while the load goes on, and ends with everything in its place."""

import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tests.chaos.line import Trouble
from tests.chaos.shop import ChaosShop
from tests.journeys.disks import fill

TWO_MINUTES = 120

LEASES = 32
"""Seconds in which the leases of a process that is gone run out."""


@dataclass
class Fault:
    """One thing that goes wrong for `lasts` seconds of the shop's clock, and goes on going wrong until its end."""

    shop: ChaosShop
    dice: Random
    lasts: ClassVar[int] = 0

    def begin(self) -> None:
        """Let it go wrong."""
        raise NotImplementedError

    def end(self) -> None:
        """Put it right again."""
        raise NotImplementedError


class PrimaryKilled(Fault):
    """The primary is killed and the standby promoted; what is left of the primary becomes the standby."""

    def begin(self) -> None:
        """Lose the primary."""
        self.shop.database.primary.kill()
        self.shop.database.fail_over()

    def end(self) -> None:
        """Have a standby again."""
        self.shop.database.rebuild()


class PrimaryReplaced(PrimaryKilled):
    """The primary hangs, the standby is promoted, and the former primary goes on beside it."""

    def begin(self) -> None:
        """Have two primaries."""
        former = self.shop.database.primary
        former.freeze()
        self.shop.database.fail_over()
        former.freeze(signal.SIGCONT)


class PrimaryFrozen(Fault):
    """The primary hangs, and goes on."""

    def begin(self) -> None:
        """Stop it where it is."""
        self.shop.database.primary.freeze()

    def end(self) -> None:
        """Let it go on."""
        self.shop.database.primary.freeze(signal.SIGCONT)


class PrimaryRestarted(Fault):
    """The primary is killed and started again: until the standby follows it, nobody else has what it shows."""

    def begin(self) -> None:
        """Lose the primary."""
        self.shop.database.primary.kill()

    def end(self) -> None:
        """Start it again."""
        self.shop.database.primary.start()


class StandbyDead(Fault):
    """The standby is killed and started again: meanwhile each commit waits."""

    def begin(self) -> None:
        """Lose the standby."""
        self.shop.database.standby.kill()

    def end(self) -> None:
        """Start it again."""
        self.shop.database.standby.start()


class DiskFull(Fault):
    """Nothing more goes onto the disk of the primary, which may end of that."""

    def begin(self) -> None:
        """Leave no room."""
        self._filler = self.shop.database.primary.folder.parent / "filler"
        fill(self._filler)

    def end(self) -> None:
        """Make room, and start what has ended."""
        self._filler.unlink()
        for server in (self.shop.database.primary, self.shop.database.standby):
            if server.process and server.process.poll() is not None:
                server.kill()
                server.start()


class LineCut(Fault):
    """Something is wrong on the lines of one node to the database."""

    kinds: ClassVar[tuple[Trouble, ...]] = ("cut", "silent", "half closed", "delayed", "throttled")

    def begin(self) -> None:
        """Let it go wrong."""
        self._node = self.dice.choice(self.shop.nodes)
        self._node.have(self.dice.choice(self.kinds))

    def end(self) -> None:
        """Put it right."""
        self._node.have("")


class NodeKilled(Fault):
    """A node is killed, and started again when its leases have run out."""

    lasts = LEASES

    def begin(self) -> None:
        """Kill it."""
        self._node = self.dice.choice(self.shop.nodes)
        self._node.kill()

    def end(self) -> None:
        """Start it again."""
        self._node.start()


class NodeRestarted(NodeKilled):
    """A node is killed, and started again at once."""

    lasts = 0


class NodeFrozen(Fault):
    """A node hangs for two minutes and goes on, with jobs in its hands that the other does by now."""

    lasts = LEASES

    def begin(self) -> None:
        """Stop it where it is."""
        self._node = self.dice.choice(self.shop.nodes)
        self._node.freeze()

    def end(self) -> None:
        """Let it go on."""
        self.shop.advance(TWO_MINUTES - LEASES)
        self._node.freeze(signal.SIGCONT)


class VendorFlaps(Fault):
    """The processor, the mail server and the push server fail, hang, and answer by half."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("server_error", "rate_limit", "html_200", "html_502", "cut", "cut_after", "lost_answer", "latency"),
        *("mail_451", "mail_timeout", "push_500", "push_429", "push_timeout", "push_lost_answer"),
    )

    def begin(self) -> None:
        """Let several things strike some requests."""
        for kind in self.dice.sample(self.kinds, 4):
            self.shop.deployment.sandbox.fault(kind, count=self.dice.randint(1, 8), value=1)

    def end(self) -> None:
        """Let no more strike."""
        self.shop.deployment.sandbox.clear_faults()


class ClockAhead(Fault):
    """A node runs with a clock that is an hour ahead of all others."""

    lasts = LEASES

    def begin(self) -> None:
        """Start it anew so."""
        self._node = self.dice.choice(self.shop.nodes)
        self._node.kill()
        self._node.start(ahead="+1h")

    def end(self) -> None:
        """Start it anew by the machine's clock."""
        self._node.kill()
        self._node.start()


FAULTS: tuple[type[Fault], ...] = (
    *(PrimaryKilled, PrimaryReplaced, PrimaryFrozen, PrimaryRestarted, StandbyDead, LineCut),
    *(NodeKilled, NodeRestarted, NodeFrozen, VendorFlaps),
)
"""What can go wrong on every machine."""

KILLS = frozenset({PrimaryKilled, PrimaryReplaced, PrimaryRestarted, StandbyDead, NodeKilled, NodeRestarted})


def faults_here() -> Sequence[type[Fault]]:
    """Return what can go wrong on this machine: a small disk takes root, another clock Debian's libfaketime."""
    more: dict[type[Fault], bool] = {DiskFull: os.geteuid() == 0, ClockAhead: bool(shutil.which("faketime"))}
    return [*FAULTS, *(fault for fault, possible in more.items() if possible)]
