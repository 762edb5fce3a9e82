"""Signing in for a track and asking in an account's name, by the real commands (spec 3, Authentication 4)."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.support.identity import IdentityBox, identity
from tests.support.program import Program, run_orrery
from tests.support.tracks import ANN_A, ANN_B, BOB_A, Tracks, track_toml
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture(scope="module")
def shared_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """Return a running identity provider."""
    with identity(tmp_path_factory.mktemp("identity")) as found:
        yield found


@pytest.fixture(scope="module")
def signed_in(shared_box: IdentityBox, tmp_path_factory: pytest.TempPathFactory) -> Tracks:
    """Return the tracks of a folder where an account of each has signed in."""
    tracks = Tracks(shared_box, tmp_path_factory.mktemp("signed-in"))
    for name in (ANN_A, ANN_B):
        tracks.sign_in(name)
    return tracks


@dataclass
class Desk:
    """A folder with settings of both tracks, and what its commands have printed."""

    box: IdentityBox
    folder: Path
    elsewhere: Tracks
    """A folder where an account of each track has signed in."""

    printed: list[str] = field(default_factory=list[str])

    @property
    def config(self) -> str:
        return str(self.folder / "orrery.toml")

    def run(self, *words: str, given: str = "") -> CompletedProcess[str]:
        """Run `orrery tenants <words>`."""
        came = run_orrery("tenants", words[0], "--config", self.config, *words[1:], given=given)
        self.printed.append(came.stdout + came.stderr)
        return came

    def json(self, *words: str) -> Any:  # noqa: ANN401  each test knows what it asked for
        """Return what a command that goes well prints."""
        came = self.run(*words)
        assert came.returncode == 0, came.stderr
        return json.loads(came.stdout)

    def signing_in(self, name: str, output: str = "sign-in") -> Program:
        """Begin a sign-in that waits for its code."""
        words = ["tenants", "sign-in", "--config", self.config, "--account", name]
        return Program(words, self.folder / f"{output}.log")

    def signed_in(self, *names: str) -> None:
        """Let accounts be signed in, by what is kept of them elsewhere."""
        self.elsewhere.copy_sign_ins(self.folder, *names)

    def sign_in(self, name: str, as_account: str = "") -> int:
        """Sign in by the code that the command prints; return its exit code."""
        program = self.signing_in(name, f"sign-in-{len(self.printed)}")
        try:
            self.box.approve(code_of(program), as_account or name)
            return program.process.wait(PATIENCE)
        finally:
            program.clear_away()
            self.printed.append(program.printed())

    def secrets(self) -> set[str]:
        """Return every token that is kept."""
        found = set[str]()
        for file in (self.folder / "tenants").glob("*.json"):
            for one in json.loads(file.read_text())["sign_ins"].values():
                kinds = json.loads(one["cache"])
                found |= {item["secret"] for kind in kinds.values() for item in kind.values() if "secret" in item}
        return found


def code_of(program: Program) -> str:
    """Wait for the code that a sign-in prints."""

    def found() -> str:
        match = re.search(r"^[A-Z]{9}$", program.printed(), re.MULTILINE)
        assert match, program.printed()
        return match[0]

    return eventually(found)


@pytest.fixture
def desk(shared_box: IdentityBox, signed_in: Tracks, tmp_path: Path) -> Iterator[Desk]:
    """Return a folder with settings, and nobody signed in."""
    (tmp_path / "orrery.toml").write_text(track_toml(shared_box.authority, tmp_path, shared_box.ca_file))
    found = Desk(shared_box, tmp_path, signed_in)
    yield found
    shared_box.undo()
    for secret in found.secrets():
        assert not any(secret in text for text in found.printed), "a token was printed"


def me(desk: Desk, account: str, *words: str) -> CompletedProcess[str]:
    """Ask the API whose token an account has."""
    return desk.run("request", "--account", account, *words, "GET", f"{desk.box.authority}/v1.0/me")


def test_an_account_signs_in_asks_and_signs_out(desk: Desk) -> None:
    """What the API is asked with is the named account's token, and the answer says whose it is."""
    assert desk.sign_in(ANN_A) == 0
    answer = json.loads(me(desk, ANN_A).stdout)
    assert (answer["track"], answer["account"], answer["status"]) == ("A", ANN_A, 200)
    assert answer["body"]["mail"] == ANN_A
    [who] = desk.json("whoami", "--account", "ann@corp.example", "--json")
    assert (who["track"], who["account"]) == ("A", ANN_A)
    assert desk.run("sign-out", "--account", ANN_A).stderr == "Signed out.\n"
    came = me(desk, ANN_A)
    assert (came.returncode, came.stdout) == (1, "")
    assert f"orrery tenants sign-in --account {ANN_A}" in came.stderr


