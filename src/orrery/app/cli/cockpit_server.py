"""The cockpit's process: both loopback addresses, one page, and links that work once (decision 37)."""

import asyncio
import errno
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import typer
import uvicorn
import uvloop

from orrery.app.cli.listening import AddressTakenError, listen
from orrery.app.cli.sample_items import sample_items
from orrery.app.cli.services import configured
from orrery.app.cli.supervision import run_together
from orrery.app.cli.uvicorn_config import connection_limiter, uvicorn_config
from orrery.app.composition import opened
from orrery.app.garbage import collect_from_now
from orrery.app.settings.reader import Secrets, Settings, settings_from
from orrery.app.store_place import file_place
from orrery.cockpit.ledger import Ledger, NewItem
from orrery.cockpit.settings import CockpitSettings, SampleMailboxSettings
from orrery.edge.launch import CODE_SECONDS, Launch
from orrery.edge.local import local_app
from orrery.logs import Redaction, configure
from orrery.runtime.jobs import Workers
from orrery.runtime.parts import routes_of
from orrery.runtime.settings import LogSettings

NAME = "cockpit.localhost"
"""Browsers reach this machine by every name that ends so, and no other machine (decision 37)."""

BACKGROUND_SECONDS = 1.0
"""How often a cockpit behind `&` sees whether it is in the foreground again."""

_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


Items = Callable[[date], Sequence[NewItem]]


def _no_items(_: date) -> Sequence[NewItem]:
    return ()


def run(config: Path | None, *, browse: bool) -> None:
    """Run the cockpit of the settings until a signal to stop."""
    settings, secrets = configured(config, quiet=True, role="cockpit")
    _run(settings, secrets, browse=browse)


def run_sample(messages: int, *, browse: bool) -> None:
    """Run it on made-up mailboxes, with a store in a private folder that is removed at the end."""
    with TemporaryDirectory(prefix="orrery-sample-") as folder:
        settings = _of_sample(Path(folder), messages)
        configure(settings[LogSettings].format, "warning", Redaction())
        file_place(settings.store.store_file).create()
        _run(settings, Secrets.of({}, "cockpit"), browse=browse, items=sample_items)


def _run(settings: Settings, secrets: Secrets, *, browse: bool, items: Items = _no_items) -> None:
    with suppress(KeyboardInterrupt):
        uvloop.run(_serve(settings, secrets, browse=browse, items=items))


def _of_sample(folder: Path, messages: int) -> Settings:
    """Return the settings of the sample: two accounts, one of each track, and a separate store in `folder`."""
    found = settings_from({}, folder, "cockpit")
    mailboxes = (
        SampleMailboxSettings(
            kind="sample", account="ann@corp.example", track="A", folder=folder / "corp", messages=messages
        ),
        SampleMailboxSettings(
            kind="sample", account="ann@lab.example", track="B", folder=folder / "lab", messages=messages
        ),
    )
    watched = ("course.lab.codehost.example",)
    changed = {"store": folder / "cockpit.db", "mailboxes": mailboxes, "watched_lists": watched}
    return found.with_section(found[CockpitSettings].model_copy(update=changed))


async def _serve(settings: Settings, secrets: Secrets, *, browse: bool, items: Items) -> None:
    """Serve until a signal to stop; show a link once the page answers. `items` go into the ledger first."""
    # uvicorn raises the signal again once it has stopped: by default SIGTERM would end us ahead of our `finally`.
    _ = signal.signal(signal.SIGTERM, signal.default_int_handler)
    port = settings[CockpitSettings].port
    sockets = listeners(port)
    async with opened(settings, secrets) as orrery:
        launch = orrery[Launch]
        _ = await orrery[Ledger].import_items(items(orrery.adapters.clock.now().astimezone().date()))
        app = local_app("Orrery cockpit", routes_of(orrery.modules), f"{NAME}:{port}", launch)
        server = uvicorn.Server(uvicorn_config(app, connection_limiter()))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, server.handle_exit, signal.SIGTERM, None)
        collect_from_now()
        workers = asyncio.create_task(orrery[Workers].run())
        await run_together(server, sockets, workers, Terminal(port, launch, browse=browse).start)


def listeners(port: int) -> list[socket.socket]:
    """Return sockets on both loopback addresses; raise `AddressTakenError` when either is taken.

    A browser may choose either: what another program listens on could show a page under the cockpit's name.
    """
    first = listen("127.0.0.1", port)
    if not _has_ipv6():
        return [first]
    try:
        return [first, listen("::1", port)]
    except AddressTakenError:
        first.close()
        raise


def _has_ipv6() -> bool:
    try:
        with closing(socket.socket(socket.AF_INET6, socket.SOCK_STREAM)) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        if error.errno in _NO_IPV6:
            return False
        raise
    return True


@dataclass
class Terminal:
    """Shows the link of the page to the person at the terminal, and a new one at each Enter."""

    port: int
    launch: Launch
    browse: bool = field(kw_only=True)

    def start(self) -> None:
        """Show the first link, and wait for Enter where there is a keyboard."""
        typer.echo(f"The cockpit is at http://{NAME}:{self.port}. Nothing is ever sent from it. Ctrl-C ends it.")
        self.show_link()
        if sys.stdin.isatty():
            typer.echo("Press Enter for a new link.")
            self._listen()

    def show_link(self) -> None:
        """Make a link that works once, print it, and open it."""
        link = f"http://{NAME}:{self.port}/#code={self.launch.new_code()}"
        typer.echo(f"This link works once, within {CODE_SECONDS:g} seconds: {link}")
        if self.browse:
            # As a daemon: some browsers run in the foreground, and must not hold up Ctrl-C.
            Thread(target=_open, args=(link,), daemon=True).start()

    def _listen(self) -> None:
        asyncio.get_running_loop().add_reader(sys.stdin, self._entered)

    def _entered(self) -> None:
        loop = asyncio.get_running_loop()
        if os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp():
            # The line is for another program; to read it in the background would stop this process.
            _ = loop.remove_reader(sys.stdin)
            _ = loop.call_later(BACKGROUND_SECONDS, self._listen)
        elif sys.stdin.readline():
            self.show_link()
        else:
            _ = loop.remove_reader(sys.stdin)
            typer.echo("Ctrl-D ended the keyboard: start the cockpit again for a new link.")


def _open(link: str) -> None:
    if not webbrowser.open(link):
        typer.echo("No browser could be started: open the link by hand.")
