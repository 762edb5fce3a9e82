"""Rounds of the destinations, whose pushes come to a notifier of the test."""

import asyncio
from dataclasses import replace
from pathlib import Path

from orrery.app.scan.deployment import DEPLOYMENT
from orrery.ports.notifier import OutgoingMessage
from orrery.scanner.deployment import Push, ScanDeployment
from tests.support.notifiers import ScriptedNotifier


def scripted_deployment(notifier: ScriptedNotifier) -> ScanDeployment:
    """Return the user's own, but for the push."""

    def send(message: OutgoingMessage) -> None:
        asyncio.run(notifier.send(message))

    def push(_: Path | None) -> Push:
        return send

    return replace(DEPLOYMENT, rounds=lambda: replace(DEPLOYMENT.rounds(), push=push))
