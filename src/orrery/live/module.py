"""The live counter as a module."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "live",
    sections=(
        Named("live", "orrery.live.settings:LiveSettings"),
        Named("monitor", "orrery.live.settings:MonitorSettings"),
    ),
    secrets=(
        Named("admin_password_hash", "orrery.live.secrets:PASSWORD_HASH"),
        Named("analytics_service_account_key", "orrery.live.secrets:SERVICE_ACCOUNT_KEY"),
        Named("tracker_token", "orrery.live.secrets:TRACKER_TOKEN"),
    ),
    ports=(
        "orrery.ports.analytics:Analytics",
        "orrery.ports.counter:Counter",
        "orrery.ports.tracker:Tracker",
    ),
    needs=("orrery.edge.auth:GuessLimiter",),
    provides=("orrery.live.build:LiveDomain",),
    prefixes=("realtime:", "guided:"),
    commands=(
        Command("live", "Refresh, check and schedule the live visitor counter.", "orrery.live.cli.live:group"),
    ),
    build="orrery.live.build:build",
)
