"""The drill: breaks the gateway's service on its host, and measures how its recovery notices and repairs that."""

import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from orrery.errors import Invalid
from orrery.gateway.guest.comparison import file_change
from orrery.gateway.guest.drill_report import DrillReport, Fault, Trial, parsed, rendered
from orrery.gateway.guest.errors import GuestFailed
from orrery.gateway.guest.examination import clock_of, progress
from orrery.gateway.guest.files import HostFile, conf_path, host_files
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.installation import installed_options, restart_watch
from orrery.gateway.guest.options import Options, rendered_options
from orrery.gateway.guest.patience import ASSUMED, Proposal, start_proposal
from orrery.gateway.guest.unit_name import UnitName

LONGEST_TRIAL = 300.0
"""Seconds after which a fault counts as not recovered, beside those that the service may take to start."""

_PAUSE = 0.05
_STARTS = 40
"""More starts than the budget has."""

_PAUSED, _RENEWED_AFTER = "3m", 30.0
"""How long the recovery is paused at a time, and the seconds until it is paused again: a drill that is killed
leaves the unit stopped until the pause ends. A stop and a start come between, which have a minute each."""

_BREAKS: Mapping[Fault, tuple[str, str]] = {
    "stop": ("stop", "--no-block"),
    "crash": ("kill", "--signal=KILL"),
    "hang": ("kill", "--signal=STOP"),
}
"""How each fault but the exhausted budget is made."""

_ENDINGS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Drill:
    """A drill on a host, of a unit whose recovery is installed with these options."""

    host: Host
    unit: UnitName
    options: Options

    def trial(self, fault: Fault) -> Trial:
        """Make a fault, and return what was measured."""
        if fault == "hang" and not self.options.probe:
            return Trial(fault, skipped="without a probe no hang is noticed")
        until = f"{clock_of(self.host, self.unit) + int(self._longest) + 60}\n"
        self.host.write(HostFile(f"{self.unit.run_folder}/drill-until", until, 0o600))
        if fault == "crash":  # else one within a minute of another, as of the last drill, is left to systemd
            _ = self.host.remove(f"{self.unit.run_folder}/tried")
        # What a recovery of before does, or fails to do, is none of this fault.
        _ = self._awaited(self.host.uptime(), self._is_settled)
        before = self._state("ActiveEnterTimestampMonotonic")
        began = self._exhaust() if fault == "exhaust" else self._broken(*_BREAKS[fault])
        answered = self._awaited(began, lambda: self._answers_again(before))
        started = None if answered is None else began + answered - self._begun()
        noticed = self._noticed(began)
        if answered is not None:
            _ = self._awaited(began, self._is_settled)
        return Trial(fault, noticed, answered, started=started)

    def learn(self, trials: Sequence[Trial]) -> Proposal | None:
        """Keep how long a start may take, where no option has set it; return it."""
        measured = [trial.started for trial in trials if trial.started is not None]
        if self.options.start_within or not measured:
            return None
        found = start_proposal(measured)
        learnt = replace(self.options, start_within=str(found.seconds))
        with self.host.in_turn():
            self.host.write(HostFile(conf_path(self.unit), rendered_options(learnt)))
            restart_watch(self.host, self.unit)
        return found

    @contextmanager
    def restored(self) -> Generator[None]:
        """Leave the unit running and watched, whatever happens in the block.

        The terminal may be one that the gateway carries: its end ends the block, and does not reach the repair.
        """
        for ending in _ENDINGS:
            _ = signal.signal(ending, signal.default_int_handler)
        try:
            yield
        finally:
            for ending in _ENDINGS:
                _ = signal.signal(ending, signal.SIG_IGN)  # it may come once more, as from a shell
            _ = self._script("resume")
            with suppress(GuestFailed):  # it has ended
                _ = self.host.systemctl("kill", "--signal=CONT", "--", self.unit.unit)
            if self._state("ActiveState") not in {"active", "activating", "reloading"}:
                _ = self.host.systemctl("reset-failed", "--", self.unit.unit)
                _ = self.host.systemctl("restart", "--no-block", "--", self.unit.unit)
            for mark in (f"{self.unit.run_folder}/drill-until", *self._outages()):
                _ = self.host.remove(mark)

    def _outages(self) -> tuple[str, ...]:
        """Return where an outage that the drill has made is noted: a real one that follows is a new one."""
        return f"{self.unit.run_folder}/outage", f"{self.unit.state_folder}/outage"

    def _broken(self, *words: str) -> float:
        """Make a fault by one call of `systemctl`; return when it began."""
        began = self.host.uptime()
        _ = self.host.systemctl(*words, "--", self.unit.unit)
        return began

    def _exhaust(self) -> float:
        """Use up the budget of starts while the recovery is paused; the fault begins with the end of the pause."""
        paused_at = float("-inf")
        for _ in range(_STARTS):
            if self.host.uptime() - paused_at > _RENEWED_AFTER:
                paused_at = self.host.uptime()
                _ = self._script("pause", _PAUSED)
            if self._is_refused():
                break
        else:
            raise GuestFailed(f"{self.unit.unit} was started {_STARTS} times, and systemd did not refuse one.")
        began = self.host.uptime()
        _ = self._script("resume")
        return began

    def _is_refused(self) -> bool:
        """Stop the unit and have it started, which is not waited for; return whether systemd refused the start."""
        _ = self.host.systemctl("stop", "--no-block", "--", self.unit.unit)
        _ = self._awaited(self.host.uptime(), lambda: self._state("ActiveState") in {"inactive", "failed"})
        before = self._state("InactiveExitTimestampMonotonic")
        _ = self.host.systemctl("start", "--no-block", "--", self.unit.unit)

        def is_refused() -> bool:
            return self._state("Result") == "start-limit-hit"

        def is_taken() -> bool:
            return is_refused() or self._state("InactiveExitTimestampMonotonic") != before

        _ = self._awaited(self.host.uptime(), is_taken)
        return is_refused()

    def _awaited(self, began: float, look: Callable[[], bool]) -> float | None:
        """Return the seconds since `began` once `look` is true, or None when that takes too long."""
        while self.host.uptime() - began < self._longest:
            if look():
                return self.host.uptime() - began
            self.host.wait(_PAUSE)
        return None

    def _answers_again(self, before: str) -> bool:
        state = self.host.show(self.unit.unit, ["ActiveState", "ActiveEnterTimestampMonotonic"])
        if state.one("ActiveState") != "active" or state.one("ActiveEnterTimestampMonotonic") == before:
            return False
        return is_answering(self.host, self.unit, self.options)

    @property
    def _longest(self) -> float:
        return LONGEST_TRIAL + int(self.options.start_within or ASSUMED["start_within"])

    def _begun(self) -> float:
        """Return when the last start of the unit began, by `uptime`."""
        return self.host.uptime_at(int(self._state("InactiveExitTimestampMonotonic") or 0))

    def _noticed(self, began: float) -> float | None:
        """Return the seconds until the recovery began."""
        shown = self.host.show(self.unit.recover_service, ["ExecMainStartTimestampMonotonic"])
        at = self.host.uptime_at(int(shown.one("ExecMainStartTimestampMonotonic") or 0))
        return at - began if at >= began else None

    def _is_settled(self) -> bool:
        state = self.host.show(self.unit.recover_service, ["ActiveState"]).one("ActiveState")
        return state not in {"activating", "deactivating"}

    def _state(self, name: str) -> str:
        return self.host.show(self.unit.unit, [name]).one(name)

    def _script(self, *words: str) -> str:
        code, printed, complaint = self.host.run_script(f"{self.unit.script}-recover.sh", *words)
        if code:
            raise GuestFailed(f"{self.unit.script}-recover.sh {words[0]} failed ({code}): {complaint.strip()}")
        return printed


