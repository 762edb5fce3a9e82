"""The name of the gateway's unit, and the names that are derived from it. Pure."""

import re
from dataclasses import dataclass

from orrery.errors import Invalid

LONGEST = 255
"""Bytes of a unit's name, and of a file's (systemd's UNIT_NAME_MAX, which counts the final null byte, is 256)."""

_SUFFIX = ".service"
_LONGEST_DERIVED = "-recover.service"
_OTHER_TYPES = ("automount", "device", "mount", "path", "scope", "slice", "socket", "swap", "target", "timer")
_LEGAL = re.compile(r"[A-Za-z0-9:_.\\@-]+")


@dataclass(frozen=True, slots=True)
class UnitName:
    """A service of systemd: `unit` is its whole name, `name` what the names of our files and units begin with."""

    unit: str

    @property
    def name(self) -> str:
        # With its @, `gw@eu-recover.service` would be an instance of `gw@.service`, and take its drop-ins.
        return self.unit.removesuffix(_SUFFIX).replace("@", "-")

    @property
    def drop_in_folder(self) -> str:
        return f"/etc/systemd/system/{self.unit}.d"

    @property
    def script(self) -> str:
        """What the paths of the scripts begin with."""
        return f"/usr/local/sbin/{self.name}"

    @property
    def state_folder(self) -> str:
        return f"/var/lib/{self.name}-recover"

    @property
    def run_folder(self) -> str:
        return f"/run/{self.name}-recover"

    @property
    def recover_service(self) -> str:
        return f"{self.name}-recover.service"

    @property
    def recover_tag(self) -> str:
        """What the guest's lines in the journal are found by."""
        return f"{self.name}-recover"

    @property
    def timer(self) -> str:
        return f"{self.name}-recover.timer"

    @property
    def watch(self) -> str:
        return f"{self.name}-watch.service"

    @property
    def alert(self) -> str:
        return f"{self.name}-alert.service"

    @property
    def own_units(self) -> tuple[str, ...]:
        return (self.timer, self.watch, self.recover_service, self.alert)


def unit_name(text: str) -> UnitName:
    """Return the unit that a text names, with or without `.service`; raise `Invalid` with the reason."""
    if not _LEGAL.fullmatch(text):
        raise Invalid(
            f"{text!r} is not the name of a unit: letters, digits and : _ . \\ @ - are allowed. "
            "`systemd-escape` writes any other text so."
        )
    kind = text.rpartition(".")[2]
    if kind in _OTHER_TYPES:
        raise Invalid(f"{text} is not a service but of type {kind}: name the gateway's service.")
    stem = text.removesuffix(_SUFFIX)
    if not stem or stem.startswith("@"):
        raise Invalid(f"{text} is not the name of a service: something must come before {text or 'it'}.")
    if stem.endswith("@") and stem.count("@") == 1:
        raise Invalid(f"{stem}.service is a template: name an instance of it, such as {stem}eu.service.")
    found = UnitName(stem + _SUFFIX)
    if len(found.name + _LONGEST_DERIVED) > LONGEST:
        most = LONGEST - len(_LONGEST_DERIVED)
        raise Invalid(f"The name of the unit is too long: at most {most} characters before .service.")
    return found
