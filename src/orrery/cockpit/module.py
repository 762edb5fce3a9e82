"""The cockpit as a module: a role and a process of its own, with its own store (decision 35)."""

from orrery.runtime.module import Command, Module, Named, Role

COCKPIT: frozenset[Role] = frozenset({"cockpit"})

MODULE = Module(
    "cockpit",
    roles=COCKPIT,
    sections=(Named("cockpit", "orrery.cockpit.settings:CockpitSettings", COCKPIT),),
    prefixes=("ledger:", "ledger-erased:"),
    ports=("orrery.ports.comms.mailboxes:Mailboxes",),
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
    ),
    build="orrery.cockpit.build:build",
)
