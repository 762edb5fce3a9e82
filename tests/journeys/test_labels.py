"""Whatever Orrery prints, answers or writes about a track says whose it is: the gate and a scan refuse all of it.

The commands and the routes are found, not listed: a new one is asked here, or said to carry no data of a track.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from orrery.app.composition import opened
from orrery.app.modules import MODULES
from orrery.app.settings.reader import load
from orrery.cockpit.rows import LEDGER_ACCOUNT
from orrery.edge.launch import Launch
from orrery.edge.local import local_app
from orrery.errors import TrackRefused
from orrery.runtime.module import Role
from orrery.runtime.parts import routes_of
from orrery.sandbox.identity.directory import TENANT_A
from orrery.syntax.track import HEADER, TRACKS, label, labelled, labels_in
from orrery.tenants.publishing import Publishing
from tests.support.cockpit import Answered, Cockpit, running_cockpit
from tests.support.commands import COMMANDS, commands
from tests.support.destinations import publishing_in
from tests.support.identity import identity
from tests.support.ports import free_ports
from tests.support.program import run_orrery
from tests.support.repositories import new_repo
from tests.support.scanners import WordScanner
from tests.support.tracks import ANN_A, BOB_A, Tracks, track_toml

MARK, ADDRESS = "quetzal", "bo@corp.example"
OF_TRACK_A = (MARK, ADDRESS, ANN_A, BOB_A, TENANT_A, "Sign the renewal")
"""Words that are in data of track A alone."""

TEXTS = {
    "words",
    "title",
    "subject",
    "preview",
    "text",
    "person",
    "sender",
    "from",
    "account",
    "webLink",
    "address",
}
"""The fields in which the words of an account's data are."""

RUN: Mapping[str, tuple[str, ...]] = {
    "orrery cockpit ledger list": (),
    "orrery cockpit privacy export": (ADDRESS,),
    "orrery cockpit doctor": (),
    "orrery tenants accounts": (),
    "orrery tenants whoami": ("--account", ANN_A),
    "orrery tenants request": ("--account", ANN_A, "GET", "{api}/v1.0/me"),
    "orrery tenants journal list": (),
    "orrery tenants doctor": (),
}
"""The commands that print data of a track, with what they need; each is run with each of its formats as well."""

INTO_A_FILE: Mapping[str, tuple[str, ...]] = {
    "orrery cockpit backup": ("{file}",),
    "orrery tenants request": (*RUN["orrery tenants request"], "--output", "{file}"),
}

FORMATS = {"--json", "--all"}
"""The options that change what is printed."""

OTHER_OPTIONS = {"--config", "--account", "--track", "--limit", "--body", "--media-type", "--output"}

Typed = tuple[tuple[str, ...], str, int]
"""The words behind a command, what it gets by standard input, and its exit code."""

WITHOUT_DATA: Mapping[str, Typed] = {
    "orrery cockpit store create": ((), "", 0),
    "orrery cockpit ledger add": ((f"{MARK} Call {ADDRESS}", "--from", ADDRESS, "--track", "A"), "", 0),
    "orrery cockpit ledger import": (("-",), f'{{"track": "A", "title": "{MARK}", "person": "{ADDRESS}"}}', 0),
    "orrery cockpit ledger dismiss": (("{item}",), "", 0),
    "orrery cockpit ledger undo": (("{item}",), "", 0),
    "orrery tenants journal add": ((f"{MARK} Called {ADDRESS}", "--track", "A", "--account", ANN_A), "", 0),
    "orrery tenants sign-out": (("--account", ANN_A), "", 0),
    "orrery tenants watch new-key": ((), "", 0),
    "orrery tenants watch add": (("--kind", "customer"), MARK, 0),
    "orrery tenants watch import": (("-",), f"person\t{ADDRESS}", 0),
    "orrery tenants watch list": ((), "", 0),
    "orrery tenants watch remove": ((), ADDRESS, 0),
    "orrery tenants watch show": (("--fingerprint", "0" * 12), "", 2),
    "orrery tenants canary new": ((), "", 0),
    "orrery tenants hooks": (("install", "{repository}"), "", 0),
    "orrery tenants scan": (("{folder}",), "", 1),
    "orrery tenants publish": (("{folder}/internal.txt", "blog"), "", 1),
    "orrery cockpit restore": (("{backup}",), "", 0),
    "orrery cockpit privacy erase": ((ADDRESS, "--reason", "asked"), "", 0),
}
"""The commands that print no words of an account, in an order in which each has data of track A to print."""

NOT_RUN = {
    "orrery cockpit": "it serves; what it prints is looked at by itself",
    "orrery tenants sign-in": "it prints a code for the person",
    "orrery tenants run": "the tool prints, in Orrery's place; ahead of it stands the account with its label",
    "orrery tenants watch": "a group",
    "orrery tenants canary": "a group",
}
"""The other commands, and why."""

