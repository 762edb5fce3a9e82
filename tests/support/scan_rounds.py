"""Rounds of the destinations, whose pushes come to a notifier of the test."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from orrery.adapters.private_files import OwnFile
from orrery.app.scan.deployment import LocalDeployment
from orrery.app.scan.rounds import LocalRounds
from orrery.ports.notifier import OutgoingMessage
from orrery.scanner.deployment import PublicDestination, Push
from tests.support.notifiers import ScriptedNotifier


@dataclass(frozen=True)
class ScriptedRounds:
    """The user's own rounds, but for the push."""

    notifier: ScriptedNotifier
    local: LocalRounds = field(default_factory=LocalRounds)

    def places(self, config: Path | None) -> Sequence[PublicDestination]:
        return self.local.places(config)

    def told(self, config: Path | None) -> OwnFile:
        return self.local.told(config)

    def push(self, config: Path | None) -> Push:
        del config

        def send(message: OutgoingMessage) -> None:
            asyncio.run(self.notifier.send(message))

        return send

    def now(self) -> datetime:
        return self.local.now()


class ScriptedDeployment(LocalDeployment):
    """The user's own, but for the push."""

    def __init__(self, notifier: ScriptedNotifier) -> None:
        self._rounds = ScriptedRounds(notifier)

    @property
    def rounds(self) -> ScriptedRounds:
        return self._rounds
