"""The cockpit as a module: its own role, process and store (decision 35)."""

from orrery.runtime.module import Command, Module, Named, Role

COCKPIT: frozenset[Role] = frozenset({"cockpit"})

MODULE = Module(
    "cockpit",
    roles=COCKPIT,
    sections=(Named("cockpit", "orrery.cockpit.settings:CockpitSettings", COCKPIT),),
    secrets=(Named("imap_passwords", "orrery.cockpit.secrets:IMAP_PASSWORDS", COCKPIT),),
    prefixes=("ledger:", "ledger-erased:", "set-aside:"),
    ports=(
        "orrery.ports.comms.mailboxes:Mailboxes",
        "orrery.ports.comms.tasks:TaskBooks",
        "orrery.ports.accounts:Accounts",
    ),
    commands=(
        Command(
            "cockpit",
            "List what waits for an answer: mail, chats, meetings and what is to be done.",
            "orrery.app.cli.cockpit:group",
            role="cockpit",
        ),
        Command(
            "cockpit ledger",
            "Add to the action ledger, list it, dismiss from it.",
            "orrery.cockpit.cli.ledger:group",
            role="cockpit",
        ),
        Command(
            "cockpit doctor",
            "Look at each part of the cockpit: ok or broken, why, and what to do.",
            "orrery.cockpit.cli.doctor:command",
            role="cockpit",
        ),
        Command(
            "cockpit store",
            "Make the cockpit's own store.",
            "orrery.app.cli.store:cockpit_group",
            role="cockpit",
        ),
        Command(
            "cockpit backup",
            "Write a checked snapshot of the cockpit's store.",
            "orrery.app.cli.cockpit_backup:command",
            role="cockpit",
        ),
        Command(
            "cockpit restore",
            "Put a snapshot in place of the cockpit's store; the cockpit must be stopped.",
            "orrery.app.cli.restore:of_cockpit",
            role="cockpit",
        ),
        Command(
            "cockpit privacy",
            "Export or erase a person's data in the cockpit's store.",
            "orrery.app.cli.privacy:group",
            role="cockpit",
            whole=True,
        ),
    ),
    provides=(
        "orrery.cockpit.ledger:Ledger",
        "orrery.cockpit.set_aside:SetAsides",
        "orrery.cockpit.health:CockpitHealth",
        "orrery.edge.launch:Launch",
    ),
    needs=("orrery.runtime.jobs:Workers",),
    build="orrery.cockpit.build:build",
)
