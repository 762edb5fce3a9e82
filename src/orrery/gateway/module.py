"""The gateway as a module: the commands of its host, which need no settings."""

from orrery.runtime.module import Command, Module

MODULE = Module(
    "gateway",
    roles=frozenset({"site", "guest"}),
    commands=(
        Command(
            "gateway",
            "Keep the gateway's service running: the recovery on its host.",
            "orrery.gateway.cli.gateway:group",
        ),
        Command(
            "gateway guest",
            "Install the recovery on the gateway's host, examine and pause it.",
            "orrery.gateway.cli.guest:group",
            role="guest",
        ),
        Command(
            "gateway drill",
            "Break the gateway's service, and measure how it comes back.",
            "orrery.gateway.cli.drill:command",
            role="guest",
        ),
    ),
)
