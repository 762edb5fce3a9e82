"""Each claim of a token is judged: missing, of another type, doubled, foreign, too old or too young."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orrery.tenants.claims import SKEW, ExpectedClaims, judge_access, judge_sign_in
from orrery.tenants.errors import SignInRefused
from tests.support.tables import each_case

TENANT, OTHER = "00000000-0000-4000-8000-0000000000a0", "00000000-0000-4000-8000-0000000000b0"
CLIENT, PERSON = "00000000-0000-4000-8000-0000000000a1", "00000000-0000-4000-8000-0000000000a2"
EXPECTED = ExpectedClaims("https://login.example", TENANT, CLIENT, "ann@corp.example")
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = int(NOW.timestamp())
HOME = f"{PERSON}.{TENANT}"

ID: dict[str, Any] = {
    "ver": "2.0",
    "iss": f"https://login.example/{TENANT}/v2.0",
    "sub": "pairwise",
    "aud": CLIENT,
    "exp": AT + 3600,
    "iat": AT,
    "nbf": AT,
    "preferred_username": "Ann@corp.example",
    "oid": PERSON,
    "tid": TENANT,
}
ACCESS: dict[str, Any] = {
    "iss": f"https://sts.windows.net/{TENANT}/",
    "appid": CLIENT,
    "idtyp": "user",
    "oid": PERSON,
    "scp": "User.Read Mail.Read",
    "tid": TENANT,
    "exp": AT + 3600,
    "nbf": AT,
}
OPTIONAL = {"idtyp"}


def sign_in(claims: object, home: str = HOME) -> str:
    """Judge a sign-in."""
    return judge_sign_in(json.dumps(claims).encode(), home, EXPECTED, NOW)


def access(claims: object, *granted: str) -> tuple[str, ...]:
    """Judge an access token."""
    return judge_access(json.dumps(claims).encode(), granted, PERSON, EXPECTED, NOW).scopes


def refused_sign_in(claims: object, home: str = HOME) -> str:
    """Return why a sign-in is refused."""
    with pytest.raises(SignInRefused) as error:
        sign_in(claims, home)
    return str(error.value)


def refused_access(claims: object, *granted: str) -> str:
    """Return why an access token is refused."""
    with pytest.raises(SignInRefused) as error:
        access(claims, *granted)
    return str(error.value)


def doubled(claims: dict[str, Any], name: str, first: object) -> bytes:
    """Return claims as JSON with one name twice; the last is as it should be."""
    text = json.dumps({**claims, name: claims[name]})
    return f"{{{json.dumps(name)}: {json.dumps(first)}, {text[1:]}".encode()


def test_the_person_of_a_good_sign_in() -> None:
    """The object id of the verified token is who signed in."""
    assert sign_in(ID) == PERSON


def test_the_scopes_of_a_good_token() -> None:
    """They are what the token itself says."""
    assert access(ACCESS) == ("User.Read", "Mail.Read")


def test_a_token_of_the_second_version() -> None:
    """It names its authority and its app by other claims."""
    second = {**ACCESS, "iss": ID["iss"], "azp": CLIENT}
    del second["appid"]
    assert access(second) == ("User.Read", "Mail.Read")


@each_case("name", ID)
def test_each_claim_of_a_sign_in_is_needed(name: str) -> None:
    """A missing one is named."""
    assert f"claim {name} is missing" in refused_sign_in({key: ID[key] for key in ID if key != name})


@each_case("name", sorted(ACCESS.keys() - OPTIONAL))
def test_each_claim_of_a_token_is_needed(name: str) -> None:
    """A missing one is named."""
    assert f"claim {name} is missing" in refused_access({key: ACCESS[key] for key in ACCESS if key != name})


@each_case("other", [None, True, 1.5, [], ["x"], {}, "", " "])
@each_case("name", ID)
def test_a_claim_of_a_sign_in_of_another_type(name: str, other: object) -> None:
    """It is refused by name, whatever it is instead."""
    assert f"claim {name} is not a" in refused_sign_in({**ID, name: other})


@each_case("other", [None, True, 1.5, [], ["User.Read"], {}, "", " "])
@each_case("name", ACCESS)
def test_a_claim_of_a_token_of_another_type(name: str, other: object) -> None:
    """It is refused by name, whatever it is instead."""
    assert f"claim {name} is not a" in refused_access({**ACCESS, name: other})


@each_case("name", ID)
def test_a_claim_of_a_sign_in_that_stands_twice(name: str) -> None:
    """Readers differ about which of two counts, so neither does."""
    with pytest.raises(SignInRefused, match=f"claim {name} occurs twice"):
        judge_sign_in(doubled(ID, name, "first"), HOME, EXPECTED, NOW)


@each_case("name", ACCESS)
def test_a_claim_of_a_token_that_stands_twice(name: str) -> None:
    """The same is true of an access token."""
    with pytest.raises(SignInRefused, match=f"claim {name} occurs twice"):
        judge_access(doubled(ACCESS, name, "first"), (), PERSON, EXPECTED, NOW)


FOREIGN_SIGN_INS: list[tuple[dict[str, Any], str]] = [
    ({"ver": "1.0"}, "ver is another version"),
    ({"tid": OTHER}, "tid names another tenant"),
    ({"iss": f"https://login.example/{OTHER}/v2.0"}, "iss names another authority"),
    ({"iss": f"https://sts.windows.net/{TENANT}/"}, "iss names another authority"),
    ({"iss": f"https://elsewhere.example/{TENANT}/v2.0"}, "iss names another authority"),
    ({"aud": OTHER}, "aud names another app"),
    ({"idp": f"https://sts.windows.net/{OTHER}/"}, "idp names another tenant: the account is a guest"),
    ({"idp": 7}, "idp is not a text"),
    ({"acct": 1}, "acct marks the account as a guest"),
    ({"acct": 2}, "acct marks the account as a guest"),
    ({"acct": "0"}, "acct is not a whole number"),
    ({"preferred_username": "bob@corp.example"}, "preferred_username is not ann@corp.example"),
    ({"exp": AT - 301}, "exp has passed"),
    ({"exp": AT - 300}, "exp has passed"),
    ({"exp": 10**30}, "exp is no time"),
    ({"exp": 10**12}, "exp is no time"),
    ({"nbf": AT + 301}, "nbf has not come yet"),
]


@each_case(("changed", "why"), FOREIGN_SIGN_INS)
def test_a_sign_in_that_is_not_this_accounts(changed: dict[str, Any], why: str) -> None:
    """What differs is named."""
    assert f"claim {why}" in refused_sign_in({**ID, **changed})


FOREIGN_TOKENS: list[tuple[dict[str, Any], str]] = [
    ({"tid": OTHER}, "tid names another tenant"),
    ({"iss": f"https://sts.windows.net/{OTHER}/"}, "iss names another authority"),
    ({"roles": ["Mail.Read"]}, "roles is there: the token has permissions of an application"),
    ({"roles": []}, "roles is there"),
    ({"idtyp": "app"}, "idtyp is not user: an application signed in"),
    ({"oid": OTHER}, "oid is another account's"),
    ({"appid": OTHER}, "appid names another app"),
    ({"azp": OTHER}, "azp names another app"),
    ({"idp": f"https://sts.windows.net/{OTHER}/"}, "idp names another tenant: the account is a guest"),
    ({"acct": 1}, "acct marks the account as a guest"),
    ({"scp": "User.Read Mail.Send"}, "scp has Mail.Send"),
    ({"scp": "User.Read https://graph.microsoft.com/Mail.Send"}, "scp has Mail.Send"),
    ({"exp": AT - 300}, "exp has passed"),
    ({"nbf": AT + 301}, "nbf has not come yet"),
]


@each_case(("changed", "why"), FOREIGN_TOKENS)
def test_a_token_that_is_not_this_accounts(changed: dict[str, Any], why: str) -> None:
    """What differs is named."""
    assert f"claim {why}" in refused_access({**ACCESS, **changed})


def test_a_scope_that_only_the_answer_names() -> None:
    """The scopes that were granted can be more than the token says: both are judged."""
    assert "claim scp has Chat.ReadWrite" in refused_access(ACCESS, "User.Read", "Chat.ReadWrite")


def test_clocks_a_little_apart() -> None:
    """Five minutes between two machines are no reason to refuse."""
    skew = int(SKEW.total_seconds())
    assert sign_in({**ID, "exp": AT - skew + 1, "nbf": AT + skew}) == PERSON
    assert timedelta(minutes=5) == SKEW


def test_the_account_is_at_home_in_an_own_tenant() -> None:
    """Where a tenant names itself as the provider, and the account as a member, nobody is a guest."""
    own = {"idp": f"https://sts.windows.net/{TENANT}/", "acct": 0}
    assert sign_in({**ID, **own}) == PERSON
    assert access({**ACCESS, **own})


def test_the_case_of_an_id_does_not_count() -> None:
    """Ids are compared as what they are, and kept in lower case."""
    shouted = {**ID, "oid": "ABCDEF" + PERSON[6:], "tid": TENANT.upper(), "aud": CLIENT.upper()}
    assert sign_in(shouted, f"ABCDEF{PERSON[6:]}.{TENANT.upper()}") == "abcdef" + PERSON[6:]


@each_case("home", ["", PERSON, f"{PERSON}.", f"{PERSON}.{TENANT}.{TENANT}", "pairwise"])
def test_a_home_account_that_is_not_said(home: str) -> None:
    """Without it nobody knows whether the account is a guest."""
    assert "client_info" in refused_sign_in(ID, home)


def test_a_guest_that_looks_like_a_member() -> None:
    """Only the home tenant tells: this account is refused although each claim is that of a member."""
    assert "a guest in this tenant" in refused_sign_in(ID, f"{PERSON}.{OTHER}")


def test_a_home_account_of_another_person() -> None:
    """Token and answer must be of one account."""
    assert "client_info uid" in refused_sign_in(ID, f"{OTHER}.{TENANT}")


def test_an_opaque_token() -> None:
    """What nobody can read is refused: it may be another tenant's."""
    with pytest.raises(SignInRefused, match="opaque"):
        judge_access(None, (), PERSON, EXPECTED, NOW)


@each_case("payload", [b"", b"{", b"[]", b"null", b"\xff", b'"text"', b"[" * 100_000])
def test_what_is_no_object(payload: bytes) -> None:
    """A payload that is no JSON object is refused with one sentence."""
    with pytest.raises(SignInRefused, match="cannot be read"):
        judge_sign_in(payload, HOME, EXPECTED, NOW)


def test_a_refusal_quotes_nothing_that_steers() -> None:
    """What comes from outside is shown without control characters."""
    why = refused_access({**ACCESS, "scp": "Evil\x1b[31m.Send"})
    assert why.isprintable()
    assert "Evil31m.Send" in why
