"""The levers of the cloud: break the machine, see everything that is known."""

from collections.abc import Callable
from typing import cast

from orrery.sandbox.cloud import jobs, machine, webhooks
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.outage import shown
from orrery.sandbox.cloud.provision import provision
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.levers import Act, Board
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


def cloud_board(cloud: Cloud, api: CloudApi) -> Board:
    """Return the page with the machine, its buttons and its last outage, and the lever under them.

    `do` says what; other values are the delays of a shutdown, in true seconds, or lists of them.
    """

    def known() -> Document:
        cloud.catch_up()
        return _known(cloud, api)

    def view() -> Document:
        cloud.catch_up()
        return {"buttons": _buttons(cloud), **shown(cloud)}

    def pull(given: Document) -> None:
        action = str(given.pop("do", ""))
        cloud.catch_up()
        actions = _actions(cloud, api, {name: _seconds(value) for name, value in given.items()})
        if action not in actions:
            raise ValueError(f"`do` is one of {', '.join(actions)}.")
        actions[action]()

    levers: dict[str, Act] = {"GET /_cloud": lambda _: known(), "POST /_cloud": pull}
    return Board(ADDRESS, "cloud.html", known, view, levers)


def _buttons(cloud: Cloud) -> dict[str, tuple[str, str]]:
    hidden = {"known" if not machine.state_of(cloud)["unknown"] else "unknown"}
    if cloud.config.owner is None:
        hidden.add("renew")
    return {name: words for name, words in BUTTONS.items() if name not in hidden}


def _actions(cloud: Cloud, api: CloudApi, delays: dict[str, list[float]]) -> dict[str, Callable[[], None]]:
    return {
        "shutdown": lambda: machine.shut_down(cloud, delays),
        "deallocate": lambda: machine.deallocate(cloud, delays, "policy"),
        "start": lambda: machine.start(cloud, cloud.now(), "operator"),
        "unknown": lambda: machine.say_unknown(cloud, unknown=True),
        "known": lambda: machine.say_unknown(cloud, unknown=False),
        "expire": lambda: webhooks.expire_webhooks(cloud),
        "renew": lambda: provision(cloud, cloud.config.owner or "owner@northwind.example"),
        "expire_tokens": api.tokens.expire,
    }


def _known(cloud: Cloud, api: CloudApi) -> Document:
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
        "requests": list(api.requests),
    }


def _seconds(given: object) -> list[float]:
    values = cast("list[object]", given) if isinstance(given, list) else [given]
    return [float(str(value)) for value in values]
