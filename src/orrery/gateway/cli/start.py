"""`orrery gateway start`: the runbook's steps from a terminal."""

import asyncio
from http import HTTPStatus

import typer

from orrery.errors import CloudRefused, CloudUnreachable
from orrery.gateway.cloud.restart import restart
from orrery.gateway.cloud.settings import CloudSettings
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud
from orrery.ports.cloud.machine import Look, Reply, RestartFailed, Start, Step, Wait
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
        raise typer.Exit(1) from None
    if as_json:
        show_json({"done": sentence})
    else:
        note(sentence)


def _taken(step: Step, cloud: Cloud, clock: Clock) -> Reply:
    match step:
        case Look():
            return _look(cloud, clock)
        case Start():
            note("Starting the machine …")
            return Reply(cloud.start(), clock.now())
        case Wait(seconds):
            asyncio.run(clock.sleep(seconds))
            return Reply(int(HTTPStatus.OK), clock.now())


def _look(cloud: Cloud, clock: Clock) -> Reply:
    try:
        machine = cloud.machine(health=False)
    except CloudRefused as error:
        if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise  # of who is signed in here, not of the runbook's identity
        return Reply(error.status, clock.now())
    except CloudUnreachable:
        return Reply(int(HTTPStatus.SERVICE_UNAVAILABLE), clock.now())
    if machine is None:
        return Reply(int(HTTPStatus.NOT_FOUND), clock.now())
    return Reply(int(HTTPStatus.OK), clock.now(), machine.power, machine.pause)