ROUTES_WITHOUT_DATA = {
    "GET /": "the page holds no data",
    "GET /static/{name}": "the same",
    "POST /api/session": "the token of a tab",
    "GET /docs": "the reference",
    "GET /openapi.json": "the same",
}

Outputs = dict[str, bytes]


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracks]:
    """Return both tracks, each with a mailbox, an item and a journal entry; an account of A is signed in."""
    folder = tmp_path_factory.mktemp("labels")
    with identity(folder) as box:
        mailbox = (
            '[[cockpit.mailboxes]]\nkind = "sample"\naccount = "cy@{0}.example"\ntrack = "{0}"\nfolder = "{0}"\n'
        )
        mailboxes = "".join(mailbox.format(track) for track in TRACKS)
        waiting = f'[[cockpit.mailboxes]]\nkind = "microsoft"\naccount = "{BOB_A}"\n'
        (folder / "orrery.toml").write_text(
            track_toml(box.authority, folder, box.ca_file).replace(
                "[cockpit]", f"[cockpit]\nport = {free_ports(1)[0]}"
            )
            + mailboxes
            + waiting
        )
        found = Tracks(box, folder)
        found.sign_in(ANN_A)
        told = _run(folder, "cockpit", "store", "create")
        for track in TRACKS:
            words, person = (f"{MARK} Call {ADDRESS}", ADDRESS) if track == "A" else ("Call the lab", "Dee")
            told += _run(folder, "cockpit", "ledger", "add", words, "--from", person, "--track", track)
            told += _run(folder, "tenants", "journal", "add", words, "--track", track)
        assert [*_parts(told.splitlines())] == []
        yield found


@pytest.fixture(scope="module")
def cockpit(tracks: Tracks) -> Iterator[Cockpit]:
    """Return a running cockpit."""
    with running_cockpit(tracks.folder, "--config", str(tracks.folder / "orrery.toml")) as found:
        yield found


@pytest.fixture(scope="module")
def printed(tracks: Tracks) -> Outputs:
    """Return what each command prints in each of its formats, and what it writes into files."""
    found = Outputs()
    for name, words in RUN.items():
        options = {option for one in commands()[name] for option in one.names if option.startswith("--")}
        assert options <= FORMATS | OTHER_OPTIONS, f"{name} has an option that is no format and nothing else"
        for chosen in ((), *((one,) for one in sorted(options & FORMATS))):
            given = [one.format(api=tracks.box.authority) for one in words]
            found[" ".join([name, *chosen])] = _run(tracks.folder, *name.split()[1:], *chosen, *given).encode()
    for name, words in INTO_A_FILE.items():
        file = tracks.folder / f"{name.replace(' ', '-')}.out"
        given = [one.format(api=tracks.box.authority, file=file) for one in words]
        assert _run(tracks.folder, *name.split()[1:], *given) == ""
        found[f"{name}, its file"] = file.read_bytes()
    found["the store"] = (tracks.folder / "cockpit.db").read_bytes()
    found["the sign-ins"] = (tracks.folder / "tenants" / "A.json").read_bytes()
    return found


@pytest.fixture(scope="module")
def answered(cockpit: Cockpit, tracks: Tracks) -> dict[str, Answered]:
    """Return the answer of each route about track A, as its method and path have it."""
    row = cockpit.row(source="mail", track="A", replyable=True)
    item = cockpit.row(source="action-hub", track="A")
    comment = f"Yes.\n{label('A')} Copied from a table."
    found = {
        "GET /api/comms/rows": cockpit.ask("GET", "/api/comms/rows"),
        "GET /api/comms/message-body": cockpit.ask("GET", f"/api/comms/message-body?messageId={row['id']}"),
        "GET /api/comms/message-head": cockpit.ask("GET", f"/api/comms/message-head?messageId={row['id']}"),
        "POST /api/comms/draft-reply": cockpit.ask(
            "POST", "/api/comms/draft-reply", {"rowId": row["id"], "comment": comment}
        ),
        "POST /api/comms/add-to-tasks": cockpit.ask("POST", "/api/comms/add-to-tasks", {"rowId": row["id"]}),
        "POST /api/comms/set-aside": cockpit.ask(
            "POST", "/api/comms/set-aside", {"rowId": row["id"], "action": "undo"}
        ),
        "POST /api/comms/sign-in": cockpit.ask("POST", "/api/comms/sign-in", {"account": BOB_A}),
        "POST /api/action-hub/action": cockpit.ask(
            "POST", "/api/action-hub/action", {"rowId": item["id"], "action": "dismiss"}
        ),
        "GET /api/health": cockpit.ask("GET", "/api/health"),
    }
    _ = cockpit.ask("POST", "/api/action-hub/action", {"rowId": item["id"], "action": "undo"})
    # Until it has ended, the cockpit would not.
    tracks.box.deliver(found["POST /api/comms/sign-in"].json()["address"], BOB_A)
    return found


