"""Google Analytics before it is asked: what is missing, what is no key, and what starting costs."""

import asyncio
import json
import subprocess
import sys

import pytest

from orrery.adapters.ga4 import GoogleAnalytics
from orrery.errors import NotConfigured
from tests.support.clock import ManualClock
from tests.support.tables import each_case

KEY = {
    "type": "service_account",
    "client_email": "counter@example.test",
    "private_key": "not-a-private-key-of-anybody",
    "token_uri": "https://token.example.test/",
}


def analytics(key: str | None, property_id: str | None = "1") -> GoogleAnalytics:
    """Return the adapter for a provider that nobody can reach."""
    return GoogleAnalytics(
        key,
        property_id,
        base_url="https://example.test",
        planet_dimension="streamName",
        window_minutes=30,
        clock=ManualClock(),
    )


def refusal(one: GoogleAnalytics) -> str:
    """Return the sentence with which both operations are refused."""
    with pytest.raises(NotConfigured) as asked:
        asyncio.run(one.active_users(deadline=5))
    with pytest.raises(NotConfigured) as checked:
        asyncio.run(one.check())
    assert str(asked.value) == str(checked.value)
    assert "\n" not in str(asked.value)
    return str(asked.value)


@pytest.mark.parametrize("key", [None, ""])
def test_no_key(key: str | None) -> None:
    """Without a key nothing is asked."""
    assert refusal(analytics(key)) == "The analytics provider's service-account key is missing."


@pytest.mark.parametrize("property_id", [None, ""])
def test_no_property(property_id: str | None) -> None:
    """Without a property nothing is asked."""
    assert refusal(analytics(json.dumps(KEY), property_id)) == "The analytics property is not set."


@each_case(
    "key",
    [
        "not-json-at-all",
        "[]",
        '"text"',
        json.dumps(KEY | {"type": "authorized_user"}),
        json.dumps({name: value for name, value in KEY.items() if name != "private_key"}),
        json.dumps(KEY | {"private_key": ""}),
        json.dumps(KEY | {"client_email": 5}),
        json.dumps(KEY),
        json.dumps(KEY | {"private_key": "".join(f"-----{word} PRIVATE KEY-----\n" for word in ("BEGIN", "END"))}),
    ],
)
def test_what_is_no_key(key: str) -> None:
    """A text that is no service account's key is refused in one sentence that shows nothing of it."""
    assert refusal(analytics(key)) == "The analytics key is not the JSON key of a service account."


@each_case(
    "address",
    ["http://token.example.test/", "token.example.test", "", "http://[", "ftp://127.0.0.1/", "file:///etc/hosts"],
)
def test_where_a_token_may_be_asked_for(address: str) -> None:
    """A key that would have its assertion sent in clear is refused without showing the address."""
    sentence = refusal(analytics(json.dumps(KEY | {"token_uri": address})))
    assert sentence.startswith("The token_uri of the analytics key must begin with https://")
    assert "example.test" not in sentence


def test_starting_does_not_wait_for_the_library() -> None:
    """The vendor's library is not imported before the first token is minted."""
    code = "import sys, orrery.adapters.ga4; print({'google.auth', 'requests'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    assert shown.stdout.strip() == "set()"
