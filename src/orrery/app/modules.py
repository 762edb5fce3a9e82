"""Every module there is: a domain that is added is one more line here."""

from orrery.runtime.module import Command, Module, load
from orrery.runtime.modules import BACKUPS, NODES, NOTIFICATIONS, RUNTIME, WATCH

START = Module(
    "start",
    commands=(
        Command("serve", "Run the service: both listeners and the workers.", "orrery.app.cli.serve:command"),
        Command(
            "demo",
            "Run service, sandbox and a shop on this machine, with nothing to set up.",
            "orrery.app.cli.demo:command",
        ),
        Command("sandbox", "Run only the stand-ins for the vendors.", "orrery.app.cli.sandbox:command"),
        Command(
            "setup",
            "Set up a shop, question by question: each value is tried at its vendor.",
            "orrery.app.cli.setup:command",
        ),
        Command(
            "init",
            "Write orrery.toml with every key explained, and make the store.",
            "orrery.app.cli.init:command",
        ),
        Command(
            "config", "Check the settings as the start does, before a restart.", "orrery.app.cli.config:group"
        ),
        Command(
            "secrets reload",
            "Have the service take secrets that were changed, once they are examined.",
            "orrery.app.cli.secrets_reload:command",
        ),
        Command("store", "Make, move, migrate or prove the store.", "orrery.app.cli.store:group"),
        Command(
            "doctor",
            "Look at each configured part: ok or broken, why, and what to do.",
            "orrery.app.cli.doctor:command",
        ),
    ),
)
"""The commands that come first; they compose the modules themselves."""

OWNER = Module(
    "owner",
    commands=(
        Command("ack", "Put a problem aside until it changes.", "orrery.app.cli.ack:command", whole=True),
        Command(
            "pause",
            "Push nothing of what maintenance breaks, for a while.",
            "orrery.app.cli.pause:command",
            whole=True,
        ),
        Command(
            "nodes",
            "List the services that share the store; forget one that was retired.",
            "orrery.app.cli.nodes:group",
            whole=True,
        ),
        Command("admin", "Make the hash of the owner's password.", "orrery.app.cli.admin:group"),
        Command(
            "notifications",
            "List, release or drop notifications; send a test message.",
            "orrery.app.cli.notifications:group",
            whole=True,
        ),
        Command("privacy", "Export or erase a person's data.", "orrery.app.cli.privacy:group", whole=True),
        Command(
            "backup",
            "Write a checked snapshot of the store while the service runs.",
            "orrery.app.cli.backup:command",
        ),
        Command(
            "restore",
            "Put a snapshot in place of the store; the service must be stopped.",
            "orrery.app.cli.restore:command",
        ),
    ),
)
"""The owner's commands over all modules."""


def _in(folder: str) -> Module:
    """Return the module that a folder of the package is."""
    return load(f"orrery.{folder}.module:MODULE")


MODULES = (
    START,
    RUNTIME,
    _in("checkout"),
    _in("account"),
    _in("fraud"),
    _in("live"),
    _in("gateway"),
    _in("cockpit"),
    _in("tenants"),
    _in("scanner"),
    NODES,
    NOTIFICATIONS,
    WATCH,
    _in("approvals"),
    _in("secrets"),
    BACKUPS,
    OWNER,
)
"""In the order of their findings, jobs and commands."""
