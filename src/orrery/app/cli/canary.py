"""The composition root of `orrery tenants canary`."""

from collections.abc import Sequence

from orrery.app.cli.plain import ended, group


def canary(arguments: Sequence[str]) -> int:
    """`orrery tenants canary`."""
    return group("tenants canary", "Tokens for documents that must never leave.", arguments)


def new(arguments: Sequence[str]) -> int:
    """`orrery tenants canary new`."""
    from orrery.scanner.cli.canary import new as command  # noqa: PLC0415  the group alone needs none of it

    return ended(lambda: command(arguments))
