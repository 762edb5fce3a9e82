"""A module of the role guest: it has no settings, no secrets and no services."""

from orrery.runtime.module import Command, Module

MODULE = Module(
    "caller",
    roles=frozenset({"guest"}),
    commands=(Command("caller", "Call from a guest machine.", "orrery.caller.cli.caller:call", role="guest"),),
)
