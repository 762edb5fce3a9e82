"""The reference names everything that there is, and nothing else."""

import ast
import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from orrery.adapters.sqlite import create
from orrery.app.composition import opened
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import Secrets, settings_from
from orrery.app.settings.sections import file_model, sections_of
from orrery.app.settings.variables import secret_names
from orrery.checkout.settings import ProductSettings, SiteSettings
from orrery.cockpit.settings import (
    ImapMailboxSettings,
    MailboxSettings,
    MicrosoftMailboxSettings,
    SampleMailboxSettings,
    ToDoSettings,
)
from orrery.edge.launch import Launch
from orrery.edge.local import local_app
from orrery.live.settings import PageSettings
from orrery.runtime.parts import routes_of
from orrery.runtime.settings import StoreSettings
from orrery.sandbox.faults import KINDS as FAULTS
from orrery.tenants.settings import Destination, ToolSettings, TrackSettings
from tests.architecture.test_records import RECORDS as STORED
from tests.docs.documents import LINK, ROOT
from tests.docs.tables import REFERENCE, code, names, rows, sections
from tests.support.commands import Parameter, commands
from tests.support.errors import kinds_of_errors
from tests.support.former_names import documented
from tests.support.modules import folders
from tests.support.reading import KINDS
from tests.support.tables import each_case

SETTINGS = sections("settings.md")
COMMANDS = sections("commands.md")
OPERATIONS = sections("operations.md")
RECORDS = sections("events-and-records.md")

TABLES = sections_of("site") | sections_of("cloud") | sections_of("cockpit") | sections_of("scan")
MAILBOXES: dict[str, type[BaseModel]] = {
    "[[cockpit.mailboxes]]": MailboxSettings,
    "A mailbox of kind sample": SampleMailboxSettings,
    "A mailbox of kind microsoft": MicrosoftMailboxSettings,
    "A mailbox of kind imap": ImapMailboxSettings,
}
"""Each kind of mailbox has a section with its own keys; those that all have stand above."""

PROBLEM = re.compile(r'(?:Problem\(\s*|Error, |errors\.\w+, )(?P<status>\d{3}), "(?P<tag>[a-z-]+)"')


async def figures(folder: Path) -> set[str]:
    """Return the name of each figure that a module brings, as `/metrics` writes it."""
    settings = settings_from({}, folder)
    create(settings[StoreSettings].path)
    async with opened(settings, Secrets()) as orrery:
        return {f"{figure.name}_total" for parts in orrery.modules for figure in parts.figures}


async def openapi(folder: Path) -> dict[str, Any]:
    """Return the description of the public operations, as the private listener gives it."""
    settings = settings_from({}, folder)
    create(settings[StoreSettings].path)
    async with opened(settings, Secrets()) as orrery:
        _, private = apps_of(orrery)
        transport = httpx2.ASGITransport(app=private)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/openapi.json")).raise_for_status().json()


async def cockpit_openapi(folder: Path) -> dict[str, Any]:
    """Return the description of the cockpit's operations, as its own process gives it."""
    settings, host = settings_from({}, folder, "cockpit"), "cockpit.localhost"
    create(settings.store.store_file)
    async with opened(settings, Secrets(role="cockpit")) as orrery:
        app = local_app("Cockpit", routes_of(orrery.modules), host, orrery[Launch])
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return (await client.get("/openapi.json")).raise_for_status().json()


