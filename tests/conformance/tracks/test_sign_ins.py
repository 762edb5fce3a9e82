"""Who may sign in for which track, with the vendor's own library against the sandbox's identity provider."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orrery.adapters.microsoft_identity.provider import MicrosoftIdentity
from orrery.errors import Invalid
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.identity import IdentityRefused, IdentityUnreachable
from orrery.ports.private_file import SignInFileUnusable
from orrery.sandbox.identity.directory import CLIENT_A, CLIENT_B, TENANT_A
from orrery.tenants.errors import SignInRefused
from tests.support.tracks import ANN_A, ANN_B, BOB_A, Tracks


def content(tracks: Tracks, track: str) -> dict[str, Any]:
    """Return what is kept of a track's sign-ins."""
    return json.loads((tracks.settings.directory / f"{track}.json").read_text())


def test_an_account_signs_in_and_has_a_token(tracks: Tracks) -> None:
    """After a sign-in by device code the account has a token of its track's tenant, and nobody else has."""
    tracks.sign_in(ANN_A)
    token = tracks.sign_ins.token(ANN_A)
    assert (token.account.track, token.tenant) == ("A", TENANT_A)
    assert {*token.scopes} == {"openid", "profile", "User.Read"}
    assert {account.name for account, found in tracks.sign_ins.all() if found} == {ANN_A}
    with pytest.raises(SignInNeeded, match=f"sign-in --account {BOB_A}"):
        tracks.sign_ins.token(BOB_A)


def test_each_track_has_one_private_file(tracks: Tracks) -> None:
    """Both accounts of A are in one file and that of B in another, readable by their owner only."""
    for name in (ANN_A, BOB_A, ANN_B):
        tracks.sign_in(name)
    assert tracks.kept() == ["A.json", "B.json"]
    assert [(tracks.settings.directory / one).stat().st_mode & 0o777 for one in tracks.kept()] == [0o600, 0o600]
    assert tracks.settings.directory.stat().st_mode & 0o777 == 0o700
    assert content(tracks, "A")["sign_ins"].keys() == {ANN_A, BOB_A}


def test_each_token_is_its_own_accounts(tracks: Tracks) -> None:
    """Whatever was asked for before: the account is the named one, not the last one."""
    for name in (ANN_A, BOB_A, ANN_B):
        tracks.sign_in(name)
    for name in (ANN_B, ANN_A, BOB_A, ANN_A):
        answer = me(tracks, tracks.sign_ins.token(name).value)
        assert answer["mail"] == name


def me(tracks: Tracks, token: str) -> dict[str, Any]:
    """Return whom the API takes the owner of a token for."""
    with tracks.box.https() as web:
        return web.get("/v1.0/me", headers={"Authorization": f"Bearer {token}"}).raise_for_status().json()


def test_only_tenants_are_asked(tracks: Tracks) -> None:
    """No request goes to `common` or another authority of several tenants."""
    before = tracks.box.requests
    tracks.sign_in(ANN_A)
    _ = tracks.sign_ins.token(ANN_A)
    asked = {path for path, count in tracks.box.requests.items() if count > before.get(path, 0)}
    assert asked
    assert {path.split("/")[1] for path in asked} == {TENANT_A}


def test_a_guest_is_refused(tracks: Tracks) -> None:
    """An account of B that A's tenant knows as its guest cannot sign in for A, and nothing is kept."""
    with pytest.raises(SignInRefused, match="guest"):
        tracks.sign_in(ANN_A, as_account=ANN_B)
    assert tracks.kept() == []


def test_another_account_of_the_tenant_is_refused(tracks: Tracks) -> None:
    """Who signs in must be the account that was named."""
    with pytest.raises(SignInRefused, match="preferred_username"):
        tracks.sign_in(ANN_A, as_account=BOB_A)
    assert tracks.kept() == []


def test_an_account_that_is_not_allowed(tracks: Tracks) -> None:
    """A name that the settings do not have is refused with the choices, ahead of any request."""
    before = tracks.box.requests
    with pytest.raises(Invalid, match=f"Choose one of {ANN_A} ..track:A., Corporate., "):
        tracks.sign_in("eve@corp.example")
    assert tracks.box.requests == before


def test_a_name_of_two_accounts(tracks: Tracks) -> None:
    """It is an error that lists both, with their tracks."""
    with pytest.raises(Invalid, match="2 accounts have this name") as error:
        tracks.sign_in("ann")
    assert f"{ANN_A} ([track:A], Corporate), {ANN_B} ([track:B], Lab)" in str(error.value)


