"""Whatever the cockpit says as JSON about an account's data has the label of its track."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from orrery.syntax.track import TRACKS, labels_in
from tests.support.cockpit import Cockpit, running_cockpit
from tests.support.ports import free_ports
from tests.support.program import run_orrery

TEXTS = {"title", "subject", "preview", "text", "person", "sender", "from"}
"""The fields in which the words of an account's data are."""

ADDRESS = "bo@corp.example"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return settings with a mailbox of each track, and a store with an item of each."""
    folder = tmp_path_factory.mktemp("labels")
    file = folder / "orrery.toml"
    mailbox = (
        '[[cockpit.mailboxes]]\nkind = "sample"\naccount = "ann@{0}.example"\ntrack = "{0}"\nfolder = "{0}"\n'
    )
    (port,) = free_ports(1)
    file.write_text(f"[cockpit]\nport = {port}\n" + "".join(mailbox.format(track) for track in TRACKS))
    assert run_orrery("cockpit", "store", "create", "--config", str(file)).returncode == 0
    for track in TRACKS:
        item = ("cockpit", "ledger", "add", "Call Bo", "--from", ADDRESS)
        entry = ("tenants", "journal", "add", f"Called {ADDRESS}")
        for words in (item, entry):
            assert run_orrery(*words, "--track", track, "--config", str(file)).returncode == 0
    return file


@pytest.fixture(scope="module")
def cockpit(settings: Path) -> Iterator[Cockpit]:
    """Return a running cockpit."""
    with running_cockpit(settings.parent, "--config", str(settings)) as found:
        yield found


def unlabelled(document: object) -> Iterator[dict[str, Any]]:
    """Yield each object with words of an account in it that does not say whose they are."""
    match document:
        case list():
            for one in cast("list[object]", document):
                yield from unlabelled(one)
        case dict():
            found = cast("dict[str, Any]", document)
            if TEXTS & found.keys() and found.get("track") not in TRACKS:
                yield found
            for one in found.values():
                yield from unlabelled(one)
        case _:
            pass


def see(text: str) -> None:
    """See that a text of JSON is about accounts, and labelled wherever their words are."""
    assert labels_in(text.encode())
    assert [*unlabelled(json.loads(text))] == []


def test_an_unlabelled_object_is_found() -> None:
    """The look does find what has no label, however deep."""
    assert [*unlabelled({"rows": [{"title": "A secret"}]})] == [{"title": "A secret"}]


def test_rows_have_the_label(cockpit: Cockpit) -> None:
    """Each row of the list, from mailboxes and from the action ledger."""
    answer = cockpit.ask("GET", "/api/comms/rows")
    see(answer.text)
    assert {one["track"] for one in answer.json()["rows"]} == {*TRACKS}


@pytest.mark.parametrize("track", TRACKS)
def test_a_task_has_the_label(cockpit: Cockpit, track: str) -> None:
    """The answer that repeats the title of a row says whose it is."""
    row = cockpit.row(source="mail", track=track)
    answer = cockpit.ask("POST", "/api/comms/add-to-tasks", {"rowId": row["id"]})
    see(answer.text)
    assert answer.json()["track"] == track


@pytest.mark.parametrize("track", TRACKS)
def test_a_draft_has_the_label(cockpit: Cockpit, settings: Path, track: str) -> None:
    """The file of a draft says whose it is."""
    row = cockpit.row(source="mail", track=track, replyable=True)
    draft = cockpit.ask("POST", "/api/comms/draft-reply", {"rowId": row["id"]}).json()
    see((settings.parent / track / f"{draft['id']}.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "words",
    [
        ("cockpit", "ledger", "list", "--all", "--json"),
        ("cockpit", "privacy", "export", ADDRESS),
        ("tenants", "journal", "list", "--json"),
    ],
)
def test_a_command_prints_the_label(settings: Path, words: tuple[str, ...]) -> None:
    """The action ledger, what is kept about a person, and the journal."""
    told = run_orrery(*words, "--config", str(settings))
    assert (told.returncode, labels_in(told.stdout.encode())) == (0, {*TRACKS})
    see(told.stdout)