def described(document: dict[str, Any]) -> dict[str, set[str]]:
    """Return the statuses of each operation, by method and path."""
    return {
        f"{method.upper()} {path}": set(operation["responses"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def documented_problems() -> set[tuple[str, str]]:
    """Return every pair of status and tag that the operations' page names."""
    return {
        (code(row[0])[0], tag)
        for section in OPERATIONS.values()
        for row in rows(section)
        if re.fullmatch(r"`\d{3}`", row[0]) and len(row) == 3
        for tag in code(row[1])
    }


def raised_problems() -> set[tuple[str, str]]:
    """Return every pair of status and tag in the product's source."""
    rooms = [ROOT / "src/orrery" / room for room in ("edge", *folders())]
    sources = [path.read_text() for room in rooms for path in room.glob("*.py")]
    found = {(match["status"], match["tag"]) for text in sources for match in PROBLEM.finditer(text)}
    found |= {(str(kind.http_status), kind.tag) for kind in kinds_of_errors()}
    return found | {("404", "not-found"), ("405", "method-not-allowed")}


def test_every_command_is_documented() -> None:
    """The commands' page has a section for each command and for no other."""
    assert {title for title in COMMANDS if title.startswith("orrery ")} == set(commands())


@each_case("command", commands())
def test_every_option_is_documented(command: str) -> None:
    """A command's section names each of its options and arguments, and no other."""
    expected = {name for parameter in commands()[command] for name in parameter.names}
    assert names(COMMANDS[command]) == expected


@each_case("command", commands())
def test_the_defaults_of_options_are_documented(command: str) -> None:
    """A command's section tells the default of each option, or that it is required."""
    told = {code(row[0])[0]: row[1].replace("`", "") for row in rows(COMMANDS[command])}
    assert told == {parameter.names[0]: _default(parameter) for parameter in commands()[command]}


def _default(parameter: Parameter) -> str:
    return "required" if parameter.required else parameter.default


INNER: dict[str, type[BaseModel]] = {
    "cockpit.to_do": ToDoSettings,
    "tenants.A": TrackSettings,
    "[tenants.A.destinations]": Destination,
    "tenants.tool": ToolSettings,
}
"""The tables inside a section."""


def test_every_section_of_the_settings_is_documented() -> None:
    """The settings' page has a section for each table of the file, the products and the secrets."""
    named = {title.removeprefix("[").removesuffix("]") for title in SETTINGS if title.startswith("[")}
    assert named == {*TABLES} - {"sites"} | {
        "[sites]",
        "[checkout.products]",
        "[live.pages]",
        "[cockpit.mailboxes]",
        *INNER,
    }


@each_case(
    ("title", "model"),
    [
        *((f"[{name}]", model) for name, model in TABLES.items() if name != "sites"),
        ("[[sites]]", SiteSettings),
        ("[[checkout.products]]", ProductSettings),
        ("[[live.pages]]", PageSettings),
        *((title, model) for title, model in MAILBOXES.items()),
        *((f"[{name}]", model) for name, model in INNER.items()),
    ],
)
def test_every_setting_is_documented(title: str, model: type[BaseModel]) -> None:
    """A section names each key of its table, and no other."""
    own = set(model.model_fields) - {"products", "pages", "tool", "to_do"}
    if issubclass(model, MailboxSettings) and model is not MailboxSettings:
        own -= set(MailboxSettings.model_fields)
    assert names(SETTINGS[title]) == own


def test_every_secret_is_documented() -> None:
    """The section about the secret files names each secret, and no other."""
    assert names(SETTINGS["Secret files"]) == set(secret_names())


def test_every_former_name_is_documented() -> None:
    """The table of former names has a row for each declaration, and no other."""
    assert {tuple(cell.strip("`") for cell in row) for row in rows(SETTINGS["Former names"])} == documented()


@each_case(
    ("title", "model"),
    [
        *((f"[{name}]", model) for name, model in TABLES.items() if name != "sites"),
        ("[[sites]]", SiteSettings),
        ("[[checkout.products]]", ProductSettings),
        ("[[live.pages]]", PageSettings),
        *((title, model) for title, model in MAILBOXES.items()),
        *((f"[{name}]", model) for name, model in INNER.items()),
    ],
)
def test_the_defaults_of_settings_are_documented(title: str, model: type[BaseModel]) -> None:
    """Each default on the settings' page is the key's own; a key without one has an empty cell or is required."""
    for key, default in ((code(row[0])[0], row[1]) for row in rows(SETTINGS[title])):
        field = model.model_fields[key]
        assert _read(default) == (PydanticUndefined if field.is_required() else _plain(field.default)), key


def _read(cell: str) -> object:
    if cell == "required":
        return PydanticUndefined
    return tomllib.loads(f"value = {cell.strip('`')}")["value"] if cell else None


def _plain(default: object) -> object:
    if isinstance(default, tuple):
        return list(default)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  any tuple
    return default if isinstance(default, (str, int, bool, dict, type(None))) else str(default)  # pyright: ignore[reportUnknownVariableType]  any dictionary


def test_the_top_of_the_settings_is_documented() -> None:
    """The keys outside all tables are documented, and they are all."""
    assert names(SETTINGS["The top of the file"]) == set(file_model("site").model_fields) - set(TABLES)


def test_every_operation_and_status_is_documented(tmp_path: Path) -> None:
    """Each public operation of the OpenAPI document has a section with exactly its statuses."""
    told = {
        title: {name for name in names(section) if name.isdecimal()}
        for title, section in OPERATIONS.items()
        if title.split()[0] in {"GET", "POST"}
    }
    operations = asyncio.run(openapi(tmp_path)), asyncio.run(cockpit_openapi(tmp_path))
    assert told == described(operations[0]) | described(operations[1])


def test_every_figure_is_documented(tmp_path: Path) -> None:
    """The operations' page names the figures of `/metrics`, and no other."""
    told = set(re.findall(r"orrery_\w+", (REFERENCE / "operations.md").read_text()))
    own = {"orrery_http_requests_total", "orrery_http_request_seconds", "orrery_notifications", "orrery_problems"}
    assert told - {"orrery_sandbox"} == own | asyncio.run(figures(tmp_path))


def test_every_error_tag_is_documented() -> None:
    """Each status with its tag that the source can answer stands on the operations' page, and no other."""
    assert documented_problems() == raised_problems()


GENERAL = {
    "Events",
    "An event that cannot be read",
    "Keys",
    "Records of other versions",
    "References",
    "A record that cannot be read",
}
"""The sections of the page of records that describe none of them."""

DOCUMENTED = {title: {code(row[0])[0] for row in rows(RECORDS[title])} for title in RECORDS.keys() - GENERAL}
"""The fields that each section about a record names."""


def nearest(fields: set[str]) -> set[str]:
    """Return the fields of the section that has most in common with these."""
    return max(DOCUMENTED.values(), key=lambda told: len(told & fields) - len(told ^ fields))


@each_case("prefix", sorted(KINDS))
def test_every_field_of_a_record_is_documented(prefix: str) -> None:
    """The section about a record that is stored names each of its fields, and no other."""
    for kind in KINDS[prefix]:
        assert nearest(set(kind.model_fields)) == set(kind.model_fields), kind


@each_case("title", sorted(DOCUMENTED))
def test_every_section_is_about_a_record(title: str) -> None:
    """The fields that a section names are those of one record: it is renamed or removed with it."""
    assert DOCUMENTED[title] in [set(kind.model_fields) for kind in STORED.values()]


def test_every_fault_is_documented() -> None:
    """The sandbox's page names each fault switch, and no other."""
    assert names(sections("sandbox.md")["Faults"]) - {"kind", "count", "path", "value", "skip"} == set(FAULTS)


def push_titles() -> Iterator[str]:
    """Yield how each push that the source enqueues begins: up to what differs in its title."""
    places = {"OutboxDraft": 2, "push": 1, "alarm": 1}
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (name := getattr(node.func, "id", getattr(node.func, "attr", ""))):
                given = [one.value for one in node.keywords if one.arg == "title"]
                given += node.args[places[name] : places[name] + 1] if name in places else []
                for title in given if name in places else []:
                    for one in [title.body, title.orelse] if isinstance(title, ast.IfExp) else [title]:
                        first = one.values[0] if isinstance(one, ast.JoinedStr) else one
                        if isinstance(first, ast.Constant) and isinstance(first.value, str):
                            yield first.value


def test_every_push_is_documented() -> None:
    """The page of pushes has each title, as far as it is the same each time."""
    titles = sorted({*push_titles()})
    assert len(titles) > 10
    page = (REFERENCE / "pushes.md").read_text(encoding="utf-8")
    assert [title for title in titles if f"`{title}" not in page] == []


def test_the_index_leads_to_every_page() -> None:
    """Each page is linked from the index of the documentation, each decision once from the index of decisions."""
    docs = REFERENCE.parent
    decisions, index = docs / "decisions/README.md", (docs / "index.md").read_text()
    records = Counter(path.name for path in decisions.parent.glob("0*.md"))
    pages = {*docs.glob("*/*.md")} - {decisions.with_name(name) for name in records}
    assert [page for page in pages if f"]({page.relative_to(docs)})" not in index] == []
    assert Counter(LINK.findall(decisions.read_text())) == records