DOCTORED: list[tuple[dict[str, object], str]] = [
    ({"part": "id", "drop": "tid"}, "id token's claim tid is missing"),
    ({"part": "id", "double": "tid"}, "id token's claim tid occurs twice"),
    ({"part": "id", "set": "tid", "value": 7}, "id token's claim tid is not a text"),
    ({"part": "id", "set": "aud", "value": CLIENT_A[::-1]}, "id token's claim aud names another app"),
    ({"part": "id", "sign": "foreign"}, "signature of the id token is wrong"),
    ({"part": "id", "sign": "none"}, "signature of the id token is wrong"),
    ({"part": "answer", "drop": "id_token"}, "no id token"),
    ({"part": "answer", "drop": "client_info"}, "client_info"),
    ({"part": "client_info", "drop": "utid"}, "client_info"),
    ({"part": "client_info", "double": "utid"}, "client_info"),
    ({"part": "access", "drop": "scp"}, "access token's claim scp is missing"),
    ({"part": "access", "set": "roles", "value": ["Mail.Read"]}, "access token's claim roles is there"),
    ({"part": "access", "set": "idtyp", "value": "app"}, "access token's claim idtyp is not user"),
    ({"part": "access", "double": "oid"}, "access token's claim oid occurs twice"),
    ({"part": "answer", "set": "scope", "value": "User.Read Mail.Send"}, "Mail.Send"),
]


@pytest.mark.parametrize(("change", "why"), DOCTORED)
def test_a_doctored_answer_is_refused_and_not_kept(
    tracks: Tracks, signed_in: Tracks, change: dict[str, object], why: str
) -> None:
    """The sentence names the claim; an earlier sign-in stays as it was."""
    signed_in.copy_sign_ins(tracks.folder, ANN_A)
    before = content(tracks, "A")
    tracks.box.pull("doctor", **change)
    with pytest.raises((SignInRefused, IdentityRefused), match=why):
        tracks.sign_in(ANN_A)
    with pytest.raises((SignInRefused, IdentityRefused), match=why):
        tracks.sign_in(BOB_A)
    assert content(tracks, "A") == before


def test_a_scope_that_was_not_asked_for(tracks: Tracks) -> None:
    """A consent of before can grant more than was asked for: with it a token could send, so it is refused."""
    tracks.box.pull("scopes", add=["Mail.Send"])
    with pytest.raises(SignInRefused, match=r"scp has Mail\.Send"):
        tracks.sign_in(ANN_A)
    assert tracks.kept() == []


def test_a_renewed_token_is_judged_too(tracks: Tracks) -> None:
    """A scope that is granted after the sign-in is refused when the token is renewed; the file stays."""
    tracks.box.doctor("answer", set="expires_in", value=0)
    tracks.sign_in(ANN_A)
    before = content(tracks, "A")
    tracks.box.undo()
    tracks.box.pull("scopes", add=["Chat.ReadWrite"])
    with pytest.raises(SignInRefused, match=r"Chat\.ReadWrite"):
        tracks.sign_ins.token(ANN_A)
    assert content(tracks, "A") == before


def test_a_scope_that_only_the_answer_to_a_renewal_names(tracks: Tracks) -> None:
    """The answer may name more than the token itself: it is judged at each renewal, too."""
    tracks.box.doctor("answer", set="expires_in", value=0)
    tracks.sign_in(ANN_A)
    tracks.box.undo()
    tracks.box.doctor("answer", set="scope", value="User.Read Mail.Send")
    with pytest.raises(SignInRefused, match=r"Mail\.Send"):
        tracks.sign_ins.token(ANN_A)


def test_a_token_is_renewed_and_kept(tracks: Tracks) -> None:
    """What was renewed is kept, so that the next use needs no request for a token."""
    tracks.box.doctor("answer", set="expires_in", value=0)
    tracks.sign_in(ANN_A)
    tracks.box.undo()
    first = tracks.sign_ins.token(ANN_A).value
    assert tracks.sign_ins.token(ANN_A).value == first