@pytest.fixture(scope="module")
def drafts(answered: dict[str, Answered], tracks: Tracks) -> Mapping[str, bytes]:
    """Return the files of the drafts in track A's mailbox."""
    assert answered
    return {f"the draft {file.name}": file.read_bytes() for file in (tracks.folder / "A").glob("*.json")}


@pytest.fixture(scope="module")
def everything(printed: Outputs, answered: dict[str, Answered], drafts: Mapping[str, bytes]) -> Outputs:
    """Return all that may be copied, and of what is a table each line and each half that has data of track A."""
    whole = printed | {name: answer.text.encode() for name, answer in answered.items()} | dict(drafts)
    return whole | {
        f"{name}, {part}": content
        for name, text in printed.items()
        if not text.lstrip().startswith((b"{", b"[\n", b"SQLite"))
        for part, content in _parts(text.decode().splitlines())
    }


def test_everything_is_refused_by_the_gate(everything: Outputs, tmp_path: Path) -> None:
    """`tenants publish` takes none of it, whole or in part, by its label alone."""
    publishing = publishing_in(tmp_path, WordScanner())
    assert [name for name, content in everything.items() if not _is_refused(publishing, content)] == []


def test_everything_is_found_by_a_scan(everything: Outputs, tmp_path: Path) -> None:
    """Each file has a finding of its label."""
    files = {f"{number}.txt": name for number, name in enumerate(everything)}
    for file, name in files.items():
        (tmp_path / file).write_bytes(everything[name])
    told = run_orrery("tenants", "scan", str(tmp_path), "--json")
    found = [json.loads(line) for line in told.stdout.splitlines()]
    places = [one["place"] for one in found if one.get("kind") == "track-label"]
    assert [name for file, name in files.items() if not any(file in place for place in places)] == []


def test_each_object_has_its_label(printed: Outputs, answered: dict[str, Answered]) -> None:
    """In JSON, each object with words of an account has its track, however deep; all else has the header."""
    documents = {name: text.decode() for name, text in printed.items() if text.lstrip().startswith((b"{", b"[\n"))}
    for name, answer in answered.items():
        assert answer.status == 200, (name, answer.text)
        if answer.headers["content-type"] == "application/json":
            documents[name] = answer.text
        else:
            assert answer.headers[HEADER.lower()] == answer.text.splitlines()[0] == label("A")
    found = {name: [*_unlabelled(json.loads(text))] for name, text in documents.items()}
    assert {name: objects for name, objects in found.items() if objects} == {}


def test_the_other_commands_print_no_data(tracks: Tracks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the list runs on data of track A, and prints none of its words without their label."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ORRERY_CONFIG", str(tmp_path / "orrery.toml"))
    places = _places(tmp_path)
    _write_settings(tracks, tmp_path, places["blog"])
    Tracks(tracks.box, tmp_path).sign_in(ANN_A)
    unlabelled: dict[str, list[bytes]] = {}
    for name, (words, given, code) in WITHOUT_DATA.items():
        typed = [*name.split()[1:], *(one.format_map(places) for one in words)]
        told = run_orrery(*typed, given=given)
        assert told.returncode == code, (name, told.stdout, told.stderr)
        printed = _parts([*told.stdout.splitlines(), *told.stderr.splitlines()])
        unlabelled[name] = [part for _, part in printed if "A" not in labels_in(part)]
        if name == "orrery cockpit ledger add":
            places["item"] = told.stdout.strip()
            _ = _run(tmp_path, "cockpit", "backup", places["backup"])
    assert {name: parts for name, parts in unlabelled.items() if parts} == {}


def test_a_cockpit_prints_no_data(cockpit: Cockpit) -> None:
    """Its terminal has the link, and no words of an account."""
    assert [*_parts(cockpit.program.printed().splitlines())] == []


def test_an_unlabelled_object_is_found() -> None:
    """The look does find what has no label, however deep; so does the look at the parts of a table."""
    assert [*_unlabelled({"rows": [{"title": "A secret"}]})] == [{"title": "A secret"}]
    assert dict(_parts(["track", f"x {MARK}"])) == {"line 2": f"x {MARK}".encode(), "half 2": f"x {MARK}".encode()}


def test_a_draft_is_without_a_label_for_its_recipient(drafts: Mapping[str, bytes]) -> None:
    """The file of the draft says whose it is; what is sent of it does not, whatever was copied into it."""
    [draft] = [json.loads(content) for content in drafts.values()]
    assert (draft["track"], "Copied from a table." in draft["text"]) == ("A", True)
    sent = {name: text for name, text in draft.items() if name not in {"track", "key"}}
    assert labels_in(json.dumps(sent).encode()) == frozenset()


