"""`orrery gateway guest`: the recovery on the gateway's host (spec 3, In-guest files).

In what `--help` prints, a line with \\b keeps the lines of the paragraph after it as they are.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from orrery.errors import Invalid
from orrery.gateway.guest.bundle import bundle_folder, bundle_of, write_bundle
from orrery.gateway.guest.errors import GuestFailed
from orrery.gateway.guest.examination import examined, require_answer
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.installation import (
    InstallationPlan,
    installed_options,
    kept_secrets,
    plan,
    require_root,
    require_unit,
    start,
    uninstall,
    write,
)
from orrery.gateway.guest.observed import LONGEST_PAUSE
from orrery.gateway.guest.options import Options, flag, with_given
from orrery.gateway.guest.unit_name import UnitName, unit_name
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.findings import show_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.tables import note, show_json
from orrery.runtime.console.terminal import new_console, visible
from orrery.runtime.console.windows import parse_window
from orrery.syntax.lines import one_line

USAGE = 2
"""The exit code of the scripts for words that they do not know."""

group = typer.Typer(no_args_is_help=True)


@group.callback()
def guest() -> None:
    """Install the recovery on the gateway's host, examine and pause it."""


def _option(text: str) -> OptionInfo:
    """Return an option whose name is that of its argument, and that has no default to show."""
    option: OptionInfo = typer.Option(help=text, show_default=False)
    return option


Unit = Annotated[str, _option("The gateway's unit, such as gateway.service.")]
Root = Annotated[Path | None, _option("Only the files, below this folder; systemd is not asked.")]
Probe = Annotated[str | None, _option("The web address or the command that shows whether the gateway answers.")]
Push = Annotated[str | None, _option("The ntfy server that takes pushes.")]
TopicFile = Annotated[str | None, _option("The file with the topic of pushes.")]
Ping = Annotated[str | None, _option("The address of the site that takes pings.")]
PingTokenFile = Annotated[str | None, _option("The file with the token of pings.")]
TokenScript = Annotated[str | None, _option("The script that fetches the gateway's credential, named in advice.")]
StartWithin = Annotated[str | None, _option("How long a healthy gateway may take to start, such as 2m.")]
AnswerWithin = Annotated[str | None, _option("How long it may take to answer the probe, such as 8s.")]
StopWithin = Annotated[str | None, _option("How long it may take to stop, such as 20s.")]
Bundle = Annotated[Path | None, _option("Only write a tar for a host without Python, with a script.")]


