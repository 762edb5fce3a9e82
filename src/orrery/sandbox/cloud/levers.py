"""The levers of the cloud, as a page for people and as JSON: break the machine, see everything that is known."""

import json
from collections.abc import Callable
from typing import cast
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.cloud import jobs, machine, webhooks
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.arm import ArmError
from orrery.sandbox.cloud.outage import shown
from orrery.sandbox.cloud.provision import provision
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.pages import render
from orrery.sandbox.state import Document

ADDRESS = "/cloud"

BUTTONS = {
    "shutdown": ("Shut down", "The host shuts the machine down, as its policy does every 8 to 12 hours."),
    "deallocate": ("Deallocate", "A policy shuts the machine down, and gives its hardware back."),
    "unknown": ("Health unknown", "From now on health is Unknown where it would be Unavailable."),
    "known": ("Health known", "Health says Unavailable again when the machine is off."),
    "expire": ("Webhook expired", "A year has passed: the webhook's URI is refused."),
    "renew": ("Renew webhook", "A new webhook, and the action group calls it."),
    "start": ("Start", "You start the machine by hand."),
}
"""Each button of the page with what it does."""

_SCRIPTS = "; script-src 'self'; connect-src 'self'; form-action 'self'"


class Levers:
    """Buttons, and everything that can be known."""

    def __init__(self, cloud: Cloud, api: CloudApi) -> None:
        self._cloud = cloud
        self._api = api

    def routes(self) -> list[Route]:
        return [
            Route(ADDRESS, self.page, methods=["GET"]),
            Route("/_cloud", self.show, methods=["GET"]),
            Route("/_cloud", self.pull, methods=["POST"]),
        ]

    async def page(self, _: Request) -> Response:
        """Show the machine, its buttons and its last outage."""
        return self._page("", 200)

    def _page(self, problem: str, status: int) -> Response:
        self._cloud.catch_up()
        page = render("cloud.html", status, problem=problem, buttons=self._buttons(), **shown(self._cloud))
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page

    def _buttons(self) -> dict[str, tuple[str, str]]:
        hidden = {"known" if not machine.state_of(self._cloud)["unknown"] else "unknown"}
        if self._cloud.config.owner is None:
            hidden.add("renew")
        return {name: words for name, words in BUTTONS.items() if name not in hidden}

    async def show(self, _: Request) -> Response:
        """Return everything that is known."""
        self._cloud.catch_up()
        return JSONResponse(self.known())

    async def pull(self, request: Request) -> Response:
        """Do what `do` says; other fields are the delays of a shutdown, in true seconds, or lists of them."""
        by_a_person = "text/html" in request.headers.get("accept", "")
        problem = self._do(await _fields(request))
        if problem:
            return self._page(problem, 400) if by_a_person else JSONResponse({"error": problem}, 400)
        return RedirectResponse(ADDRESS, 303) if by_a_person else JSONResponse(self.known())

    def _do(self, given: Document) -> str:
        """Return why it cannot be done, if so."""
        action = str(given.pop("do", ""))
        self._cloud.catch_up()
        try:
            actions = self._actions({name: _seconds(value) for name, value in given.items()})
            if action not in actions:
                return f"`do` is one of {', '.join(actions)}."
            actions[action]()
        except (TypeError, ValueError) as error:
            return str(error)
        except ArmError as refusal:
            return refusal.message
        self._cloud.catch_up()
        return ""

    def _actions(self, delays: dict[str, list[float]]) -> dict[str, Callable[[], None]]:
        cloud = self._cloud
        return {
            "shutdown": lambda: machine.shut_down(cloud, delays),
            "deallocate": lambda: machine.deallocate(cloud, delays, "policy"),
            "start": lambda: machine.start(cloud, cloud.now(), "operator"),
            "unknown": lambda: machine.say_unknown(cloud, unknown=True),
            "known": lambda: machine.say_unknown(cloud, unknown=False),
            "expire": lambda: webhooks.expire_webhooks(cloud),
            "renew": lambda: provision(cloud, cloud.config.owner or "owner@northwind.example"),
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


def _seconds(given: object) -> list[float]:
    values = cast("list[object]", given) if isinstance(given, list) else [given]
    return [float(str(value)) for value in values]


async def _fields(request: Request) -> Document:
    text = (await request.body()).decode(errors="replace")
    if "json" not in request.headers.get("content-type", ""):
        return dict(parse_qsl(text))
    try:
        given: object = json.loads(text)
    except ValueError:
        return {}
    return cast("Document", given) if isinstance(given, dict) else {}
