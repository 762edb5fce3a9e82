"""`orrery cockpit` as a real process, and a client that asks it as its page does."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.ports import free_ports
from tests.support.program import Program
from tests.support.waiting import PATIENCE, eventually

PORT_VARIABLE = "ORRERY_COCKPIT__PORT"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of the cockpit."""

    status: int
    text: str
    headers: dict[str, str]

    def json(self) -> Any:  # noqa: ANN401  each test knows what it asked for
        """Return its body."""
        return json.loads(self.text)


class Client:
    """Asks a cockpit as its page does."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.host = f"cockpit.localhost:{port}"
        self.token = ""

    def enter(self, code: str) -> None:
        """Exchange the code of a link for the token."""
        self.token = self.ask("POST", "/api/session", {"code": code}).json()["token"]

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """Ask as the page does, unless `headers` say otherwise (`Sec_Fetch_Site` is `Sec-Fetch-Site`)."""
        given = {"Host": self.host, "Authorization": f"Bearer {self.token}", "Sec-Fetch-Site": "same-origin"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            given["Content-Type"] = given.get("Content-Type", "application/json")
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            sent = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
            connection.request(method, path, sent, given)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answered(answer.status, answer.read().decode(), named)
        finally:
            connection.close()

    def listed(self) -> dict[str, Any]:
        """Return the whole list."""
        return self.ask("GET", "/api/comms/rows").json()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return self.listed()["rows"]

    def row(self, **wanted: object) -> dict[str, Any]:
        """Return the first row with these values."""
        return next(one for one in self.rows() if wanted.items() <= one.items())


class Cockpit(Client):
    """A running cockpit. It opens no browser, but for the one that `browser` names."""

    def __init__(self, folder: Path, *arguments: str, port: int | None = None, browser: str = "") -> None:
        super().__init__(port or free_ports(1)[0])
        printed = folder / f"printed-{len([*folder.glob('printed-*')])}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(PORT_VARIABLE, str(self.port))
            patch.setenv("BROWSER", browser)
            quiet = [] if browser else ["--no-browser"]
            self.program = Program(["cockpit", *quiet, *arguments], printed)

    def wait(self) -> "Cockpit":
        """Return once it has printed its link."""
        eventually(self._printed_a_link)
        return self

    def begin(self) -> "Cockpit":
        """Exchange the code of its link for the token, and return once every mailbox was read."""
        self.enter(self.wait().code)
        eventually(self._is_read)
        return self

    @property
    def code(self) -> str:
        """The code of the newest link."""
        return code_in(self.program.printed())

    @property
    def link(self) -> str:
        """The newest link."""
        return f"http://{self.host}/#code={self.code}"

    def _printed_a_link(self) -> None:
        self.program.require_alive()
        assert "#code=" in self.program.printed()

    def _is_read(self) -> None:
        assert all(one["state"] != "loading" for one in self.listed()["mailboxes"])


def code_in(printed: str) -> str:
    """Return the code of the newest link in what a cockpit has printed."""
    return re.findall(r"#code=(\S+)", printed)[-1]


@contextmanager
def running_cockpit(folder: Path, *arguments: str, port: int | None = None) -> Generator[Cockpit]:
    """Yield a cockpit that has been entered, and end it."""
    cockpit = Cockpit(folder, *arguments, port=port)
    try:
        yield cockpit.begin()
    finally:
        _ = cockpit.program.end()
        cockpit.program.clear_away()
