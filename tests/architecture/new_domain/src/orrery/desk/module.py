"""A module of the role cockpit."""

from orrery.runtime.module import Command, Module, Named, Role

COCKPIT: frozenset[Role] = frozenset({"cockpit"})

MODULE = Module(
    "desk",
    roles=COCKPIT,
    sections=(Named("desk", "orrery.desk.settings:DeskSettings", COCKPIT),),
    secrets=(Named("desk_token", "orrery.desk.secrets:TOKEN", COCKPIT),),
    commands=(Command("desk", "Show the desk.", "orrery.desk.cli.desk:show", role="cockpit"),),
    provides=("orrery.desk.service:Desk",),
    build="orrery.desk.build:build",
)
