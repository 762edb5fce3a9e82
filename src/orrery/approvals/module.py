"""Approvals as a module."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "approvals",
    sections=(Named("approvals", "orrery.approvals.settings:ApprovalSettings"),),
    ports=("orrery.ports.signatures:Signatures",),
    needs=("orrery.runtime.secret:SecretValues",),
    provides=("orrery.approvals.approvals:Approvals",),
    prefixes=("intent:", "approval:", "approval-log:", "approval-log-head"),
    commands=(
        Command(
            "approvals",
            "List, show and sign what waits for your approval; read and verify its log.",
            "orrery.approvals.cli.approvals:group",
            whole=True,
        ),
    ),
    build="orrery.approvals.build:build",
)
