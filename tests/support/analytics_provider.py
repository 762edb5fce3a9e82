"""The sandbox's analytics provider over real sockets, seen from outside, and its published contract."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from google.auth import crypt, jwt

from orrery.adapters.ga4 import SCOPE, GoogleAnalytics
from orrery.sandbox.analytics.access import AUDIENCE, GRANT, TOKEN_PATH, config_of, service_account_key
from orrery.sandbox.app import SandboxConfig
from orrery.sandbox.ground import Document
from tests.support.sandbox_box import SandboxBox, running_box

PROPERTY = "123456789"
PAGE, PLANET = "unifiedScreenName", "streamName"
VISITORS = 24
DAY, HOUR, PROJECT_HOUR = "tokensPerDay", "tokensPerHour", "tokensPerProjectPerHour"
CONCURRENT, SERVER_ERRORS = "concurrentRequests", "serverErrorsPerProjectPerHour"
THRESHOLDED = "potentiallyThresholdedRequestsPerHour"
REPORTS = f"/v1beta/properties/{PROPERTY}:runRealtimeReport"
TOTAL: Document = {"metrics": [{"name": "activeUsers"}]}


def by(*dimensions: str, **more: object) -> Document:
    """Return the request for active users by these dimensions."""
    return {**TOTAL, "dimensions": [{"name": name} for name in dimensions], **more}


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def signed_assertion(key: str, now: float, header: Document | None = None, **claims: object) -> str:
    """Return what the account of a key signs for a token, with other claims where given."""
    account, signer, untyped = json.loads(key), cast("Any", crypt.RSASigner), cast("Any", jwt)
    usual = {
        "iss": account["client_email"],
        "aud": AUDIENCE,
        "scope": SCOPE,
        "iat": int(now),
        "exp": int(now) + 3600,
    }
    return untyped.encode(signer.from_service_account_info(account), usual | claims, header=header).decode()


@dataclass(frozen=True)
class Provider(SandboxBox):
    """A running sandbox with an analytics provider. `key` is the service account's."""

    key: str = field(repr=False)

    def adapter(
        self,
        *,
        key: str | None = "",
        property_id: str | None = PROPERTY,
        url: str = "",
        window_minutes: int = 30,
    ) -> GoogleAnalytics:
        """Return our adapter for this provider, without a token as yet."""
        return GoogleAnalytics(
            self.key if key == "" else key,
            property_id,
            base_url=url or self.url,
            planet_dimension=PLANET,
            window_minutes=window_minutes,
            clock=self.clock,
        )

    def assertion(self, header: Document | None = None, **claims: object) -> str:
        """Return what the service account signs for a token, with other claims where given."""
        return signed_assertion(self.key, self.now(), header, **claims)

    def mint(self, assertion: str | None = None, **form: str) -> httpx2.Response:
        """Ask for a token."""
        usual = {"grant_type": GRANT, "assertion": self.assertion() if assertion is None else assertion}
        return self.web.post(TOKEN_PATH, data=usual | form)

    def token(self, **claims: Any) -> str:  # noqa: ANN401  any JSON
        """Return a new token."""
        return self.mint(self.assertion(**claims)).json()["access_token"]

    def ask(self, body: object = TOTAL, token: str | None = None, property_id: str = PROPERTY) -> httpx2.Response:
        """Ask for a report; a body of bytes is sent as it is."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = bearer(self.token() if token is None else token)
        return self.web.post(
            f"/v1beta/properties/{property_id}:runRealtimeReport", content=content, headers=headers
        )

    def report(self, body: object = TOTAL) -> Document:
        """Return a report."""
        answer = self.ask(body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, body: object) -> dict[tuple[str, ...], tuple[int, ...]]:
        """Return the rows of a report in their order: figures by labels."""
        return {
            tuple(one["value"] for one in row.get("dimensionValues", [])): tuple(
                int(one["value"]) for one in row["metricValues"]
            )
            for row in self.report(body)["rows"]
        }

    def refusal(self, body: object, **asked: str) -> Document:
        """Return the error that a request is answered with."""
        answer = self.ask(body, **asked)
        assert answer.json()["error"]["code"] == answer.status_code
        return answer.json()["error"]

    def visitors(self, count: int) -> None:
        """Let there be that many visitors."""
        self.asked("POST", "/_visitors", {"count": count})

    def quota(self, **given: object) -> None:
        """Set a figure of the quotas."""
        self.asked("POST", "/_quota", given)

    def advance(self, seconds: float) -> None:
        """Move the sandbox's clock forward."""
        self.asked("POST", "/_clock", {"advance": seconds})

    def known(self) -> Document:
        """Return the provider's own figures."""
        return self.asked("GET", "/_analytics")

    def left(self, name: str) -> int:
        """Return what is left of a quota."""
        return self.known()["quota"]["buckets"][name]["left"]

    def reset(self) -> None:
        """Put everything back but the clock, the tokens, the counts and the sizes of quotas."""
        self.clear_faults()
        self.visitors(VISITORS)
        self.quota(cost=10, refill=True)


@contextmanager
def providing(folder: Path) -> Generator[Provider]:
    """Run a sandbox with an analytics provider, its clock in `folder`."""
    keys: list[str] = []

    def settings(url: str) -> SandboxConfig:
        keys.append(service_account_key(f"{url}{TOKEN_PATH}"))
        return SandboxConfig(url, {}, (), smtp_port=None, analytics=config_of(keys[0], PROPERTY))

    with running_box(folder, settings) as box:
        yield Provider(box.web, box.app, box.clock, keys[0])


@pytest.fixture(scope="module")
def module_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """One sandbox with an analytics provider for a module's tests."""
    with providing(tmp_path_factory.mktemp("provider")) as one:
        yield one


@pytest.fixture
def provider(module_provider: Provider) -> Provider:
    """The module's analytics provider with every fault off, full quotas and the usual visitors."""
    module_provider.reset()
    return module_provider
