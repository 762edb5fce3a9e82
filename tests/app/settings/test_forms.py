"""Whether a secret looks like one of its kind, and what it is for here (issue item 7, decision 41)."""

import json
from pathlib import Path

from orrery.app.settings.reader import Secrets, settings_from, uses_of
from orrery.app.settings.secrets import secret_kinds
from orrery.runtime.secret import SecretUse
from tests.support.marked import MARK, SECRETS, analytics_key, assert_unmarked
from tests.support.tables import each_case

ANALYTICS = "analytics_service_account_key"


def secrets_with(name: str, value: str) -> Secrets:
    """Return secrets of which there is one."""
    return Secrets.of({name: value})


@each_case(
    ("name", "value"),
    [
        *((name, value) for name, value in SECRETS.items()),
        (ANALYTICS, analytics_key(8090)),
        ("processor_api_key", "rk_test_51Hx"),
        ("webhook_signing_secret", "whsec_one/two+three="),
        ("admin_password_hash", "AB" * 32),
        ("mail_password", "abcd efgh ijkl mnop"),
    ],
)
def test_what_looks_right(name: str, value: str) -> None:
    """A secret as its vendor makes them is not found fault with, and nothing of it is told."""
    form = secrets_with(name, value).form(name, "test")
    assert form.wrong == ""
    assert_unmarked(form.note)


@each_case(
    ("name", "value", "sentence"),
    [
        ("processor_api_key", f"pk_test_{MARK}", "is a publishable key"),
        ("processor_api_key", MARK, "is no API key of the processor"),
        ("processor_api_key", f"sk_test_{MARK} sk_test_{MARK}", "white space inside"),
        ("processor_api_key", f"rk_live_{MARK}", "a live key, but the mode is test"),
        (
            "webhook_signing_secret",
            f"whsec_{MARK}\n{MARK}",
            "A line of webhook_signing_secret is no signing secret",
        ),
        ("admin_password_hash", f"{MARK}-password", "no SHA-256"),
        (ANALYTICS, MARK, "no JSON"),
        (ANALYTICS, '["none"]', "not the key file"),
        (ANALYTICS, json.dumps({"type": "authorized_user", "client_email": MARK}), "not the key file"),
        (ANALYTICS, json.dumps({"type": "service_account", "client_email": MARK}), "token address"),
        (
            ANALYTICS,
            analytics_key(8090).replace("http://127.0.0.1:8090", "http://tokens.example.test"),
            "token address",
        ),
        (ANALYTICS, analytics_key(8090).replace("MII", "MIO"), "private key"),
        (ANALYTICS, analytics_key(8090).replace('"private_key"', '"public_key"'), "private key"),
    ],
)
def test_what_looks_wrong(name: str, value: str, sentence: str) -> None:
    """What cannot be such a secret is said in a sentence that does not repeat it."""
    form = secrets_with(name, value).form(name, "test")
    assert sentence in form.wrong
    assert_unmarked(form.wrong)


@each_case(
    ("name", "value", "note"),
    [
        (
            "processor_api_key",
            "sk_test_orrery",
            "a test key, unrestricted, though a restricted one (rk_) is advised",
        ),
        ("processor_api_key", "rk_test_orrery", "a test key, restricted"),
        ("webhook_signing_secret", "whsec_one\nwhsec_two", "several, for a rotation"),
        ("push_token", "tk_orrery", ""),
        ("push_token", "orrery-token", "ntfy's own tokens begin with tk_; this one does not"),
        ("tracker_token", "github_pat_orrery", ""),
        ("tracker_token", "orrery-token", "it has not the form of GitHub's tokens"),
    ],
)
def test_what_is_worth_knowing(name: str, value: str, note: str) -> None:
    """What is not wrong but worth knowing is a note."""
    assert secrets_with(name, value).form(name, "test").note == note


SELLS = {"products": [{"vendor_slug": "v", "cert_code": "c", "title": "C", "price_id": "price_c"}]}
COUNTS = {"property_id": "1"}
MAILS = {"host": "mail.example.test", "sender": "shop@example.test"}
SELLING = {"processor_api_key", "webhook_signing_secret", "access_service_token"}


def uses_with(**sections: object) -> dict[str, SecretUse]:
    """Return what the secrets are for with these sections of the settings."""
    return uses_of(settings_from(sections, Path()))


def test_every_secret_has_a_use() -> None:
    """It is known of each secret what it is for, and of no other; where none is needed it is said why."""
    assert set(uses_with()) == set(secret_kinds("site"))
    assert all(use.idle for use in uses_with().values())


@each_case(
    ("sections", "needed"),
    [
        ({}, set[str]()),
        ({"checkout": SELLS}, SELLING),
        ({"live": COUNTS}, {"admin_password_hash", ANALYTICS}),
        (
            {"live": COUNTS, "monitor": {"tracker": "github"}},
            {"admin_password_hash", ANALYTICS, "tracker_token"},
        ),
        ({"monitor": {"tracker": "github"}}, set[str]()),
        ({"push": {"url": "https://push.example.test", "topic": "t"}}, set[str]()),
        ({"mail": MAILS}, set[str]()),
        ({"mail": {**MAILS, "username": "shop"}}, {"mail_password"}),
    ],
)
def test_what_is_needed(sections: dict[str, object], needed: set[str]) -> None:
    """A secret is needed by what is configured, and by nothing else."""
    assert {name for name, use in uses_with(**sections).items() if use.needed} == needed


def test_what_makes_the_service_useless() -> None:
    """Only the secrets that selling needs decide whether the service may be asked."""
    uses = uses_with(checkout=SELLS, live=COUNTS)
    assert {name for name, use in uses.items() if use.essential} == SELLING
