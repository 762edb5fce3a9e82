"""The vendors: the sandbox on https, under their names and with a certificate of the rehearsal's own authority.

Run in the world outside: python -m tests.rehearsal.vendors FOLDER. FOLDER has what `Account.prepare` put there.
"""

import asyncio
import sys
from pathlib import Path

import uvicorn

from orrery.adapters.movable_clock import MovableClock
from orrery.edge.listeners import bind
from orrery.sandbox.analytics.access import config_of, service_account_key
from orrery.sandbox.app import EVERYTHING, MailLogin, PriceSeed, SandboxConfig, create_app
from tests.conformance.vendors.test_key_rights import PERMISSIONS
from tests.support.certificates import Authority, server_context
from tests.systemd.host import OUTSIDE

NAMES = (
    "api.stripe.com",
    "checkout.stripe.com",
    "oauth2.googleapis.com",
    "analyticsdata.googleapis.com",
    "ntfy.example",
    "smtp.example",
    "watcher.example",
)
PROPERTY = "123456789"
MAIL_USER = "shop@example.org"
MAIL_PASSWORD = "rehearsal"  # noqa: S105  of the sandbox's mail server
PUSH_TOKEN = "tk_rehearsal"  # noqa: S105  of the sandbox's push server
ANALYTICS_KEY = "analytics.json"
CERTIFICATE = "vendors.pem"


def price(mode: str) -> str:
    """Return the id of the price of what is sold in a mode."""
    return f"price_{mode}_navigator"


def second_price(mode: str) -> str:
    """Return the id of the price of another product."""
    return f"price_{mode}_data"


def unrestricted(mode: str) -> str:
    """Return the account's own key in a mode."""
    return f"sk_{mode}_rehearsal"


def restricted(mode: str) -> str:
    """Return the key with the rights of docs/how-to/set-up-stripe.md in a mode."""
    return f"rk_{mode}_rehearsal"


def next_restricted(mode: str) -> str:
    """Return a second key with these rights, for a rotation."""
    return f"{restricted(mode)}_2"


def prepare(folder: Path, authority: Authority) -> None:
    """Write what the vendors need: their certificate, and the analytics account's key."""
    authority.certify(*NAMES).rename(folder / CERTIFICATE)
    key = service_account_key("https://oauth2.googleapis.com/token")
    (folder / ANALYTICS_KEY).write_text(key, encoding="utf-8")


def config(folder: Path) -> SandboxConfig:
    """Return the sandbox that plays all of them."""
    keys = {unrestricted(mode): frozenset({EVERYTHING}) for mode in ("test", "live")}
    few = (restricted, next_restricted)
    keys |= {key(mode): frozenset(PERMISSIONS) for key in few for mode in ("test", "live")}
    return SandboxConfig(
        base_url="https://api.stripe.com",
        pages_url="https://checkout.stripe.com/c",
        hosts=NAMES,
        push_host="ntfy.example",
        api_keys=keys,
        prices=tuple(
            PriceSeed(one, title, 4900, mode=mode)
            for mode in ("test", "live")
            for one, title in ((price(mode), "Cloud Navigator"), (second_price(mode), "Data Navigator"))
        ),
        state_path=folder / "vendors.db",
        smtp_host=OUTSIDE,
        smtp_port=587,
        mail_login=MailLogin(server_context(folder / CERTIFICATE), MAIL_USER, MAIL_PASSWORD),
        push_token=PUSH_TOKEN,
        analytics=config_of((folder / ANALYTICS_KEY).read_text(encoding="utf-8"), PROPERTY),
        ca_file=folder / "authority.pem",
    )


def main(folder: Path) -> None:
    """Serve until told to end."""
    clock = MovableClock(folder / "clock")
    app = create_app(config(folder), clock, clock.advance)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            ssl_certfile=folder / CERTIFICATE,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=2,
        )
    )
    asyncio.run(server.serve(sockets=[bind(OUTSIDE, 443)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
