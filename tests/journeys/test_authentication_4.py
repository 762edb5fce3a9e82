"""What of the tenant separation rule (spec 3, Authentication 4) takes several real commands to see."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery.tenants.errors import SignInRefused
from tests.support.identity import IdentityBox, identity
from tests.support.package_copy import ROOT
from tests.support.program import run_orrery
from tests.support.tracks import ANN_A, ANN_B, Tracks, track_toml


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """Return a running identity provider with both tenants."""
    with identity(tmp_path_factory.mktemp("identity")) as found:
        yield found


@pytest.fixture(scope="module")
def signed_in(box: IdentityBox, tmp_path_factory: pytest.TempPathFactory) -> Tracks:
    """Return the tracks of a folder where an account of each has signed in."""
    tracks = Tracks(box, tmp_path_factory.mktemp("signed-in"))
    for name in (ANN_A, ANN_B):
        tracks.sign_in(name)
    return tracks


@pytest.fixture
def folder(box: IdentityBox, signed_in: Tracks, tmp_path: Path) -> Iterator[Path]:
    """Return a folder with settings: a public place of each kind, and the accounts of both tracks signed in."""
    text = track_toml(box.authority, tmp_path, box.ca_file)
    for kind in ("repository", "blog", "shared-folder"):
        (tmp_path / kind / ".git").mkdir(parents=True)
        text += f'[[tenants.B.destinations]]\nname = "{kind}"\nkind = "{kind}"\nfolder = "{tmp_path / kind}"\n'
    text += '[[tenants.B.destinations]]\nname = "posts"\nkind = "social"\n'
    (tmp_path / "orrery.toml").write_text(text)
    signed_in.copy_sign_ins(tmp_path, ANN_A, ANN_B)
    yield tmp_path
    box.undo()


def tenants(folder: Path, *words: str, given: str = "") -> tuple[int, str, str]:
    """Run `orrery tenants <words>`."""
    split = 2 if words[0] in {"journal", "watch"} else 1
    config = ("--config", str(folder / "orrery.toml"))
    came = run_orrery("tenants", *words[:split], *config, *words[split:], given=given)
    return came.returncode, came.stdout, came.stderr


def test_work_data_access_is_delegated_only(box: IdentityBox, folder: Path) -> None:
    """Application-only sign-in is unsupported: a token of an application is refused, and none can be asked for."""
    box.pull("doctor", part="access", set="idtyp", value="app")
    for name in (ANN_A, ANN_B):
        with pytest.raises(SignInRefused, match="idtyp is not user"):
            Tracks(box, folder / "other").sign_in(name)
    sources = (path.read_text() for path in (ROOT / "src" / "orrery").rglob("*.py") if "sandbox" not in path.parts)
    forbidden = re.compile(r"ConfidentialClient|acquire_token_for_client|client_credentials")
    assert not [found for text in sources for found in forbidden.findall(text)]


@pytest.mark.parametrize("destination", ["repository", "blog", "posts", "shared-folder"])
def test_track_a_data_must_never_reach_a_public_place(folder: Path, destination: str) -> None:
    """No public repository, blog, social post or shared folder: what Orrery has of A cannot be published there."""
    kept = folder / "me.json"
    me = ("request", "--account", ANN_A, "GET", settings_api(folder))
    assert tenants(folder, *me, "--output", str(kept))[0] == 0
    before = places(folder)
    if destination == "posts":
        came = tenants(folder, "publish", "--stdin", destination, given=kept.read_text())
    else:
        came = tenants(folder, "publish", str(kept), destination)
        assert tenants(folder, *me, "--output", str(folder / destination / "me.json"))[0] == 1
    assert came[:2] == (1, "")
    assert "has the label of track A" in came[2]
    assert places(folder) == before


def settings_api(folder: Path) -> str:
    """Return an address of the API of the settings."""
    found = re.search(r'^api = "(.*)"$', (folder / "orrery.toml").read_text(), re.MULTILINE)
    assert found
    return f"{found[1]}/v1.0/me"


def places(folder: Path) -> list[str]:
    """Return every file in the public places."""
    kinds = ("repository", "blog", "shared-folder")
    return sorted(str(one) for kind in kinds for one in (folder / kind).rglob("*"))


def test_track_b_never_quotes_real_customers(folder: Path) -> None:
    """A name of the watch-list is published in no spelling; and nothing is without the list's key."""
    settings = folder / "orrery.toml"
    settings.write_text(f'{settings.read_text()}\n[secrets]\ndirectory = "secrets"\n[scan]\nwatch_list = "list"\n')
    assert tenants(folder, "watch", "new-key")[0] == 0
    assert tenants(folder, "watch", "add", "--kind", "customer", given="Fabrikam Museum\n")[0] == 0
    post = folder / "post.md"
    before = places(folder)
    (folder / "notes").mkdir()
    for name, text in (("named", "Thanks to our customer Fabrikam Museum."), ("linked", "see fabrikam-museum")):
        (folder / "notes" / f"{name}.md").write_text(text)
    code, printed, said = tenants(folder, "publish", str(folder / "notes"), "blog")
    assert (code, printed, places(folder)) == (1, "", before)
    assert "customer in notes/named.md" in said
    assert "customer in notes/linked.md" in said
    assert "abrikam" not in said
    assert tenants(folder, "publish", "--stdin", "posts", given="F&#97;brikam M\u200buseum")[:2] == (1, "")
    post.write_text("Nothing of anybody.")
    (folder / "secrets" / "watch_list_key").unlink()
    assert "cannot be opened" in tenants(folder, "publish", str(post), "blog")[2]
    assert places(folder) == before
