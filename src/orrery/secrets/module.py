"""The watch over the secrets as a module."""

from orrery.runtime.module import Command, Module

MODULE = Module(
    "secrets",
    ports=("orrery.ports.running_service:RunningService",),
    needs=("orrery.runtime.nodes:Nodes", "orrery.secrets.check:ObservedSecrets"),
    provides=("orrery.secrets.check:SecretsCheck", "orrery.secrets.examination:Examination"),
    prefixes=("secret:", "secret-announced:"),
    commands=(
        Command(
            "secrets",
            "Check each secret; announce that one is about to change.",
            "orrery.secrets.cli.secrets:group",
            whole=True,
        ),
    ),
    build="orrery.secrets.build:build",
)
