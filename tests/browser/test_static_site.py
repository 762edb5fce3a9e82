"""docs/tutorial/static-site.md, typed from top to bottom, with what it does in a browser done in one."""

import os
import re
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pexpect
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Watch
from tests.docs.documents import ROOT
from tests.rehearsal.page import Piece, Seen, Typed, steps
from tests.rehearsal.typist import Typist
from tests.support.ports import free_ports, is_taken
from tests.support.waiting import PATIENCE, until

PAGE = ROOT / "docs/tutorial/static-site.md"
MOST = 20
"""Commands between the source code and a sale."""
PORTS = ("8080", "8081", "8090", "8025", "8000")
"""Those of the page, and of the settings that it leaves out."""


class Reader:
    """Somebody who types the page; `commands` are those that were typed, with those that this machine need not."""

    def __init__(self, typist: Typist, ports: dict[str, str]) -> None:
        self._typist, self._ports = typist, ports
        self.commands: list[str] = []

    def follow(self, asked: Sequence[Piece], *, installed: bool = False) -> None:
        """Type the commands, and look at what is to be seen; only count them where all is installed."""
        for piece in asked:
            if isinstance(piece, Typed):
                for line in piece.lines:
                    self._type(line, installed=installed)
            elif isinstance(piece, Seen):
                here = Seen(tuple(map(self._own, piece.texts)))
                until(partial(self._sees, here))

    def leave(self, asked: Sequence[Piece]) -> None:
        """Type what ends all of it, and wait until it has: what still prints then may come after the prompt."""
        for line in (line for piece in asked if isinstance(piece, Typed) for line in piece.lines):
            self._typist.terminal.sendline(line)
        until(lambda: not any(map(is_taken, map(int, self._ports.values()))))

    def _type(self, line: str, *, installed: bool) -> None:
        status = 0 if installed else self._typist.type(self._own(line))
        assert status in (None, 0), "\n".join(self._typist.log)
        if status is not None:
            self.commands.append(line)

    def _sees(self, seen: Seen) -> bool:
        _ = self._typist.type("")  # what comes from the background
        return not seen.missing_from(self._typist.shown)

    def _own(self, text: str) -> str:
        if os.geteuid() == 0:  # the page is for another user: nginx, as root, reads the files as nobody
            text = re.sub("^events", "user root; events", text)
        text = re.sub("^orrery sandbox", "orrery sandbox --port 8090 --smtp-port 8025", text)
        return re.sub("|".join(PORTS), lambda found: self._ports[found[0]], text)


@pytest.fixture
def ports() -> dict[str, str]:
    """Return free ports for those on the page."""
    return dict(zip(PORTS, map(str, free_ports(len(PORTS))), strict=True))


@pytest.fixture
def reader(tmp_path: Path, ports: dict[str, str]) -> Iterator[Reader]:
    """Yield somebody at a terminal where Orrery is installed."""
    there = {
        "PATH": f"{ROOT}/.venv/bin:{os.defpath}",
        "HOME": str(tmp_path),
        "ORRERY_SERVER__PORT": ports["8080"],
        "ORRERY_SERVER__PRIVATE_PORT": ports["8081"],
        "ORRERY_LIVE__REFRESH_INTERVAL": "5",
        "ORRERY_LIVE__POLL_INTERVAL": "5",
        "PYTHONUNBUFFERED": "1",
    }
    terminal: pexpect.spawn[str] = pexpect.spawn(
        "/bin/bash", ["--norc"], cwd=tmp_path, env=there, encoding="utf-8", timeout=PATIENCE
    )
    try:
        yield Reader(Typist(terminal), ports)
    finally:
        for file in tmp_path.glob("shop/nginx.pid"):
            os.kill(int(file.read_text()), signal.SIGTERM)
        terminal.close(force=True)  # what is in its background has ended, or is hung up


def buy(page: Page, site: str) -> None:
    """Go on from the site with a button, pay, and wait until the access is open."""
    page.goto(site)
    page.get_by_role("button", name="Buy").click()
    page.get_by_label("E-mail").fill("ann@example.org")
    page.get_by_role("button", name="Pay").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Access until")


def test_from_the_source_code_to_a_sale(
    reader: Reader, ports: dict[str, str], open_page: OpenPage, watch: Watch
) -> None:
    """In few commands: a closed page, a price, a count, sales with JavaScript and without, an open page."""
    page, site = open_page(), f"http://localhost:{ports['8000']}"
    _, install, shop, vendors, write, (hand_out, *prove), _, end = steps(PAGE).values()
    reader.follow(install, installed=True)
    reader.follow([*shop, *vendors, *write, hand_out])
    page.goto(f"{site}/practice/cloud-navigator/")
    expect(page).to_have_url(re.compile("/guided/lost"))  # as soon as the service has started
    watch.complaints.clear()
    reader.follow(prove)
    assert len(reader.commands) <= MOST
    page.goto(site)
    expect(page.locator("live-pill")).to_contain_text("live")
    expect(page.get_by_role("button", name="Cloud Navigator")).to_contain_text("49")
    buy(page, site)
    page.get_by_role("link", name="Start practising").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Question 1")
    buy(open_page(java_script_enabled=False), site)
    reader.leave(end)
