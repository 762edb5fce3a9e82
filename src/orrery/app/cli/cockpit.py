"""`orrery cockpit`: the list of what waits for an answer, as a page on this machine (spec 3, decision 37)."""

import asyncio
import errno
import signal
import socket
import sys
import webbrowser
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
import uvicorn
import uvloop

from orrery.adapters.sqlite import create
from orrery.app.cli.services import Config, configured
from orrery.app.cli.supervision import run_together
from orrery.app.cli.uvicorn_config import AddressTakenError, listen, uvicorn_config
from orrery.app.composition import opened
from orrery.app.settings import Secrets, Settings, settings_from
from orrery.cockpit.settings import CockpitSettings, MailboxSettings
from orrery.edge.launch import CODE_SECONDS, Launch
from orrery.edge.local import local_app
from orrery.errors import Invalid
from orrery.logs import Redaction, configure
from orrery.runtime.jobs import Workers
from orrery.runtime.settings import Log

NAME = "cockpit.localhost"
"""Browsers reach this machine by every name that ends so, and no other machine (decision 37)."""

_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

group = typer.Typer(invoke_without_command=True)


@group.callback()
def cockpit(
    context: typer.Context,
    sample: Annotated[  # noqa: FBT002  a flag of the command line
        bool, typer.Option("--sample", help="Show made-up mailboxes, without settings; keep nothing.")
    ] = False,
    messages: Annotated[
        int, typer.Option(min=0, max=100_000, help="With --sample: how many messages each mailbox has.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link only.")] = False,  # noqa: FBT002  the same
    config: Config = None,
) -> None:
    """Show what waits for an answer as a page on this machine, until Ctrl-C.

    \b
    orrery cockpit --sample
    orrery cockpit
    """
    if context.invoked_subcommand:
        raise Invalid(f"Write `orrery cockpit {context.invoked_subcommand}` first, and its options behind it.")
    with _settings(config, sample=sample, messages=messages) as (settings, secrets), suppress(KeyboardInterrupt):
        uvloop.run(_serve(settings, secrets, browse=not no_browser))


@contextmanager
def _settings(config: Path | None, *, sample: bool, messages: int) -> Generator[tuple[Settings, Secrets]]:
    if not sample:
        if messages:
            raise Invalid("--messages goes with --sample.")
        yield configured(config, quiet=True, role="cockpit")
        return
    with TemporaryDirectory(prefix="orrery-sample-") as folder:
        settings = _of_sample(Path(folder), messages)
        configure(settings[Log].format, "warning", Redaction())
        create(settings.store_path)
        yield settings, Secrets.of({}, "cockpit")


def _of_sample(folder: Path, messages: int) -> Settings:
    """Return the settings of the sample: two accounts, one of each track, and a store of its own in `folder`."""
    found = settings_from({}, folder, "cockpit")
    mailboxes = (
        MailboxSettings(
            kind="sample", account="ann@corp.example", track="A", folder=folder / "corp", messages=messages
        ),
        MailboxSettings(
            kind="sample", account="ann@lab.example", track="B", folder=folder / "lab", messages=messages
        ),
    )
    changed = {"store": folder / "cockpit.db", "mailboxes": mailboxes}
    return found.with_section(found[CockpitSettings].model_copy(update=changed))


async def _serve(settings: Settings, secrets: Secrets, *, browse: bool) -> None:
    """Serve until a signal to stop; show a link once the page answers."""
    # uvicorn raises the signal anew once it has stopped: by default SIGTERM would end us ahead of our `finally`.
    _ = signal.signal(signal.SIGTERM, signal.default_int_handler)
    port = settings[CockpitSettings].port
    sockets = listeners(port)
    async with opened(settings, secrets) as orrery:
        launch = orrery[Launch]
        routers = [router for parts in orrery.modules for router in parts.routers]
        server = uvicorn.Server(uvicorn_config(local_app("Orrery cockpit", routers, f"{NAME}:{port}", launch)))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, server.handle_exit, signal.SIGTERM, None)
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
            asyncio.get_running_loop().add_reader(sys.stdin, self._entered)

    def show_link(self) -> None:
        """Make a link that works once, print it, and open it."""
        link = f"http://{NAME}:{self.port}/#code={self.launch.new_code()}"
        typer.echo(f"This link works once, within {CODE_SECONDS:g} seconds: {link}")
        if self.browse:
            _ = asyncio.get_running_loop().run_in_executor(None, webbrowser.open, link)

    def _entered(self) -> None:
        if sys.stdin.readline():
            self.show_link()
        else:
            _ = asyncio.get_running_loop().remove_reader(sys.stdin)