@group.command("plan")
def plan_command(  # noqa: PLR0913  each is an option of the command line
    unit: Unit,
    *,
    probe: Probe = None,
    push: Push = None,
    topic_file: TopicFile = None,
    ping: Ping = None,
    ping_token_file: PingTokenFile = None,
    token_script: TokenScript = None,
    start_within: StartWithin = None,
    answer_within: AnswerWithin = None,
    stop_within: StopWithin = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Show what `install` would change, and write nothing; exit 1 when that is something.

    \b
    orrery gateway guest plan --unit gateway.service
    orrery gateway guest plan --unit gateway.service --probe http://127.0.0.1:8443/healthz
    """
    given = _given(locals())
    planned = plan(Host(root), unit_name(unit), given)
    if as_json:
        show_json([asdict(change) for change in planned.changes])
    else:
        _show_plan(planned)
    end_broken(when=not planned.is_empty)


def _given(typed: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what was typed of the options that the host keeps, out of the arguments of a command."""
    return {one.name: typed[one.name] for one in fields(Options) if one.name != "unit"}


def _show_plan(planned: InstallationPlan) -> None:
    console = new_console()
    for change in planned.changes:
        for line in change.diff.splitlines():
            console.print(visible(line), markup=False)
    for change in planned.changes:
        note(f"{change.change:>8}  {change.path}")
    if planned.kept:
        note(f"Kept as they are on this host: {', '.join(map(flag, planned.kept))}.")
    for one in planned.proposed:
        note(f"Proposed: {flag(one.option)} {one.seconds}s, as {one.why}.")


@group.command()
def install(  # noqa: PLR0913  each is an option of the command line
    unit: Unit,
    *,
    probe: Probe = None,
    push: Push = None,
    topic_file: TopicFile = None,
    ping: Ping = None,
    ping_token_file: PingTokenFile = None,
    token_script: TokenScript = None,
    start_within: StartWithin = None,
    answer_within: AnswerWithin = None,
    stop_within: StopWithin = None,
    root: Root = None,
    bundle: Bundle = None,
    as_json: AsJson = False,
) -> None:
    """Show the difference, write the files, start timer and watch, and verify; exit 1 when something is broken.

    An option that is not given stays as the host keeps it, and an empty one turns its part off. Doing it again
    changes nothing.

    \b
    sudo orrery gateway guest install --unit gateway.service \\
      --probe http://127.0.0.1:8443/healthz \\
      --push https://ntfy.example.org --topic-file /etc/gateway-guest/topic
    sudo orrery gateway guest install --unit gateway.service --push ''
    orrery gateway guest install --unit gateway.service --bundle gateway-guest.tar
    """
    given = _given(locals())
    name = unit_name(unit)
    if bundle is not None:
        _write_bundle(bundle, name, given, root)
        return
    host = Host(root)
    planned = plan(host, name, given)
    if root is None:
        require_root(host, "Installing")
        require_unit(host, name)
        require_answer(host, name, planned.options)
    if as_json:
        _install_for_machines(host, planned)
    else:
        _install(host, planned)


def _install(host: Host, planned: InstallationPlan) -> None:
    _show_plan(planned)
    done = _written(host, planned)
    if host.root is not None:
        note(f"The files are below {host.root}; nothing was started.")
        return
    note("\n".join(f"Done: {one}." for one in done) or "Nothing was changed.")
    show_findings(examined(host, planned.unit, planned.options), as_json=False)


def _written(host: Host, planned: InstallationPlan) -> list[str]:
    with host.in_turn():
        write(host, planned)
        return start(host, planned) if host.root is None else []


def _install_for_machines(host: Host, planned: InstallationPlan) -> None:
    done = _written(host, planned)
    findings = examined(host, planned.unit, planned.options)
    show_json({"changes": planned.changes, "done": done, "findings": findings})
    end_broken(when=any(finding.state == "broken" for finding in findings))


@group.command()
def verify(unit: Unit, root: Root = None, as_json: AsJson = False) -> None:  # noqa: FBT002  a flag of the command line
    """Compare what systemd does with what was installed, and name what overrides it; exit 1 when it is broken.

    \b
    sudo orrery gateway guest verify --unit gateway.service
    sudo orrery gateway guest verify --unit gateway.service --json
    """
    host, name = Host(root), unit_name(unit)
    show_findings(examined(host, name, installed_options(host, name)), as_json=as_json)


@group.command("uninstall")
def uninstall_command(
    unit: Unit,
    root: Root = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop the recovery and remove its files; the gateway's service goes on. Its state and secrets stay.

    \b
    sudo orrery gateway guest uninstall --unit gateway.service
    """
    host, name = Host(root), unit_name(unit)
    if root is None:
        require_root(host, "Uninstalling")
    secrets = kept_secrets(host, name)
    end_broken(when=not yes and not typer.confirm(f"Remove the recovery of {name.unit}?", err=True))
    removed, kept = uninstall(host, name), [name.state_folder, *secrets]
    if as_json:
        show_json({"removed": removed, "kept": kept})
        return
    for path in removed:
        note(f" removed  {path}")
    note("Removed." if removed else "There was nothing to remove.")
    note(f"These stay, if they are there: {', '.join(kept)}.")


@group.command()
def pause(
    unit: Unit,
    for_: Annotated[str, typer.Option("--for", help="How long: 30m, 2h or 1d, at most 7d.", show_default=False)],
) -> None:
    """Leave the unit alone for a while, so that you can stop it; the pause ends by itself.

    \b
    sudo orrery gateway guest pause --unit gateway.service --for 2h
    sudo systemctl stop gateway.service
    """
    if not _is_pause(for_):
        raise Invalid("A pause is written like 30m, 2h or 1d, and lasts at most 7d.")
    _run_recovery(unit, "pause", for_)


def _is_pause(text: str) -> bool:
    with suppress(Invalid):
        return parse_window(text) <= timedelta(seconds=LONGEST_PAUSE)
    return False


@group.command()
def resume(unit: Unit) -> None:
    """End a pause.

    \b
    sudo orrery gateway guest resume --unit gateway.service
    """
    _run_recovery(unit, "resume")


def _run_recovery(unit: str, *words: str) -> None:
    """Have the installed script do it: what it keeps is its own."""
    host, name = Host(), unit_name(unit)
    require_root(host, "This")
    _ = installed_options(host, name)
    code, printed, complaint = host.run_script(f"{name.script}-recover.sh", *words)
    if code == USAGE:
        raise Invalid(one_line(complaint))
    if code:
        raise GuestFailed(f"{name.script}-recover.sh failed ({code}): {one_line(complaint)}")
    note(one_line(printed) or f"The recovery of {name.unit} is no longer paused.")


def _write_bundle(path: Path, name: UnitName, given: Mapping[str, str | None], root: Path | None) -> None:
    if root is not None:
        raise Invalid("--bundle and --root exclude each other: a bundle holds all files.")
    options = with_given(Options(name.unit), given)
    write_bundle(path, bundle_of(name, options))
    script = quote(f"{bundle_folder(name)}/install.sh")
    note(f"Wrote {path}. On the host, as root: tar -xf {quote(path.name)} && sh {script}")