def test_who_signed_out_meanwhile_stays_out(tracks: Tracks) -> None:
    """A renewal that another process has overtaken keeps nothing."""
    tracks.sign_in(ANN_A)
    file, sign_in = tracks.sign_ins.file("A"), tracks.sign_ins.find(ANN_A)[1]
    assert sign_in is not None
    assert tracks.sign_ins.sign_out(ANN_A)
    file.renew(ANN_A, sign_in, "renewed")
    assert content(tracks, "A")["sign_ins"] == {}
    assert not tracks.sign_ins.sign_out(ANN_A)


def test_who_signed_in_again_meanwhile_stays_in(tracks: Tracks) -> None:
    """A renewal of the sign-in before does not take the place of the new one."""
    tracks.sign_in(ANN_A)
    file, before = tracks.sign_ins.file("A"), tracks.sign_ins.find(ANN_A)[1]
    assert before is not None
    tracks.sign_in(ANN_A)
    again = content(tracks, "A")
    file.renew(ANN_A, before, "renewed")
    assert content(tracks, "A") == again


def test_keys_that_were_changed(tracks: Tracks) -> None:
    """The authority's keys are asked for at each sign-in."""
    tracks.sign_in(ANN_A)
    tracks.box.pull("keys")
    tracks.sign_in(ANN_A)


@pytest.mark.parametrize(("seconds", "claim"), [(-7200, "exp"), (600, "nbf")])
def test_clocks_far_apart(tracks: Tracks, seconds: int, claim: str) -> None:
    """The refusal names the claim, and this machine's clock."""
    tracks.box.pull("skew", seconds=seconds)
    with pytest.raises(SignInRefused, match=f"claim {claim} has .* clock"):
        tracks.sign_in(ANN_A)


def test_keys_at_another_address(tracks: Tracks) -> None:
    """Keys are believed at the authority's own address only."""
    tracks.box.doctor("discovery", set="jwks_uri", value="https://elsewhere.example/keys")
    with pytest.raises(IdentityUnreachable, match="does not name the address of its keys"):
        tracks.sign_in(ANN_A)
    assert tracks.kept() == []


REFUSALS = [
    ("consent", "the app's permissions have no consent"),
    ("device_code", "policy forbids it: sign in with `--browser`"),
    ("confidential", "Allow public client flows"),
]


@pytest.mark.parametrize(("lever", "why"), REFUSALS)
def test_a_refusal_says_what_to_do(tracks: Tracks, lever: str, why: str) -> None:
    """The sentence has the provider's number, and none of its own words: these name people."""
    tracks.box.pull(lever)
    with pytest.raises(IdentityRefused, match=why) as error:
        tracks.sign_in(ANN_A)
    assert "AADSTS" in str(error.value)
    assert "@" not in str(error.value)


def test_a_declined_sign_in(tracks: Tracks) -> None:
    """Who declines the code has not signed in."""
    with pytest.raises(IdentityRefused, match="declined"):
        _ = tracks.sign_ins.by_device_code(ANN_A, lambda code: tracks.box.decline(code.code))
    assert tracks.kept() == []


def test_a_tenant_that_does_not_exist(tracks: Tracks) -> None:
    """The library's own words are not shown."""
    settings = tracks.settings
    wrong = settings.require("A").model_copy(update={"tenant": "00000000-0000-4000-8000-00000000ffff"})
    sign_ins = tracks.with_settings(settings.model_copy(update={"A": wrong}))
    with pytest.raises(IdentityUnreachable, match="answer is not as documented"):
        _ = sign_ins.by_device_code(ANN_A, tracks.approving(ANN_A))


@pytest.mark.parametrize("forged", ["as it is", "client", "tenant", "name", "tenant and client", "everything"])
def test_the_sign_ins_of_b_are_nothing_to_a(tracks: Tracks, forged: str) -> None:
    """B's file in the place of A's gives no token, however much of it somebody has rewritten."""
    tracks.sign_in(ANN_B)
    kept = content(tracks, "B")
    sign_in = kept["sign_ins"][ANN_B]
    if forged != "as it is":
        kept["track"] = "A"
    if forged not in {"as it is", "client"}:
        kept["tenant"] = TENANT_A
    if forged not in {"as it is", "tenant"}:
        kept["client"] = CLIENT_A
    if forged in {"client", "name"}:
        own = sign_in["cache"].replace(CLIENT_B, CLIENT_A)
        kept["sign_ins"] = {ANN_A: sign_in | {"cache": own}}
    if forged == "everything":
        kept["sign_ins"] = {ANN_A: sign_in | {"tenant": TENANT_A}}
    write(tracks, "A", json.dumps(kept).encode())
    before = tracks.box.requests
    with pytest.raises((SignInFileUnusable, SignInNeeded)):
        tracks.sign_ins.token(ANN_A)
    assert tracks.box.requests.get(f"/{TENANT_A}/oauth2/v2.0/token") == before.get(
        f"/{TENANT_A}/oauth2/v2.0/token"
    )