def test_the_list_of_accounts(desk: Desk) -> None:
    """Each account with its track, and who is signed in."""
    desk.signed_in(ANN_B)
    found = {one["account"]: one for one in desk.json("accounts", "--json")}
    assert {name: one["track"] for name, one in found.items()} == {ANN_A: "A", BOB_A: "A", ANN_B: "B"}
    assert [name for name, one in found.items() if one["signed_in"]] == [ANN_B]


def test_a_file_that_others_may_read(desk: Desk) -> None:
    """The list goes on with the other track, says what to do, and ends with 1."""
    desk.signed_in(ANN_A, ANN_B)
    (desk.folder / "tenants" / "A.json").chmod(0o644)
    came = desk.run("accounts")
    assert came.returncode == 1
    assert "chmod 600" in came.stderr
    assert me(desk, ANN_A).returncode == 1
    assert me(desk, ANN_B).returncode == 0


def test_every_use_names_the_account(desk: Desk) -> None:
    """Without a name, with two, and with one that fits two accounts, the call is wrong."""
    for words in (["whoami"], ["sign-out"], ["sign-in"], ["request", "GET", f"{desk.box.authority}/v1.0/me"]):
        assert desk.run(*words).returncode == 2
        assert desk.run(*words, "--account", ANN_A, "--account", ANN_B).returncode == 2
        came = desk.run(*words, "--account", "ann")
        assert came.returncode == 2
        assert f"{ANN_A} ([track:A], Corporate), {ANN_B} ([track:B], Lab)" in came.stderr


def test_two_processes_sign_in_at_once(desk: Desk) -> None:
    """Both of one track are signed in afterwards, and the file is whole."""
    both = {name: desk.signing_in(name, name) for name in (ANN_A, BOB_A)}
    try:
        codes = {name: code_of(program) for name, program in both.items()}
        approvals = [threading.Thread(target=desk.box.approve, args=(codes[name], name)) for name in both]
        for one in approvals:
            one.start()
        for one in approvals:
            one.join()
        assert [program.process.wait(PATIENCE) for program in both.values()] == [0, 0]
    finally:
        for program in both.values():
            program.clear_away()
    assert [me(desk, name).returncode for name in both] == [0, 0]


def test_a_sign_in_that_is_killed(desk: Desk) -> None:
    """A kill while it waits keeps nothing, and the next one goes well."""
    program = desk.signing_in(ANN_A)
    _ = code_of(program)
    program.kill()
    assert not (desk.folder / "tenants").exists()
    assert desk.sign_in(ANN_A) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"part": "answer", "set": "id_token", "value": "x.y.z"},
        {"part": "answer", "set": "id_token", "value": 7},
        {"part": "answer", "set": "client_info", "value": "x"},
        {"part": "answer", "drop": "access_token"},
        {"part": "answer", "set": "expires_in", "value": "soon"},
        {"part": "answer", "set": "scope", "value": ["User.Read"]},
        {"part": "id", "set": "oid", "value": {}},
    ],
)
def test_an_answer_that_nobody_expects(desk: Desk, change: dict[str, object]) -> None:
    """One sentence and no trace of a crash, whatever comes; nothing is kept."""
    desk.box.pull("doctor", **change)
    assert desk.sign_in(ANN_A) == 1
    assert "Traceback" not in desk.printed[-1]
    assert not (desk.folder / "tenants").exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/v1.0/me",
        "http://localhost/v1.0/me",
        "{api}@elsewhere.example/v1.0/me",
        "{api}.elsewhere.example/v1.0/me",
        "https://elsewhere.example\\@localhost/",
        "https://ann:secret@localhost:{port}/v1.0/me",
        "/v1.0/me",
        "https://localhost:99999/",
        "{api}/v1.0/me\n",
        "{api}/v1.0/me#part",
        "{api}/v1.0/\u00e4",
        "{api}/v1.0\\me",
        "{api}/v1.0/me?q=" + "x" * 70_000,
    ],
)
def test_a_token_goes_to_the_api_only(desk: Desk, url: str) -> None:
    """Any other address is a wrong call, ahead of everything."""
    desk.signed_in(ANN_A)
    address = url.format(api=desk.box.authority, port=desk.box.authority.rpartition(":")[2])
    came = desk.run("request", "--account", ANN_A, "GET", address)
    assert (came.returncode, came.stdout, came.stderr.count("\n")) == (2, "", 1)


