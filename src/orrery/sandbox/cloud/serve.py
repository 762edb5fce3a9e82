"""The cloud's routes, and its time."""

from typing import NoReturn

from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.cloud import alerts, jobs, machine
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.config import CloudConfig
from orrery.sandbox.cloud.levers import cloud_board
from orrery.sandbox.cloud.provision import account_of, provision
from orrery.sandbox.cloud.reporter import report_for_ever
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.ground import SandboxGround

_IDLE = 1.0


def cloud_routes(config: CloudConfig, ground: SandboxGround) -> list[BaseRoute]:
    """Return the routes of the cloud, and let it go on while nobody asks."""
    cloud = Cloud(config, ground)
    cloud.handlers |= {
        "off": machine.off,
        "unhealthy": machine.unhealthy,
        "running": machine.running,
        "consider": alerts.consider,
        "alert": alerts.fire,
        "job": jobs.run,
    }
    machine.open_machine(cloud)
    if config.owner is not None and cloud.find(account_of(cloud)) is None:
        provision(cloud, config.owner)
    ground.machine.on_answer.append(lambda: machine.answering(cloud))
    api = CloudApi(cloud, ground)
    ground.background.append(lambda: _go_on(cloud, ground.clock))
    if config.owner is not None and (service := ground.service) is not None:
        ground.background.append(lambda: report_for_ever(cloud, service, ground.clock))
    return [*api.routes(), *cloud_board(cloud, api).routes()]


async def _go_on(cloud: Cloud, clock: Clock) -> NoReturn:
    """Let happen what is due, until cancelled."""
    while True:
        cloud.catch_up()
        due = cloud.next_due()
        await clock.sleep(_IDLE if due is None else max(0.0, min(_IDLE, due - clock.now().timestamp())))