def write(tracks: Tracks, track: str, data: bytes) -> Path:
    """Put something in the place of a track's sign-ins."""
    file = tracks.settings.directory / f"{track}.json"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.touch(mode=0o600)
    file.write_bytes(data)
    return file


def test_a_cut_file_is_refused(tracks: Tracks) -> None:
    """Wherever it was cut: it is named with what to do, and stays as it is."""
    tracks.sign_in(ANN_A)
    whole = (tracks.settings.directory / "A.json").read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        file = write(tracks, "A", whole[:length])
        for use in (tracks.sign_ins.token, tracks.sign_ins.find, tracks.sign_ins.sign_out, tracks.sign_in):
            with pytest.raises(SignInFileUnusable, match=f"^{file}, .* is cut, .*: delete it, and sign in again"):
                _ = use(ANN_A)
        assert file.read_bytes() == whole[:length]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"track": "B"}, "another track"),
        ({"tenant": CLIENT_A}, "another tenant"),
        ({"client": TENANT_A}, "another"),
    ],
)
def test_a_foreign_file_is_refused(tracks: Tracks, changed: dict[str, str], why: str) -> None:
    """Another track's, tenant's or app's."""
    tracks.sign_in(ANN_A)
    write(tracks, "A", json.dumps(content(tracks, "A") | changed).encode())
    with pytest.raises(SignInFileUnusable, match=why):
        tracks.sign_ins.token(ANN_A)


def test_a_file_that_others_may_read_is_refused(tracks: Tracks) -> None:
    """Somebody may have copied it; the sentence says what to type, and other tracks go on."""
    tracks.sign_in(ANN_A)
    tracks.sign_in(ANN_B)
    (tracks.settings.directory / "A.json").chmod(0o640)
    with pytest.raises(SignInFileUnusable, match="chmod 600"):
        tracks.sign_ins.token(ANN_A)
    assert tracks.sign_ins.token(ANN_B)
    states = {account.name: type(found) for account, found in tracks.sign_ins.all()}
    assert states[ANN_A] is states[BOB_A] is SignInFileUnusable


def test_an_account_that_is_no_longer_allowed(tracks: Tracks) -> None:
    """Its sign-in is not used once the settings do not have it."""
    tracks.sign_in(BOB_A)
    settings = tracks.settings
    fewer = settings.require("A").model_copy(update={"accounts": (ANN_A,)})
    sign_ins = tracks.with_settings(settings.model_copy(update={"A": fewer}))
    with pytest.raises(Invalid):
        sign_ins.token(BOB_A)
    assert [found for _, found in sign_ins.all()] == [None, None]


def test_what_is_no_longer_allowed_is_not_kept(tracks: Tracks) -> None:
    """No command can name it any more, so the next change to its track's file deletes its tokens."""
    tracks.sign_in(BOB_A)
    settings = tracks.settings
    fewer = settings.require("A").model_copy(update={"accounts": (ANN_A,)})
    sign_ins = tracks.with_settings(settings.model_copy(update={"A": fewer}))
    _ = sign_ins.by_device_code(ANN_A, tracks.approving(ANN_A))
    assert content(tracks, "A")["sign_ins"].keys() == {ANN_A}


def test_a_provider_that_cannot_be_reached(tracks: Tracks) -> None:
    """One sentence."""
    sign_ins = replace(tracks.sign_ins, identity=MicrosoftIdentity("https://localhost:1"))
    with pytest.raises(IdentityUnreachable, match="The identity provider cannot be reached"):
        _ = sign_ins.by_device_code(ANN_A, tracks.approving(ANN_A))


def test_nothing_of_a_token_is_shown(tracks: Tracks) -> None:
    """What holds tokens does not show them."""
    tracks.sign_in(ANN_A)
    sign_in, token = tracks.sign_ins.find(ANN_A)[1], tracks.sign_ins.token(ANN_A)
    assert sign_in is not None
    assert token.value not in repr(token)
    assert "secret" not in repr(sign_in)
    assert "cache" not in repr(sign_in)
