"""`orrery gateway start`: the runbook's steps from a terminal."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus

import typer

from orrery.gateway.cloud.restart import restart
from orrery.gateway.cloud.settings import CloudSettings
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud, MachineFound
from orrery.ports.cloud.errors import CloudRefused, CloudUnreachable
from orrery.ports.cloud.machine import LookAtPower, MachineReply, RestartFailed, SignIn, Start, Step, WaitSeconds
from orrery.runtime.console.ending import BROKEN
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note, show_json


def command(runner: Handed, *, as_json: AsJson = False) -> None:
    """Look at the machine, start it unless it runs or is paused, and wait until it runs; exit 1 when it does not.

    \b
    orrery gateway start
    """
    runner.section(CloudSettings).require()
    cloud, clock = runner.port(Cloud), runner.port(Clock)
    steps = restart("", cloud.machine_id)
    try:
        step = next(steps)
        while True:
            step = steps.send(_taken(step, cloud, clock))
    except StopIteration as end:
        sentence: str = end.value
    except RestartFailed as error:
        note(str(error))
        raise typer.Exit(BROKEN) from None
    if as_json:
        show_json({"done": sentence})
    else:
        note(sentence)


def _taken(step: Step, cloud: Cloud, clock: Clock) -> MachineReply:
    match step:
        case SignIn():
            return _tried(cloud.sign_in, clock)
        case LookAtPower():
            return _tried(lambda: _seen(cloud), clock)
        case Start():
            note("Starting the machine …")
            return _tried(cloud.start, clock)
        case WaitSeconds(seconds):
            asyncio.run(clock.sleep(seconds))
            return MachineReply(int(HTTPStatus.OK), clock.now())


def _tried(ask: Callable[[], MachineFound | None], clock: Clock) -> MachineReply:
    try:
        found = ask()
    except CloudRefused as error:
        if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise  # of who is signed in here, not of the runbook's identity
        return MachineReply(error.status, clock.now(), why=error.why)
    except CloudUnreachable as error:
        note(str(error))
        return MachineReply(0, clock.now(), why=error.why)
    if found is None:
        return MachineReply(int(HTTPStatus.OK), clock.now())
    return MachineReply(int(HTTPStatus.OK), clock.now(), found.power, found.pause)


def _seen(cloud: Cloud) -> MachineFound:
    if (machine := cloud.machine()) is None:
        raise CloudRefused("There is no such machine.", status=int(HTTPStatus.NOT_FOUND))
    return machine
