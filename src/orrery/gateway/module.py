"""The gateway as a module: what the site knows about it, the commands of its host, and those of the cloud."""

from orrery.runtime.module import SITE, Command, Module, Named, Role

_CLOUD: frozenset[Role] = frozenset({"cloud"})

MODULE = Module(
    "gateway",
    roles=frozenset({"site", "guest", "cloud"}),
    sections=(
        Named("gateway", "orrery.gateway.settings:GatewaySettings"),
        Named("cloud", "orrery.gateway.cloud.settings:CloudSettings", _CLOUD),
    ),
    secrets=(
        Named("gateway_ping_token", "orrery.gateway.secrets:PING_TOKEN", SITE | _CLOUD),
        Named("gateway_webhook_uri", "orrery.gateway.cloud.secrets:WEBHOOK_URI", _CLOUD),
    ),
    prefixes=("gateway:",),
    commands=(
        Command(
            "gateway",
            "Keep the gateway running: its service by a guest, its machine from the cloud.",
            "orrery.gateway.cli.gateway:group",
        ),
        Command(
            "gateway pings",
            "List the gateway's pings by their content, the silences between them, and the pushes.",
            "orrery.gateway.cli.pings:command",
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
        Command(
            "gateway simulate",
            "Compare by a simulation what each layer of the recovery is worth.",
            "orrery.gateway.cli.simulate:command",
            role="guest",
        ),
        Command(
            "gateway cloud",
            "Make, watch and remove what starts the gateway's machine after a shutdown.",
            "orrery.gateway.cli.cloud:group",
            role="cloud",
        ),
        Command(
            "gateway start",
            "Start the gateway's machine, as the runbook in the cloud does.",
            "orrery.gateway.cli.start:command",
            role="cloud",
        ),
        Command(
            "gateway timeline",
            "List the gateway's outages, or show one step by step, with the layer that ended it.",
            "orrery.gateway.cli.timeline:command",
            role="cloud",
        ),
    ),
    provides=("orrery.gateway.ping_log:PingLogs",),
    build="orrery.gateway.build:build",
)
