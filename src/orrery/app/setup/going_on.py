"""What `orrery setup` does once every question is answered: it starts the service, and has the shop tried."""

import os
import re
import subprocess
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

from orrery.adapters.sqlite.file import lock_of, log_of, seize
from orrery.app.settings.reader import load
from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.steps import steps
from orrery.app.setup.trials import OwnCommands, has_systemd, is_root
from orrery.errors import DependencyFailed, Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.console.terminal import typed_outside
from orrery.runtime.settings import StoreSettings

UNITS = "orrery.service", "orrery-backup.timer"

NOT_STARTED = "The service did not start: journalctl -u orrery has the reason."

_INTENT = re.compile(r"orrery approvals sign (in-\w+)")

_AS_YOURSELF = """\
  cd "$(mktemp -d)" && chmod 0755 .
  sudo -u orrery orrery approvals show INTENT
  sudo -u orrery orrery approvals show INTENT --statement >approval
  ssh-keygen -Y sign -n orrery-approval -f ~/.ssh/orrery_owner approval
  sudo -u orrery orrery approvals sign INTENT --statement approval --signature approval.sig"""
"""The service's user must not read the owner's key, and the owner's own user must not open the store."""

_IN_A_CONTAINER = """\
  {quiet} approvals show INTENT --statement >approval
  ssh-keygen -Y sign -n orrery-approval -f ~/.ssh/orrery_owner approval
  sudo cp approval approval.sig etc/
  {typed} approvals sign INTENT --statement /etc/orrery/approval --signature /etc/orrery/approval.sig"""
"""In the folder of compose.yaml: docs/how-to/run-in-a-container.md has the same."""


def may_start(files: DeploymentFiles) -> bool:
    """Return whether setup starts the service: as root, for the system's folder, where systemd has its unit."""
    return files.is_the_systems and is_root() and has_systemd() and _systemctl("cat", UNITS[0]) == 0


def is_active(files: DeploymentFiles) -> bool:
    """Return whether systemd runs the service, where it is its own."""
    return may_start(files) and _systemctl("is-active", UNITS[0]) == 0


def left_of_test(files: DeploymentFiles) -> str:
    """Return the title of a step that is neither done nor left out in test mode, or nothing."""
    memory = files.memory()
    ended = {*memory.get("done", []), *memory.get("not_wanted", [])}
    return next((step.title for step in steps() if step.name not in ended), "")


def begin_live(files: DeploymentFiles, commands: OwnCommands) -> None:
    """Stop the service, and put live mode and an empty place in the place of the test's store."""
    if files.setting("mode") == "live":
        return
    if left := left_of_test(files):
        raise Invalid(f"Test mode comes first, and is not done: {left}. Type `orrery setup`.")
    if files.memory().keys() & {"store_live", "done_live"}:
        raise Invalid(
            "This shop has a live store, which setup does not put aside: "
            f'write mode = "live" into {files.settings_file} again.'
        )
    if may_start(files) and _systemctl("stop", UNITS[0]):
        raise DependencyFailed(f"systemctl could not stop {UNITS[0]}: see journalctl -u orrery.")
    store = load(files.settings_file)[0][StoreSettings]
    if not store.store_address:
        _put_aside(store.store_file)
    elif commands.run("store", "migrate").code == 0:
        raise Invalid("In live mode the store is another one: name an empty database at [store] address first.")
    files.set_live(
        [one for step in steps() for one in step.questions if one.secret and one.asked_in(step, live=True)]
    )


def _put_aside(store: Path) -> None:
    """Move the files of a store that no process uses; after a kill, those that are left."""
    files = [store, log_of(store), store.with_name(f"{store.name}-shm"), lock_of(store)]
    there = [file for file in files if file.exists()]
    if not there:
        return
    owner = there[0].stat()
    aside = store.with_name(f"{store.stem}-test")
    if store.exists() and (aside / store.name).exists():
        raise Invalid(f"There is a store in {aside} already, from an earlier test: move it elsewhere.")
    with closing(seize(store)) if store.exists() else nullcontext():
        aside.mkdir(mode=0o700, exist_ok=True)
        os.chown(aside, owner.st_uid, owner.st_gid)
        for file in there:
            _ = file.replace(aside / file.name)
    note(f"Put the store of test mode into {aside}.")


def start(files: DeploymentFiles, commands: OwnCommands) -> str:
    """Start the service and its daily snapshot; return the step that is left, or nothing."""
    if not may_start(files):
        if files.is_the_systems:
            _ = commands.run("backup")  # the first one; where it fails, `doctor` names it
        return ""
    begin = "start" if _runs_with_these(files, commands) else "restart"  # what runs already is not started again
    if _systemctl("enable", *UNITS) or _systemctl(begin, *UNITS) or _systemctl("start", "orrery-backup"):
        return NOT_STARTED
    note("The service runs, and its snapshot each day.")
    return ""


def _runs_with_these(files: DeploymentFiles, commands: OwnCommands) -> bool:
    """Return whether the service holds the secrets that are there, and began after the settings changed."""
    held = commands.held()
    shown = subprocess.run(_BEGAN, capture_output=True, text=True, check=False).stdout.strip().removeprefix("@")  # noqa: S603  our own
    return bool(held) and all(held) and int(shown or 0) > files.settings_file.stat().st_ctime


_BEGAN = [
    "/usr/bin/systemctl",
    "show",
    UNITS[0],
    "--property=ExecMainStartTimestamp",
    "--timestamp=unix",
    "--value",
]
"""What prints when the service began, as "@" and seconds."""


def restart() -> bool:
    """Restart the service; return whether that failed. It is up again then, since its unit waits for it."""
    return _systemctl("restart", UNITS[0]) != 0


def accepted(files: DeploymentFiles, commands: OwnCommands, signed: Callable[[str], bool]) -> str:
    """Have the processor accept what is sold; return the step that is left, or nothing.

    `signed` is called with how to sign what waits for the owner, and returns whether that was done.
    """
    if commands.run("checkout", "preflight", "--pending").code == 0:
        return ""
    while (ended := commands.run("checkout", "preflight")).code:
        intent = _INTENT.search(ended.notes)
        if not intent:
            return f"orrery checkout preflight: {ended.sentence}"
        if not signed(how_to_sign(files, intent[1])):
            return f"your signature of {intent[1]}, as it is shown above."
    note("The processor accepts what is sold.")
    return ""


def how_to_sign(files: DeploymentFiles, intent: str) -> str:
    """Return the lines that the owner types to sign an intent."""
    how = _AS_YOURSELF if files.is_the_systems else f"  {files.command('approvals sign INTENT')}"
    if typed := typed_outside():
        how = _IN_A_CONTAINER.format(typed=typed, quiet=typed.replace(" --rm ", " --rm -T "))
    return how.replace("INTENT", intent)


def _systemctl(*words: str) -> int:
    command = ["/usr/bin/systemctl", "--quiet", *words]
    return subprocess.run(command, capture_output=words[0] == "cat", check=False).returncode  # noqa: S603  our own
