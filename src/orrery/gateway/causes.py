"""What a ping means: the cause and the fix, for what only the gateway's machine can see (spec 3, Errors).

The site names them from the last ping, and the guest from what it sees itself. Standard library only.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

CREDENTIALS = 243
"""The status of a main process that systemd could not give its credentials (systemd.exec, EXIT_CREDENTIALS)."""

CHAIN_BROKEN_AFTER = timedelta(minutes=30)
"""How long credentials may be missing on a running machine until their chain counts as broken (spec 3, Errors)."""

WEBHOOK_WARNED_BEFORE = timedelta(days=60)
"""How long before its end the cloud's webhook is to be replaced: no update extends it."""

Kind = Literal[
    "good",
    "slow",
    "paused",
    "missing",
    "masked",
    "hanging",
    "tunnel",
    "probe",
    "credentials",
    "budget",
    "starting",
    "overdue",
    "stopping",
    "stopped",
    "failed",
]
"""What is known of the gateway; the first three are good."""

PASSING: frozenset[Kind] = frozenset({"starting", "stopping"})
"""States between two attempts: the trouble from before lasts meanwhile."""

_VERIFY = "`orrery gateway guest verify --unit UNIT` on the gateway's machine"
_SERVER_ERRORS = range(500, 600)


@dataclass(frozen=True, slots=True)
class Ping:
    """The state of the gateway's unit in systemd's words, and what its probe was answered.

    `state` is `ActiveState`, or `masked`, `missing` or `paused` (the operator paused the recovery). `probe` is the
    HTTP status, `none` without an answer, `ok` or `failed` for a command, and empty without a probe.
    `active_seconds` is None unless the unit is active. `judgement` is what the guest makes of it, by
    the patience that it knows: `starting`, `slow`, `hanging`, `dead` and others; empty of an earlier guest.
    """

    state: str
    probe: str = ""
    sub_state: str = ""
    result: str = ""
    exec_main_status: int = 0
    active_seconds: int | None = None
    restarts: int = 0
    judgement: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the gateway works, or is down because its operator wants it so."""
        return kind_of(self) in {"good", "slow", "paused"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause and what to do about it, each in a sentence; both are empty when there is no trouble."""

    cause: str = ""
    fix: str = ""


UNKNOWN = Diagnosis(
    "Whether the gateway works is unknown: there is no ping.",
    f"See whether the machine runs and reaches this site; {_VERIFY} names what is wrong.",
)
"""The diagnosis without a ping: only the machine itself can distinguish these errors."""


def is_dead(probe: str) -> bool:
    """Return whether a probe found the gateway dead: no answer, a failed command, or a server error."""
    return probe in {"none", "failed"} or (probe.isdecimal() and int(probe) in _SERVER_ERRORS)


def kind_of(ping: Ping) -> Kind:
    """Return the kind of a ping."""
    if ping.state in {"active", "reloading"}:
        return _kind_of_active(ping.probe, ping.judgement)
    if kind := _OF_STATE.get(ping.state):
        return kind
    if ping.exec_main_status == CREDENTIALS:
        return "credentials"
    if ping.result == "start-limit-hit":
        return "budget"
    return _kind_of_inactive(ping)


def _kind_of_active(probe: str, judgement: str) -> Kind:
    if not is_dead(probe):
        return "slow" if judgement == "slow" else "good"
    if judgement == "starting":
        return "starting"
    if judgement == "dead" and probe == "none":
        return "probe"
    return _DEAD.get(probe, "probe")


def _kind_of_inactive(ping: Ping) -> Kind:
    if ping.state == "inactive" and ping.result in {"", "success"}:
        return "stopped"
    if ping.state == "activating" and ping.judgement == "hanging":
        return "overdue"
    return _ON_THE_WAY.get(ping.state, "failed")


_OF_STATE: dict[str, Kind] = {"paused": "paused", "missing": "missing", "masked": "masked"}
_DEAD: dict[str, Kind] = {"none": "hanging", "502": "tunnel"}
_ON_THE_WAY: dict[str, Kind] = {"activating": "starting", "deactivating": "stopping"}


def diagnosis(ping: Ping | None, lasts: timedelta = timedelta(0), token_script: str = "") -> Diagnosis:
    """Return the cause and the fix; `lasts` is how long the same trouble has been reported by a running machine.

    `token_script` is the path of the script that fetches the gateway's token, if it is known.
    """
    if ping is None:
        return UNKNOWN
    kind = kind_of(ping)
    if kind == "credentials":
        return _credentials(lasts, token_script)
    if kind == "tunnel":
        cause = f"The tunnel works and the gateway behind it does not: it answers {ping.probe}."
        return Diagnosis(cause, "Wait: the guest restarts the gateway (layer 3).")
    if kind == "probe":
        return Diagnosis(f"The service runs, and its probe finds it dead ({ping.probe}).", _RESTARTED)
    if kind == "failed":
        how = ", ".join(part for part in (ping.result, f"status {ping.exec_main_status}") if part)
        return Diagnosis(f"The service failed ({how}).", _RESTARTED)
    return _DIAGNOSES[kind]


def _credentials(lasts: timedelta, token_script: str) -> Diagnosis:
    if lasts > CHAIN_BROKEN_AFTER:
        minutes = lasts // timedelta(minutes=1)
        script = f"the token fetch script {token_script}" if token_script else "the token fetch script"
        return Diagnosis(
            f"The credential chain is broken: the machine runs, and its credentials are missing for {minutes} min "
            "(243/CREDENTIALS).",
            f"Inspect {script}, and the identity assignment of the machine.",
        )
    return Diagnosis(
        "The credentials are not ready, as happens after a boot (243/CREDENTIALS).",
        "Wait: systemd tries again each minute (layer 2), and the guest once they can be read (layer 3).",
    )


_RESTARTED = f"Wait: the guest restarts it (layer 3). If it fails again, look at its log, and type {_VERIFY}."

_DIAGNOSES: dict[Kind, Diagnosis] = {
    "good": Diagnosis(),
    "slow": Diagnosis(),
    "paused": Diagnosis(),
    "missing": Diagnosis(
        "There is no such unit on the gateway's machine.", f"Correct --unit, then type {_VERIFY}."
    ),
    "masked": Diagnosis(
        "The unit is masked: nothing can start it.", "Type `systemctl unmask UNIT` on the gateway's machine."
    ),
    "hanging": Diagnosis(
        "The service runs and does not answer: it hangs.", "Wait: the guest restarts the gateway (layer 3)."
    ),
    "budget": Diagnosis(
        "The start budget is exhausted (start-limit-hit): systemd refuses to start the service.",
        "Wait: the guest clears that and starts it (layer 3). By hand: `systemctl reset-failed UNIT`, then start.",
    ),
    "starting": Diagnosis(
        "The service is starting, or waits for its automatic restart.", "Wait for a few minutes."
    ),
    "overdue": Diagnosis(
        "The service hangs while it starts, or takes longer than it may.",
        "Look at its log. The guest leaves that start to systemd; by hand, type `systemctl restart UNIT`. If the "
        "service usually takes so long, install the guest with a longer --start-within.",
    ),
    "stopping": Diagnosis("The service is stopping.", "Wait for a few minutes."),
    "stopped": Diagnosis(
        "The service was stopped by hand, or ended by itself without an error.",
        "If you stopped it, type `sudo orrery gateway guest pause --unit UNIT --for 2h` on its machine: else "
        "the guest starts it (layer 3).",
    ),
}
