"""The sandbox's analytics provider over real sockets, seen from outside, and its published contract."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import httpx2
import jsonschema
import pytest
from google.auth import crypt, jwt

from orrery.adapters.ga4 import SCOPE, GoogleAnalytics
from orrery.adapters.movable_clock import MovableClock
from orrery.sandbox.analytics.access import AUDIENCE, GRANT, TOKEN_PATH, config_of, service_account_key
from orrery.sandbox.app import SandboxConfig, create_app
from orrery.sandbox.ground import Document
from tests.sandbox.contract import PATH
from tests.support.waiting import IN_CLEAR, PATIENCE

PROPERTY = "123456789"
PAGE, PLANET = "unifiedScreenName", "streamName"
CONTRACTS = PATH.parent
VISITORS = 24
DAY, HOUR, PROJECT_HOUR = "tokensPerDay", "tokensPerHour", "tokensPerProjectPerHour"
CONCURRENT, SERVER_ERRORS = "concurrentRequests", "serverErrorsPerProjectPerHour"
THRESHOLDED = "potentiallyThresholdedRequestsPerHour"
REPORTS = f"/v1beta/properties/{PROPERTY}:runRealtimeReport"
TOTAL: Document = {"metrics": [{"name": "activeUsers"}]}

needs_analytics_contract = pytest.mark.skipif(
    not (CONTRACTS / "analytics.discovery.json").exists(), reason="the analytics contract is not here"
)


def published(name: str) -> Any:  # noqa: ANN401  any JSON
    """Return a file of the contract: `errors`, `discovery`, …."""
    return json.loads((CONTRACTS / f"analytics.{name}.json").read_text(encoding="utf-8"))


def by(*dimensions: str, **more: object) -> Document:
    """Return the request for active users by these dimensions."""
    return {**TOTAL, "dimensions": [{"name": name} for name in dimensions], **more}


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


@dataclass(frozen=True)
class Provider:
    """A running sandbox with an analytics provider. `key` is the service account's."""

    url: str
    key: str = field(repr=False)
    clock: MovableClock
    web: httpx2.Client

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
        now = int(self.clock.now().timestamp())
        signer: Any = crypt.RSASigner
        usual = {"iss": json.loads(self.key)["client_email"], "aud": AUDIENCE, "scope": SCOPE}
        payload = usual | {"iat": now, "exp": now + 3600} | claims
        untyped: Any = jwt
        signed = untyped.encode(signer.from_service_account_info(json.loads(self.key)), payload, header=header)
        return signed.decode()

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
        """Return a report, which must be one that the contract describes."""
        answer = self.ask(body)
        assert answer.status_code == 200, answer.text
        check_schema("RunRealtimeReportResponse", answer.json())
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

    def fault(self, kind: str, **more: object) -> None:
        """Switch a fault on."""
        assert self.web.post("/_faults", json={"kind": kind, **more}).status_code == 200

    def visitors(self, count: int) -> None:
        """Let there be that many visitors."""
        assert self.web.post("/_visitors", json={"count": count}).status_code == 200

    def quota(self, **given: object) -> None:
        """Set a figure of the quotas."""
        assert self.web.post("/_quota", json=given).status_code == 200

    def advance(self, seconds: float) -> None:
        """Move the sandbox's clock forward."""
        assert self.web.post("/_clock", json={"advance": seconds}).status_code == 200

    def known(self) -> Document:
        """Return the provider's own figures."""
        return self.web.get("/_analytics").json()

    def left(self, name: str) -> int:
        """Return what is left of a quota."""
        return self.known()["quota"]["buckets"][name]["left"]

    def reset(self) -> None:
        """Put everything back but the clock, the tokens, the counts and the sizes of quotas."""
        assert self.web.delete("/_faults").status_code == 200
        self.visitors(VISITORS)
        self.quota(cost=10, refill=True)


def sandbox_config(url: str, key: str) -> SandboxConfig:
    """Return a sandbox whose analytics provider accepts that key."""
    return SandboxConfig(url, {}, (), smtp_port=None, analytics=config_of(key, PROPERTY))


@contextmanager
def providing(folder: Path, serving: Any) -> Generator[Provider]:  # noqa: ANN401  the context manager of conftest
    """Run a sandbox with an analytics provider, its clock in `folder`."""
    clock = MovableClock(folder / "clock")
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    key = service_account_key(f"{url}{TOKEN_PATH}")
    app = create_app(sandbox_config(url, key), clock, clock.advance)
    with (
        serving(app, listener),
        httpx2.Client(base_url=url, timeout=PATIENCE, verify=IN_CLEAR, trust_env=False) as web,
    ):
        yield Provider(url, key, clock, web)


def check_schema(name: str, answer: object) -> None:
    """Fail unless the answer is as the contract has this schema, with no field beyond; pass without it."""
    if not (CONTRACTS / "analytics.discovery.json").exists():
        return
    schema = {"$ref": f"#/schemas/{name}", "schemas": _schemas()}
    found = jsonschema.Draft202012Validator(schema).iter_errors(cast("Any", answer))  # pyright: ignore[reportUnknownMemberType] - its stub is partial
    assert [f"{error.json_path}: {error.message}"[:500] for error in found] == []


@cache
def _schemas() -> dict[str, Any]:
    return {name: _strict(schema) for name, schema in published("discovery")["schemas"].items()}


def _strict(value: Any) -> Any:  # noqa: ANN401  any part of a schema
    """Return a discovery schema as JSON Schema: references with their path, no fields beyond the named ones."""
    if isinstance(value, list):
        return [_strict(one) for one in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, Any]", value)
    strict = {key: _strict(one) for key, one in given.items() if key not in ("id", "description")}
    if isinstance(given.get("$ref"), str):
        strict["$ref"] = f"#/schemas/{given['$ref']}"
    if given.get("type") == "object" and isinstance(given.get("properties"), dict):
        strict["additionalProperties"] = False
        strict["properties"] = {name: _strict(one) for name, one in given["properties"].items()}
    return strict