def test_every_command_is_known() -> None:
    """A command of a process that loads the settings of a track is run here, or said to carry none of its data.

    Those of other processes cannot: they know neither its accounts nor its store (decision 40).
    """
    knows_tracks = {
        role
        for module in MODULES
        for section in module.sections
        if section.name in {"cockpit", "tenants"}
        for role in section.roles
    }
    assert knows_tracks == {"cockpit", "scan"}
    named = {name for name in commands() if _role(name) in knows_tracks}
    assert named == {*RUN, *INTO_A_FILE, *WITHOUT_DATA, *NOT_RUN}
    assert not {*RUN, *INTO_A_FILE} & {*WITHOUT_DATA, *NOT_RUN}


def test_every_route_is_known(tracks: Tracks, answered: dict[str, Answered]) -> None:
    """Each route of the cockpit is asked here, or said to carry no data; the console's modules know no track."""
    assert asyncio.run(_routes(tracks.folder / "orrery.toml")) == {*answered, *ROUTES_WITHOUT_DATA}
    of_the_site = [module for module in MODULES if "site" in module.roles]
    assert not [one.name for one in of_the_site if {"cockpit", "tenants"} & {*one.reads, *one.needs}]


def _places(root: Path) -> dict[str, str]:
    """Make a folder of track A's, the one of a destination, and a repository; return the names of the places."""
    places = {name: str(root / name) for name in ("folder", "blog", "repository", "backup")}
    for name in ("folder", "blog", "secrets"):
        (root / name).mkdir(mode=0o700)
    (root / "folder/internal.txt").write_text(labelled(f"{MARK} {ADDRESS}", "A"))
    _ = new_repo(root / "repository")
    return places


def _write_settings(tracks: Tracks, folder: Path, blog: str) -> None:
    """Write settings with both tracks, a destination, and a place for a watch-list and its key."""
    (folder / "orrery.toml").write_text(
        track_toml(tracks.box.authority, folder, tracks.box.ca_file)
        + f'[[tenants.B.destinations]]\nname = "blog"\nkind = "blog"\nfolder = "{blog}"\n'
        + f'[secrets]\ndirectory = "{folder / "secrets"}"\n[scan]\nwatch_list = "{folder / "watch-list"}"\n'
    )


def _is_refused(publishing: Publishing, content: bytes) -> bool:
    try:
        _ = publishing.publish_text(content, "blog/copy.txt")
    except TrackRefused as error:
        return "has the label of track A" in str(error)
    return False


async def _routes(config: Path) -> set[str]:
    """Return the routes of the cockpit's app."""
    async with opened(*load(config, "cockpit")) as orrery:
        routes = routes_of(orrery.modules)
        app = cast("FastAPI", local_app("Orrery cockpit", routes, "host", orrery[Launch]))
        routers = [router for one in routes for router in one.public]
        found = [route for one in (app, *routers) for route in one.routes if isinstance(route, APIRoute)]
    return {f"{method} {one.path}" for one in found for method in one.methods or ()}


def _role(name: str) -> Role:
    """Return the role of a command: that of the longest words that it begins with."""
    fitting = [one for one in COMMANDS if f"{name} ".startswith(f"orrery {one.name} ")]
    return max(fitting, key=lambda one: len(one.name)).role


def _run(folder: Path, *words: str) -> str:
    """Run a command; return what it prints. Whatever is broken here, the doctors say whose it is."""
    told = run_orrery(*words, "--config", str(folder / "orrery.toml"))
    assert told.returncode in ((0, 1) if "doctor" in words else (0,)), (words, told.stderr)
    assert all("A" in labels_in(part) for _, part in _parts(told.stderr.splitlines())), (words, told.stderr)
    return told.stdout


def _parts(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the lines and the halves of a table that have data of track A."""
    middle = len(lines) // 2
    parts = {f"line {number}": line for number, line in enumerate(lines, start=1)}
    parts |= {"half 1": "\n".join(lines[:middle]), "half 2": "\n".join(lines[middle:])}
    for name, part in parts.items():
        if any(word in part for word in OF_TRACK_A):
            yield name, part.encode()


def _unlabelled(document: object) -> Iterator[dict[str, Any]]:
    """Yield each object with words of an account in it that does not say whose they are."""
    match document:
        case list():
            for one in cast("list[object]", document):
                yield from _unlabelled(one)
        case dict():
            found = cast("dict[str, Any]", document)
            if (
                TEXTS & found.keys()
                and found.get("track") not in TRACKS
                and found.get("account") != LEDGER_ACCOUNT
            ):
                yield found
            for one in found.values():
                yield from _unlabelled(one)
        case _:
            pass
