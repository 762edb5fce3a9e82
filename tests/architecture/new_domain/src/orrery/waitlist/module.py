"""The waitlist as a module."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "waitlist",
    sections=(Named("waitlist", "orrery.waitlist.settings:WaitlistSettings"),),
    secrets=(Named("waitlist_token", "orrery.waitlist.secrets:TOKEN"),),
    commands=(
        Command("waitlist", "List the entries of the waitlist; add one.", "orrery.waitlist.cli.waitlist:group"),
        Command("waitlist count", "Count the addresses in a file.", "orrery.waitlist.cli.count:run", plain=True),
    ),
    reads=("orrery.runtime.settings:ServerSettings",),
    needs=("orrery.ports.seller:Seller",),
    provides=("orrery.waitlist.service:Waitlist",),
    prefixes=("waitlist-entry:", "waitlist-begun"),
    build="orrery.waitlist.build:build",
)
