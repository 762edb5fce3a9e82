"""`orrery setup`: asks for each value of a shop, tries it at its vendor, writes it, and starts the service."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from orrery.app.settings.places import DEFAULT_FILE, SYSTEM_FILE
from orrery.app.setup.answers import STOP, Answers, answers_of, typed_line
from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.going_on import accepted, begin_live, left_of_test, start
from orrery.app.setup.setting_up import SettingUp
from orrery.app.setup.trials import OwnCommands, is_root
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.tables import note


def command(
    answers: Annotated[
        Path | None, typer.Option(help="A TOML file with the answers, instead of questions.", show_default=False)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="The settings file; root's is in /etc/orrery, else here."),
    ] = None,
    *,
    live: Annotated[bool, typer.Option("--live", help="Go from test mode to live mode.")] = False,
) -> None:
    """Set up a shop: ask for each value, try it at its vendor, write settings and secrets, start the service.

    Nothing is changed at the payment processor. Ended at any place, the same command goes on there.
    """
    answering, files = answers_of(answers), DeploymentFiles(config or (SYSTEM_FILE if is_root() else DEFAULT_FILE))
    with files.held():
        try:
            _set_up(files, answering, live=live)
        except (KeyboardInterrupt, EOFError):
            note("\nEnded. Type the same command again to go on there.")
            end_broken(when=True)


def _set_up(files: DeploymentFiles, answers: Answers, *, live: bool) -> None:
    _ = OwnCommands(files)  # without the service's user nothing is made
    for sentence in files.prepare():
        note(sentence)
    # One that ended within the second pass goes on there.
    memory, is_live = files.memory(), files.setting("mode") == "live"
    live = live or (is_live and "store_test" in memory and not left_of_test(files))
    setting_up = SettingUp(files, answers, live=live)
    if live:
        begin_live(files, setting_up.commands)
    if left := setting_up.run():
        note(f"\nLeft: {left}. Type the same command again to go on there.")
        end_broken(when=True)
    left = start(files, setting_up.commands) or (accepted(files, setting_up.commands, _signed) if live else "")
    wrong = [left] if left else setting_up.commands.broken([""])
    if not wrong and not setting_up.commands.held():
        wrong = [
            f"the service does not run. Start it where it shall stay: {files.command('serve')}. All else is well."
        ]
    for one in wrong:
        note(f"\nLeft: {one}")
    if not wrong:
        then = "" if is_live or live else ". Buy once in test mode. Then type the same command with `--live`."
        note(f"\nALL GREEN{then}")
        if left_out := setting_up.left_out():
            note(f"Left out: {', '.join(one.title for one in left_out)}. The same command asks for each again.")
    end_broken(when=wrong)


def _signed(how: str) -> bool:
    note(f"Live mode sells only what the processor accepted. Sign that as yourself, in a second terminal:\n{how}")
    return sys.stdin.isatty() and typed_line("Press Enter once you have signed, s stops here: ").lower() != STOP
