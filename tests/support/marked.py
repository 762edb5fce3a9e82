"""The secrets of a test deployment, each of them marked, so that they are found in whatever comes out."""

import hashlib
import json
import re
from functools import cache

from orrery.sandbox.analytics.access import TOKEN_PATH, service_account_key

MARK = "orrery_marked"
"""Is in every secret that can hold it and in every buyer's address, and in nothing that a process may print."""

ADMIN_PASSWORD = f"{MARK}-admin-password"
"""The owner's password, which the service knows by its hash only."""

SECRETS = {
    "processor_api_key": f"sk_test_{MARK}_key",
    "webhook_signing_secret": f"whsec_{MARK}_old\nwhsec_{MARK}_new",
    "access_service_token": f"{MARK}-service-token",
    "push_token": f"{MARK}-push-token",
    "mail_password": f"{MARK}-mail-password",
    "store_password": f"{MARK}-store-password",
    "admin_password_hash": hashlib.sha256(ADMIN_PASSWORD.encode()).hexdigest(),
    "tracker_token": f"{MARK}-tracker-token",
    "gateway_ping_token": f"{MARK}-gateway-ping-token-of-the-tests",
}
"""What is the same for every deployment; `analytics_key` is made for each sandbox."""

_MINTED = re.compile("sandbox-[0-9a-f]{32}")
"""The access tokens that the sandbox's analytics provider gives out."""

_CONTEXT = 300


def analytics_key(sandbox_port: int) -> str:
    """Return the key of a service account, marked in every field, for the sandbox on this port."""
    token_url = f"http://127.0.0.1:{sandbox_port}{TOKEN_PATH}"
    return json.dumps(_service_account() | {"token_uri": token_url}, indent=2)


@cache
def _service_account() -> dict[str, str]:
    """Return a key made for this test run: no private key is kept in the source."""
    key: dict[str, str] = json.loads(service_account_key(""))
    return key | {
        "private_key_id": f"{MARK}-key-id",
        "project_id": MARK,
        "client_email": f"counter@{MARK}.iam.example.test",
    }


def mark_in(text: str) -> int | None:
    """Return where the first secret begins, or None when there is none."""
    marks = [MARK, SECRETS["admin_password_hash"], *_private_key_lines()]
    found = [at for mark in marks if (at := text.find(mark)) >= 0]
    found += [minted.start() for minted in _MINTED.finditer(text)]
    return min(found, default=None)


def assert_unmarked(text: str) -> None:
    """Fail with the surroundings of the first secret, if there is one."""
    at = mark_in(text)
    assert at is None, text[max(0, at - _CONTEXT) : at + _CONTEXT]


def _private_key_lines() -> list[str]:
    return [line for line in _service_account()["private_key"].splitlines() if line and not line.startswith("-")]
