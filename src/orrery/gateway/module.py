"""The gateway's recovery as a module: what the site knows of it, and the commands of its host."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "gateway",
    roles=frozenset({"site", "guest"}),
    sections=(Named("gateway", "orrery.gateway.settings:GatewaySettings"),),
    secrets=(Named("gateway_ping_token", "orrery.gateway.secrets:PING_TOKEN"),),
    prefixes=("gateway:",),
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
    build="orrery.gateway.build:build",
)
