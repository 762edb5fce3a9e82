"""The levers of the cloud: break the machine, see everything that is known."""

from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.cloud import jobs, machine, webhooks
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.arm import ArmError
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.state import Document


class Levers:
    """Buttons, and everything that can be known, as JSON."""

    def __init__(self, cloud: Cloud, api: CloudApi) -> None:
        self._cloud = cloud
        self._api = api

    def routes(self) -> list[Route]:
        return [
            Route("/_cloud", self.show, methods=["GET"]),
            Route("/_cloud", self.pull, methods=["POST"]),
        ]

    async def show(self, _: Request) -> Response:
        """Return everything that is known."""
        self._cloud.catch_up()
        return JSONResponse(self.known())

    async def pull(self, request: Request) -> Response:
        """Do what `do` says; other fields are the delays of a shutdown, in true seconds."""
        given = await _fields(request)
        action = str(given.pop("do", ""))
        self._cloud.catch_up()
        try:
            self._do(action, {name: float(value) for name, value in given.items()})
        except (KeyError, TypeError, ValueError) as error:
            wrong = f"`do` is one of {', '.join(self.actions({}))}." if isinstance(error, KeyError) else str(error)
            return JSONResponse({"error": wrong}, 400)
        except ArmError as refusal:
            return JSONResponse({"error": refusal.message}, 400)
        return JSONResponse(self.known())

    def _do(self, action: str, delays: dict[str, float]) -> None:
        self.actions(delays)[action]()
        self._cloud.catch_up()

    def actions(self, delays: dict[str, float]) -> dict[str, Callable[[], None]]:
        """Return what each button does."""
        cloud = self._cloud
        return {
            "shutdown": lambda: machine.shut_down(cloud, delays),
            "deallocate": lambda: machine.deallocate(cloud, delays, "policy"),
            "start": lambda: machine.start(cloud, cloud.now(), "operator"),
            "unknown": lambda: machine.say_unknown(cloud, unknown=True),
            "known": lambda: machine.say_unknown(cloud, unknown=False),
            "expire": lambda: webhooks.expire_webhooks(cloud),
            "expire_tokens": self._api.tokens.expire,
        }

    def known(self) -> Document:
        cloud = self._cloud
        config = cloud.config
        return {
            "url": config.url,
            "subscription": config.subscription,
            "resource_group": config.resource_group,
            "machine_id": config.machine_id,
            "factor": config.factor,
            "machine": machine.state_of(cloud),
            "events": cloud.events(),
            "jobs": [one["body"] | {"output": one["output"], "data": one["data"]} for one in jobs.all_jobs(cloud)],
            "requests": list(self._api.requests),
        }


async def _fields(request: Request) -> Document:
    if "json" in request.headers.get("content-type", ""):
        found: Document = await request.json()
        return found
    return dict(parse_qsl((await request.body()).decode(errors="replace")))