def test_an_answer_in_a_file(desk: Desk) -> None:
    """It is readable by its owner only, and carries its track; a destination of another track refuses it."""
    lab = desk.folder / "lab"
    lab.mkdir()
    with (desk.folder / "orrery.toml").open("a") as settings:
        settings.write(f'[[tenants.B.destinations]]\nname = "site"\nkind = "blog"\nfolder = "{lab}"\n')
    desk.signed_in(ANN_A)
    kept = desk.folder / "me.json"
    assert me(desk, ANN_A, "--output", str(kept)).returncode == 0
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_text())["track"] == "A"
    came = me(desk, ANN_A, "--output", str(lab / "me.json"))
    assert (came.returncode, [*lab.iterdir()]) == (1, [])
    assert "data of track A cannot go there" in came.stderr


@pytest.mark.parametrize("place", ["there", "missing/me.json"])
def test_a_place_that_cannot_be_written_is_refused_first(desk: Desk, place: str) -> None:
    """A folder, and a file in a folder that is missing: nothing is asked, and nothing is left."""
    desk.signed_in(ANN_A)
    (desk.folder / "there").mkdir()
    before, files = desk.box.requests, sorted(desk.folder.rglob("*"))
    came = me(desk, ANN_A, "--output", str(desk.folder / place))
    assert (came.returncode, came.stdout, desk.box.requests) == (2, "", before)
    assert sorted(desk.folder.rglob("*")) == files


@pytest.mark.parametrize("media_type", ["ä", "a\nb", "", "text", "text/plain "])
def test_a_media_type_is_one(desk: Desk, media_type: str) -> None:
    """Anything else is a wrong call, and nothing is asked."""
    desk.signed_in(ANN_A)
    before = desk.box.requests
    came = me(desk, ANN_A, "--media-type", media_type)
    assert (came.returncode, came.stderr) == (2, "The media type is not of the form type/subtype.\n")
    assert desk.box.requests == before


def test_what_is_sent_is_of_the_accounts_track(desk: Desk) -> None:
    """A body with the label of A cannot go to B's tenant: exit 1, and nothing is asked."""
    desk.signed_in(ANN_B)
    before = desk.box.requests
    came = desk.run(
        "request",
        "--account",
        ANN_B,
        "POST",
        f"{desk.box.authority}/v1.0/me",
        "--body",
        "-",
        given='{"track": "A"}',
    )
    assert (came.returncode, desk.box.requests) == (1, before)
    assert "The body has data of track A" in came.stderr


def test_certificates_that_are_not_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the machine that names a missing file is one sentence, and no trace of a crash."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(desk.folder / "missing.pem"))
    came = desk.run("sign-in", "--account", ANN_A)
    assert (came.returncode, came.stdout, came.stderr.count("\n")) == (1, "", 1)
    assert "REQUESTS_CA_BUNDLE" in came.stderr


def test_an_error_of_the_api(desk: Desk) -> None:
    """Its answer is printed with its track, and the command ends with 1."""
    desk.signed_in(ANN_A)
    came = desk.run("request", "--account", ANN_A, "GET", f"{desk.box.authority}/v1.0/nothing")
    assert came.returncode == 1
    assert json.loads(came.stdout)["track"] == "A"


def test_without_a_track(tmp_path: Path) -> None:
    """Settings without tracks are a wrong call that says what to add."""
    (tmp_path / "orrery.toml").write_text("")
    came = run_orrery("tenants", "whoami", "--account", "ann", "--config", str(tmp_path / "orrery.toml"))
    assert came.returncode == 2
    assert "[tenants.A]" in came.stderr


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('scopes = ["Mail.Send"]',), "can send"),
        (('scopes = ["Chat.ReadWrite"]',), "can send"),
        (('scopes = ["openid", "User.Read"]',), "leave out openid"),
        (('accounts = ["ann@corp.example"]',), "one track only"),
    ],
)
def test_settings_that_would_send_or_mix(desk: Desk, change: tuple[str], why: str) -> None:
    """Scopes that send, and an account of both tracks, stop every command."""
    config = Path(desk.config)
    text = config.read_text()
    before, _, _ = text.rpartition("accounts =")
    config.write_text("\n".join([before, *change]))
    came = desk.run("accounts")
    assert came.returncode == 2
    assert why in came.stderr
