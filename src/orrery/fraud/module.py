"""Fraud screening as a module."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "fraud",
    sections=(Named("fraud", "orrery.fraud.settings:FraudSettings"),),
    reads=("orrery.runtime.settings:ServerSettings",),
    ports=("orrery.ports.processor:ProcessorReads", "orrery.ports.processor:ProcessorWrites"),
    needs=("orrery.approvals.approvals:Approvals", "orrery.ports.seller:Seller"),
    provides=("orrery.fraud.build:FraudDomain",),
    prefixes=("fraud:",),
    commands=(
        Command(
            "fraud",
            "Look at clusters of declined payments; block and unblock with your approval.",
            "orrery.fraud.cli.fraud:group",
        ),
    ),
    build="orrery.fraud.build:build",
)
