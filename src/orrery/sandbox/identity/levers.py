"""The levers of the identity provider: approve a code, break a rule, undo it."""

import json
from collections import Counter

from orrery.sandbox.identity.config import ACCOUNTS, CLIENTS, TENANTS, IdentityConfig
from orrery.sandbox.identity.grants import Grants, members
from orrery.sandbox.identity.switches import BY_JSON, SWITCHES, Switches
from orrery.sandbox.levers import Act, Board
from orrery.sandbox.state import Document

ADDRESS = "/identity"


def identity_board(config: IdentityConfig, grants: Grants, switches: Switches, requests: Counter[str]) -> Board:
    """Return the page with the codes that wait, the accounts and the levers."""

    def known() -> Document:
        return {
            "url": config.url,
            "tenants": TENANTS,
            "clients": list(CLIENTS),
            "accounts": {one.username: one.object_ids for one in ACCOUNTS.values()},
            "waiting": list(grants.waiting()),
            "levers": switches.on(),
            "requests": dict(requests),
        }

    def view() -> Document:
        on = switches.on()
        return known() | {
            "waiting": [(one, members(one["tenant"])) for one in grants.waiting()],
            "accounts": list(ACCOUNTS.values()),
            "levers": [(name, what, name in on, name in BY_JSON) for name, what in SWITCHES.items()],
            "values": {name: json.dumps(values) for name, values in on.items() if values},
            "requests": sorted(requests.items()),
        }

    def pull(given: Document) -> None:
        """Turn a lever on; a form's field `undo`, since forms cannot delete, turns it off."""
        name = given.pop("lever")
        if given.pop("undo", None):
            switches.turn_off(name)
        else:
            switches.pull(name, given)

    def undo_all(_: Document) -> None:
        for name in SWITCHES:
            switches.turn_off(name)

    levers: dict[str, Act] = {
        "GET /_identity": lambda _: known(),
        "DELETE /_identity": undo_all,
        "POST /_identity/approve": lambda given: grants.approve(given["user_code"], given["account"]),
        "POST /_identity/decline": lambda given: grants.decline(given["user_code"]),
        "POST /_identity/{lever}": pull,
        "DELETE /_identity/{lever}": lambda given: switches.turn_off(given["lever"]),
    }
    return Board(ADDRESS, "identity.html", known, view, levers)
