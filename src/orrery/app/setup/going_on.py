"""What `orrery setup` does once every question is answered: it starts the service, and has the shop tried."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from orrery.app.settings.reader import load
from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.trials import OwnCommands, has_systemd, is_root
from orrery.errors import DependencyFailed, Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.settings import StoreSettings

UNITS = "orrery.service", "orrery-backup.timer"

_INTENT = re.compile(r"orrery approvals sign (in-\w+)")

_HERE = "  orrery approvals sign INTENT"

_AS_YOURSELF = """\
  cd "$(mktemp -d)" && chmod 0755 .
  sudo -u orrery orrery approvals show INTENT
  sudo -u orrery orrery approvals show INTENT --statement >approval
  ssh-keygen -Y sign -n orrery-approval -f ~/.ssh/orrery_owner approval
  sudo -u orrery orrery approvals sign INTENT --statement approval --signature approval.sig"""
"""The service's user must not read the owner's key, and the owner's own user must not open the store."""


def may_start(files: DeploymentFiles) -> bool:
    """Return whether setup starts the service: as root, for the system's folder, where systemd has its unit."""
    return files.is_the_systems and is_root() and has_systemd() and _systemctl("cat", UNITS[0]) == 0


def begin_live(files: DeploymentFiles) -> None:
    """Stop the service, and put live mode and an empty place in the place of the test's store."""
    if files.setting("mode") == "live":
        return
    if may_start(files) and _systemctl("stop", UNITS[0]):
        raise DependencyFailed(f"systemctl could not stop {UNITS[0]}: see journalctl -u orrery.")
    store = load(files.settings_file)[0][StoreSettings]
    if store.store_address:
        raise Invalid("In live mode the store is another one: name another database at [store] address first.")
    aside = _aside(store.store_file)
    for file in sorted(store.store_file.parent.glob(f"{store.store_file.name}*")):
        _ = file.replace(aside / file.name)
        note(f"Put {file.name} of test mode into {aside}.")
    files.set_mode("live")


def _aside(store: Path) -> Path:
    folder = store.with_name(f"{store.stem}-test")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def start(files: DeploymentFiles) -> str:
    """Start the service and its daily snapshot; return the step that is left, or nothing."""
    if not may_start(files):
        note("Setup starts nothing here. Start the service in another terminal: `orrery serve`")
        return ""
    if _systemctl("enable", *UNITS) or _systemctl("restart", *UNITS) or _systemctl("start", "orrery-backup"):
        return "The service did not start: journalctl -u orrery has the reason."
    note("Started the service, and its snapshot each day.")
    return ""


def accepted(files: DeploymentFiles, commands: OwnCommands, signed: Callable[[str], bool]) -> str:
    """Have the processor accept what is sold; return the step that is left, or nothing.

    `signed` is called with how to sign what waits for the owner, and returns whether that was done.
    """
    while (ended := commands.run("checkout", "preflight")).code:
        intent = _INTENT.search(ended.notes)
        if not intent:
            return f"orrery checkout preflight: {ended.sentence}"
        how = _AS_YOURSELF if files.is_the_systems else _HERE
        if not signed(how.replace("INTENT", intent[1])):
            return f"your signature: {intent[0]}"
    note("The processor accepts what is sold.")
    return ""


def _systemctl(*words: str) -> int:
    command = ["/usr/bin/systemctl", "--quiet", *words]
    return subprocess.run(command, capture_output=words[0] == "cat", check=False).returncode  # noqa: S603  our own
