"""What a deployment says about its live counter."""

import json
from pathlib import Path

import pytest

from orrery.app.settings.reader import Secrets, settings_from
from orrery.live.build import plan
from orrery.live.module import MODULE
from tests.support.runtimes import runtime_of
from tests.support.tables import each_case

KEY = {"client_email": "counter@example.test", "private_key": "none of the tests needs one"}


def source(key: object = KEY, **live: str) -> str:
    """Return the source of a deployment, as its plan tells it."""
    settings = settings_from({"live": {"property_id": "123456789"} | live}, Path())
    secrets = Secrets.of({"analytics_service_account_key": json.dumps(key)})
    return plan(runtime_of(MODULE, settings, secrets)).source


@pytest.mark.parametrize(
    "live",
    [
        {"property_id": "987654321"},
        {"provider_url": "https://analytics.example.test"},
        {"planet_dimension": "customUser:site"},
    ],
)
def test_another_source(live: dict[str, str]) -> None:
    """Another property, provider or dimension is another source, whose quota and refusals are its own."""
    assert source(**live) != source()


def test_another_account() -> None:
    """Another account is another source; a new key of the same account is not."""
    assert source(KEY | {"client_email": "other@example.test"}) != source()
    assert source(KEY | {"private_key": "a new one"}) == source()


@pytest.mark.parametrize("key", [None, [], {"client_email": 5}, "counter@example.test"])
def test_a_key_that_names_no_account(key: object) -> None:
    """A key that cannot be used is no reason not to start (decision 41)."""
    assert source(key) not in ("", source())


def test_a_source_names_nobody() -> None:
    """What is stored with the budget tells neither the property nor the account."""
    assert len(source()) == 16
    assert int(source(), 16) >= 0


WHOLE = KEY | {"type": "service_account", "token_uri": "https://tokens.example.test"}


@each_case(
    ("key", "usable"),
    [
        (json.dumps(WHOLE), True),
        (json.dumps(WHOLE)[:-1], False),
        ("[" * 100_000, False),
        (json.dumps(WHOLE | {"type": "user"}), False),
        (json.dumps(WHOLE | {"token_uri": "https://[tokens"}), False),
        (json.dumps(KEY), False),
    ],
)
def test_what_is_no_key_file_is_no_key(key: str, usable: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """With a file that is no service account's key nobody is asked: one part says so, and no job fails besides."""
    settings = settings_from({"live": {"property_id": "123456789"}}, Path())
    secrets = Secrets.of({"analytics_service_account_key": key})
    assert plan(runtime_of(MODULE, settings, secrets)).has_key is usable