def ready_drill(host: Host, unit: UnitName) -> Drill:
    """Return a drill of a unit that is well; raise `Invalid` for one that is not, or is not watched."""
    options = installed_options(host, unit)
    for name in (unit.unit, unit.watch):
        state = host.show(name, ["ActiveState"]).one("ActiveState")
        if state != "active":
            raise Invalid(f"{name} is {state or 'unknown'}: a drill begins with a unit that runs and is watched.")
    if any(file_change(file, host.stored(file.path)).change != "same" for file in host_files(unit, options)):
        raise Invalid(
            f"The recovery of {unit.unit} is not as this release installs it: first type "
            f"`sudo orrery gateway guest install --unit {unit.unit}`."
        )
    if not is_answering(host, unit, options):
        raise Invalid(f"{unit.unit} does not answer its probe: a drill begins with a unit that does.")
    kept = progress(host, unit)
    if kept and kept.pause_left(clock_of(host, unit)):
        raise Invalid(
            f"The recovery of {unit.unit} is paused: end that first, with `orrery gateway guest resume`."
        )
    if kept and kept.outage_since is not None:
        raise Invalid(
            f"An outage of {unit.unit} was reported, and is over once it has answered for a minute: type the "
            "drill again then."
        )
    return Drill(host, unit, options)


def is_answering(host: Host, unit: UnitName, options: Options) -> bool:
    """Return whether the probe answers in time; without one, yes."""
    seconds = options.answer_within or str(ASSUMED["answer_within"])
    return host.run_script(f"{unit.script}-recover.sh", "probe", seconds)[0] == 0


def last_report(host: Host, unit: UnitName) -> DrillReport | None:
    """Return the report of the last drill that can be read."""
    for name in reversed(host.entries(f"{unit.state_folder}/drills") or []):
        if (text := host.text(f"{unit.state_folder}/drills/{name}")) and (report := parsed(text)):
            return report
    return None


def kept_report(host: Host, unit: UnitName, trials: Sequence[Trial]) -> DrillReport:
    """Keep the report of a drill, and return it."""
    at = host.wall_clock()
    report = DrillReport(at, unit.unit, tuple(trials))
    name = f"{unit.state_folder}/drills/{at:%Y-%m-%dT%H%M%SZ}.json"
    host.write(HostFile(name, rendered(report), 0o600))
    return report
