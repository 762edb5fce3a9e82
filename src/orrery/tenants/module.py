"""The tracks as a module: their commands run in the role of the cockpit, whose store holds the journal."""

from orrery.runtime.module import Command, Module, Named, Role

COCKPIT: frozenset[Role] = frozenset({"cockpit"})

KNOWS_TRACKS: frozenset[Role] = frozenset({"cockpit", "scan"})

MODULE = Module(
    "tenants",
    roles=COCKPIT,
    sections=(Named("tenants", "orrery.tenants.settings:TenantsSettings", KNOWS_TRACKS),),
    prefixes=("track-journal:", "track-journal-erased:"),
    commands=(
        Command(
            "tenants",
            "Sign in for a track, and keep one tenant's data out of what is public.",
            "orrery.tenants.cli.tenants:group",
            role="cockpit",
        ),
        Command(
            "tenants run",
            "Run the command-line tool for one account; its server mode is refused.",
            "orrery.tenants.cli.run:command",
            role="cockpit",
        ),
        Command(
            "tenants journal",
            "Write what was done into the journal, each entry with its track, and list it.",
            "orrery.tenants.cli.journal:group",
            role="cockpit",
        ),
        Command(
            "tenants publish",
            "Publish a file, a folder or a text of track B, once it was found fit to be public.",
            "orrery.tenants.cli.publish:command",
            role="cockpit",
        ),
        Command(
            "tenants doctor",
            "Look at each part of the tracks: ok or broken, why, and what to do.",
            "orrery.tenants.cli.doctor:command",
            role="cockpit",
        ),
    ),
    provides=("orrery.tenants.journal:Journal",),
    build="orrery.tenants.build:build",
)
