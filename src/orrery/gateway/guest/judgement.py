"""What the scripts make of the gateway. They alone judge it and ask its probe: here they are only run.

They are this release's, with the options that are looked at, in their own folder: nothing must be installed.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from orrery.errors import Invalid
from orrery.gateway.guest.errors import GuestFailed
from orrery.gateway.guest.files import host_files
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.observed import Judgement
from orrery.gateway.guest.options import LONGEST_PATIENCE, Options
from orrery.gateway.guest.patience import DEFAULTS, READ, Proposal, proposals
from orrery.gateway.guest.unit_name import UnitName

ANSWERS = 10

ASKED_FOR = 60.0
"""Seconds after which no further answer is asked for."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """The scripts in a folder, and the host that they look at."""

    host: Host
    path: str

    def judgement(self) -> Judgement:
        code, printed, complaint = self.host.run_script(self.path, "judge")
        if code:
            raise GuestFailed(f"The unit cannot be judged: {' '.join(complaint.split())}")
        return Judgement(*printed.split("\n")[:3])

    def answer_took(self) -> float | None:
        """Ask the probe once; return the seconds until its answer, or None without one or for a dead service."""
        began = self.host.uptime()
        code, _, _ = self.host.run_script(self.path, "probe", str(LONGEST_PATIENCE["answer_within"]))
        return None if code else self.host.uptime() - began


@contextmanager
def _scripts(host: Host, unit: UnitName, options: Options) -> Generator[Scripts]:
    if options.runs_a_command and not host.is_root:
        options = replace(options, probe="")  # only root runs a command
    with TemporaryDirectory() as folder:
        for file in host_files(unit, options)[:3]:
            _ = Path(folder, Path(file.path).name).write_text(file.text)
        yield Scripts(host, f"{folder}/{unit.name}-recover.sh")


def judged(host: Host, unit: UnitName, options: Options) -> Judgement:
    """Return what the scripts make of the unit now."""
    with _scripts(host, unit, options) as scripts:
        return scripts.judgement()


def proposed(host: Host, unit: UnitName, options: Options) -> list[Proposal]:
    """Return what is proposed for the patience that the options leave open; the unit is not touched."""
    if host.root is not None or not (missing := [name for name in LONGEST_PATIENCE if not getattr(options, name)]):
        return []
    try:
        state, systemd = host.show(unit.unit, READ), host.show("", DEFAULTS)
    except (GuestFailed, Invalid):
        return []  # a plan can be made on any machine
    if state.one("LoadState") != "loaded":
        return []
    is_asked = "answer_within" in missing and options.probe and state.one("ActiveState") == "active"
    answers = _answers(host, unit, options) if is_asked else []
    found = proposals(state, systemd, answers, has_probe=bool(options.probe))
    return [one for one in found if one.option in missing]


def _answers(host: Host, unit: UnitName, options: Options) -> list[float]:
    """Return how long each of ten answers took; none when one did not come."""
    found: list[float] = []
    with _scripts(host, unit, options) as scripts:
        while len(found) < ANSWERS and sum(found) < ASKED_FOR:
            if (took := scripts.answer_took()) is None:
                return []
            found.append(took)
    return found
