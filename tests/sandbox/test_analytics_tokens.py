"""The token endpoint: who gets a token, for how long, and who does not."""

import json
from typing import Any

import pytest

from orrery.sandbox.analytics.key import service_account_key
from tests.sandbox.analytics import Provider

OTHER_AUDIENCE = "https://accounts.example.test/token"


def test_a_token(provider: Provider) -> None:
    """A signed assertion becomes an opaque token of one hour."""
    before = provider.known()["minted_tokens"]
    answer = provider.mint()
    assert answer.status_code == 200
    assert (answer.json()["token_type"], answer.json()["expires_in"]) == ("Bearer", 3599)
    assert "." not in answer.json()["access_token"]
    assert provider.known()["minted_tokens"] == before + 1


def test_a_token_ends_after_an_hour(provider: Provider) -> None:
    """A token is good until an hour has passed by the sandbox's clock."""
    token = provider.token()
    provider.advance(3590)
    assert provider.ask(token=token).status_code == 200
    provider.advance(11)
    assert provider.ask(token=token).status_code == 401


def test_the_sandbox_is_its_own_audience(provider: Provider) -> None:
    """An assertion for the address where the token is asked for is taken too."""
    audience = json.loads(provider.key)["token_uri"]
    assert provider.mint(provider.assertion(aud=audience)).status_code == 200


@pytest.mark.parametrize("late", [-290, 290])
def test_clocks_that_differ_a_little(provider: Provider, late: int) -> None:
    """The clock of the one who signs may be five minutes off."""
    now = int(provider.clock.now().timestamp()) + late
    assert provider.mint(provider.assertion(iat=now, exp=now + 3600)).status_code == 200


@pytest.mark.parametrize(
    ("claims", "error", "described"),
    [
        ({"iss": "nobody@example.test"}, "invalid_grant", "account not found"),
        ({"aud": OTHER_AUDIENCE}, "invalid_grant", "Failed audience check"),
        ({"scope": ""}, "invalid_scope", "Invalid OAuth scope"),
        ({"scope": "everything"}, "invalid_scope", "Invalid OAuth scope"),
        ({"exp": "soon"}, "invalid_grant", "Check your iat and exp"),
    ],
)
def test_wrong_claims(provider: Provider, claims: dict[str, Any], error: str, described: str) -> None:
    """An assertion of another account, for another audience or for nothing is refused in OAuth's words."""
    answer = provider.mint(provider.assertion(**claims))
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert described in answer.json()["error_description"]


@pytest.mark.parametrize(("begins", "ends"), [(-7200, -3600), (400, 4000), (0, 3700), (0, 0)])
def test_assertions_that_are_not_for_now(provider: Provider, begins: int, ends: int) -> None:
    """An assertion that is over, yet to come, or longer than an hour is refused."""
    now = int(provider.clock.now().timestamp())
    answer = provider.mint(provider.assertion(iat=now + begins, exp=now + ends))
    assert "Check your iat and exp" in answer.json()["error_description"]


def test_another_key(provider: Provider) -> None:
    """What another key has signed in the account's name is refused."""
    other = Provider(provider.url, service_account_key(provider.url), provider.clock, provider.web)
    assert provider.mint(other.assertion()).json()["error_description"] == "Invalid JWT Signature."


def test_another_algorithm(provider: Provider) -> None:
    """An assertion whose header names another algorithm is refused, however it is signed."""
    answer = provider.mint(provider.assertion({"alg": "none"}))
    assert answer.json()["error_description"] == "Invalid JWT Signature."


@pytest.mark.parametrize("assertion", ["x", "a.b.c", "..", "e30.e30.e30", "W10.W10.x", "é.é.é"])
def test_what_is_no_assertion(provider: Provider, assertion: str) -> None:
    """What is no signed assertion at all is refused as a grant."""
    answer = provider.mint(assertion)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("form", "error"),
    [({"grant_type": "password"}, "unsupported_grant_type"), ({"assertion": ""}, "invalid_request")],
)
def test_other_grants(provider: Provider, form: dict[str, str], error: str) -> None:
    """Another grant, or none, is refused."""
    assert provider.mint(**form).json()["error"] == error
