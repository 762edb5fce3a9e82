"""What goes wrong: each fault begins, lasts while the load goes on, and ends with everything in its place."""

import signal
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from random import Random
from typing import ClassVar

from orrery.adapters.clock import SystemClock
from tests.chaos.line import Trouble
from tests.chaos.shop import NODES, ChaosShop
from tests.journeys.disks import fill
from tests.support.postgres import Server
from tests.support.waiting import until

TWO_MINUTES = 120

STEP = 8
"""Seconds by which the clock is moved at once: who holds a lease renews it before it runs out."""

MAIL_LEASE = b"lease:deliver by email"

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
    """Nothing more goes onto the disk of both servers, which may end of that."""

    def begin(self) -> None:
        """Leave no room."""
        self._filler, self._before = self.shop.database.primary.folder.parent / "filler", self._failed()
        fill(self._filler)

    def end(self) -> None:
        """Make room once a server has lacked it, and start what has ended."""
        until(lambda: self._failed() > self._before)
        self._filler.unlink()
        for server in self._servers():
            if server.process and server.process.poll() is not None:
                server.kill()
                server.start()

    def _failed(self) -> int:
        logs = (server.folder / "server.log" for server in self._servers())
        return sum(log.read_bytes().count(b"No space left on device") for log in logs)

    def _servers(self) -> tuple[Server, Server]:
        return self.shop.database.primary, self.shop.database.standby


class LineCut(Fault):
    """The lines of one node to the database are reset, and each new one is."""

    trouble: ClassVar[Trouble] = "cut"

    def begin(self) -> None:
        """Let it go wrong."""
        self._lines = self.dice.choice(self.shop.lines)
        for line in self._lines:
            line.have(self.trouble)

    def end(self) -> None:
        """Put it right."""
        for line in self._lines:
            line.have("")


class LineSilent(LineCut):
    """What is sent on the lines of one node to the database does not arrive."""

    trouble = "silent"


class LineHalfClosed(LineCut):
    """The database seems to have finished on its lines to one node."""

    trouble = "half closed"


class LineDelayed(LineCut):
    """What is sent on the lines of one node to the database arrives late."""

    trouble = "delayed"


class LineThrottled(LineCut):
    """What is sent on the lines of one node to the database arrives bit by bit."""

    trouble = "throttled"


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


class NodeFrozenAmidMail(Fault):
    """A node hangs amid an e-mail, and goes on with slow lines while the other is amid the same e-mail."""

    lasts = LEASES

    def begin(self) -> None:
        """Stop the node that delivers, once the mail server has its e-mail; it hangs with the next one, too."""
        self._hang(STEP)
        until(self._hangs)
        ((name,),) = self.shop.ledgers.rows("SELECT node FROM orrery_entries WHERE key = %s", MAIL_LEASE)
        self._at = NODES.index(name)
        self.shop.nodes[self._at].freeze()
        self._hang(LEASES)

    def end(self) -> None:
        """Let it go on."""
        until(self._hangs)
        node, lines = self.shop.nodes[self._at], self.shop.lines[self._at]
        for line in lines:
            line.have("delayed")
        node.freeze(signal.SIGCONT)
        self.shop.deployment.await_answer(node.running, node.address)
        for line in lines:
            line.have("")

    def _hang(self, seconds: int) -> None:
        self.shop.deployment.sandbox.fault("mail_timeout", value=seconds)

    def _hangs(self) -> bool:
        return "mail_timeout" not in self.shop.deployment.sandbox.faults()


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
        shown = parsedate_to_datetime(self.shop.deployment.client.get(self._node.address).headers["date"])
        assert shown - SystemClock().now() > timedelta(minutes=59)

    def end(self) -> None:
        """Start it anew by the machine's clock."""
        self._node.kill()
        self._node.start()


FAULTS: tuple[type[Fault], ...] = (
    *(PrimaryKilled, PrimaryReplaced, PrimaryFrozen, PrimaryRestarted, StandbyDead, DiskFull),
    *(LineCut, LineSilent, LineHalfClosed, LineDelayed, LineThrottled),
    *(NodeKilled, NodeRestarted, NodeFrozen, NodeFrozenAmidMail, ClockAhead, VendorFlaps),
)
"""What can go wrong; a small disk takes root, another clock Debian's libfaketime."""

KILLS = frozenset({PrimaryKilled, PrimaryReplaced, PrimaryRestarted, StandbyDead, NodeKilled, NodeRestarted})
