"""The account at the processor as a module."""

from orrery.runtime.module import Command, Module

MODULE = Module(
    "account",
    reads=("processor_api_key",),
    ports=(
        "orrery.ports.processor:Processor",
        "orrery.ports.processor:ProcessorReads",
        "orrery.ports.processor:ProcessorWrites",
    ),
    needs=("orrery.approvals.approvals:Approvals", "orrery.ports.sessions:SessionFinder"),
    provides=("orrery.account.account:AccountDesk", "orrery.account.session:SessionLookup"),
    commands=(
        Command(
            "processor",
            "Look at the payment processor; change its account with your signature.",
            "orrery.account.cli.processor:group",
        ),
    ),
    build="orrery.account.build:build",
)
