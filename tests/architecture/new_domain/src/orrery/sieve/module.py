"""A module of the role scan: its commands are plain."""

from orrery.runtime.module import Command, Module

MODULE = Module(
    "sieve",
    roles=frozenset({"scan"}),
    commands=(Command("sieve", "Look through files.", "orrery.sieve.scan:run", role="scan", plain=True),),
)
