"""`orrery tenants`: who may sign in for which track, and direct requests in an account's name."""

import sys
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from orrery.errors import Invalid, OrreryError
from orrery.runtime.console.ending import BROKEN, end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note, show, show_json
from orrery.tenants.cli.options import Named, only, sign_ins_of

if TYPE_CHECKING:
    from orrery.ports.identity import DeviceCode
    from orrery.tenants.accounts import TrackAccount
    from orrery.tenants.sign_in_file import SignIn

group = typer.Typer(no_args_is_help=True)

_COLUMNS = ("track", "label", "account", "signed_in", "scopes")


@group.callback()
def tenants() -> None:
    """Sign in for a track, and keep one tenant's data out of what is public."""


@group.command("accounts")
def list_accounts(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the accounts of each track, and who is signed in. Exit 1 when a track's file cannot be used."""
    found = list(sign_ins_of(runner).all())
    rows = [_row(account, None if isinstance(one, OrreryError) else one) for account, one in found]
    show(rows, _COLUMNS, as_json=as_json, empty="The settings allow no account: see [tenants.A] and [tenants.B].")
    broken = dict.fromkeys(str(one) for _, one in found if isinstance(one, OrreryError))
    for why in broken:
        note(why)
    end_broken(when=broken)


@group.command()
def sign_in(
    account: Named,
    browser: Annotated[bool, typer.Option("--browser", help="Use a browser on this machine.")] = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Sign an account in at its track's tenant: by a code that is typed on any device, or in a browser here.

    \b
    orrery tenants sign-in --account ann@corp.example
    orrery tenants sign-in --account ann@lab.example --browser
    """
    sign_ins, name = sign_ins_of(runner), only(account)
    signed_in = sign_ins.in_browser(name, _visit) if browser else sign_ins.by_device_code(name, _show)
    note(f"Signed in: {signed_in}.")


@group.command()
def sign_out(account: Named, *, runner: Handed) -> None:
    """Delete an account's sign-in from this machine."""
    note("Signed out." if sign_ins_of(runner).sign_out(only(account)) else "It was not signed in.")


@group.command()
def whoami(
    account: Named,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Ask for a token of an account, and print whose it is. Exit 1 without a token, or when it is refused."""
    sign_ins, name = sign_ins_of(runner), only(account)
    token = sign_ins.token(name)
    found, kept = sign_ins.find(name)
    show(
        [_row(found, kept) | {"scopes": token.scopes, "tenant": token.tenant}],
        (*_COLUMNS, "tenant"),
        as_json=as_json,
        empty="",
    )


@group.command()
def request(
    method: Annotated[str, typer.Argument(help="GET, POST, PUT, PATCH or DELETE.")],
    url: Annotated[str, typer.Argument(help="An address of the API that the settings name.")],
    account: Named,
    body: Annotated[str, typer.Option(metavar="FILE", help="What is sent: a file, or - for standard input.")] = "",
    media_type: Annotated[str, typer.Option(help="What the body is.")] = "application/json",
    output: Annotated[Path | None, typer.Option(help="Write the answer into this file.")] = None,
    *,
    runner: Handed,
) -> None:
    """Send one request with the token of an account; print the answer as JSON, with its track.

    The account comes from the token, so no variable and no other account can take its place. Exit 1 when the
    answer is an error, or a redirection: none is followed.

    \b
    orrery tenants request --account ann@corp.example GET https://graph.microsoft.com/v1.0/me
    """
    from orrery.ports.delegated import DelegatedApi  # noqa: PLC0415  `--help` needs none of these
    from orrery.tenants.gate import Gate  # noqa: PLC0415  the same
    from orrery.tenants.requests import Method, Requests  # noqa: PLC0415  the same

    known: dict[str, Method] = {one: one for one in get_args(Method)}
    if method.upper() not in known:
        raise Invalid(f"The method is one of {', '.join(known)}.")
    sign_ins, name = sign_ins_of(runner), only(account)
    found, _ = sign_ins.find(name)
    if output:
        Gate(sign_ins.settings).require([found.track], output)
        _require_place(output)
    requests = Requests(sign_ins, runner.port(DelegatedApi))
    answer = requests.ask(name, known[method.upper()], url, _content(body), media_type)
    document = answer.document()
    if output:
        _write(output, document)
    else:
        show_json(document)
    if not answer.is_success:
        note(f"The API answered {answer.answer.status}.")
        raise typer.Exit(BROKEN)


def _show(code: "DeviceCode") -> None:
    note(f"Open {code.address} on any device, and type this code within {code.seconds // 60} minutes:")
    typer.echo(code.code)


def _visit(address: str) -> None:
    note("A browser opens for the sign-in. Where none does, open this address on this machine:")
    typer.echo(address)
    # As a daemon: some browsers run in the foreground, and must not hold up the answer.
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _row(account: "TrackAccount", sign_in: "SignIn | None") -> dict[str, object]:
    return {
        "track": account.track,
        "label": account.label,
        "account": account.name,
        "signed_in": sign_in.signed_in_at if sign_in else None,
        "scopes": sign_in.scopes if sign_in else None,
    }


def _content(body: str) -> bytes | None:
    if body == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(body).read_bytes() if body else None
    except OSError as error:
        raise Invalid(f"{body} cannot be read: {error.strerror}.") from None


def _require_place(file: Path) -> None:
    """Refuse a place ahead of the request: what it changes would be changed, and its answer lost."""
    from orrery.durable import require_place  # noqa: PLC0415  the same

    with _translated(file):
        require_place(file)


def _write(file: Path, document: object) -> None:
    from orrery.durable import replace  # noqa: PLC0415  the same
    from orrery.runtime.console.terminal import visible_json  # noqa: PLC0415  the same

    with _translated(file):
        replace(file, f"{visible_json(document, indent=2)}\n".encode())


@contextmanager
def _translated(file: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise Invalid(f"{file} cannot be written: {error.strerror}.") from None
