"""The scanner as a module: its commands are plain, because each commit waits for them."""

from orrery.runtime.module import Command, Module, Role

SCAN: frozenset[Role] = frozenset({"scan"})

MODULE = Module(
    "scanner",
    roles=SCAN,
    commands=(
        Command(
            "tenants scan",
            "Search files, a commit or a whole history for what must not be public.",
            "orrery.app.cli.scan:scan",
            role="scan",
            plain=True,
        ),
    ),
)
