"""What each ping means, by the specification's table of errors (spec 3, Errors)."""

from datetime import timedelta

from orrery.gateway.causes import CHAIN_BROKEN_AFTER, Ping, diagnosis, kind_of
from tests.support.tables import each_case

SECOND = timedelta(seconds=1)
NO_CREDENTIALS = Ping("failed", "502", "failed", "exit-code", 243)


@each_case(
    "ping",
    [
        *(Ping("active", probe) for probe in ("200", "404", "", "ok")),
        *(
            Ping("active", "200", judgement=judgement)
            for judgement in ("good", "slow", "dead", "of-a-later-release")
        ),
        Ping("paused"),
    ],
)
def test_a_good_ping_has_no_cause(ping: Ping) -> None:
    """An active unit whose probe is not dead is well, and so is one whose operator paused the recovery."""
    assert ping.is_good
    assert diagnosis(ping).cause == ""


@each_case(
    ("ping", "kind", "cause", "fix"),
    [
        (Ping("active", "502"), "tunnel", "The tunnel works", "layer 3"),
        (Ping("reloading", "none"), "hanging", "it hangs", "layer 3"),
        (Ping("active", "failed"), "probe", "finds it dead (failed)", "layer 3"),
        (Ping("active", "500"), "probe", "finds it dead (500)", "layer 3"),
        (NO_CREDENTIALS, "credentials", "243/CREDENTIALS", "layer 2"),
        (Ping("activating", "502", "auto-restart", "exit-code", 243), "credentials", "not ready", "layer 2"),
        (Ping("failed", "502", "failed", "start-limit-hit"), "budget", "start-limit-hit", "reset-failed"),
        (Ping("inactive", "502", "dead", "success"), "stopped", "stopped by hand", "orrery gateway guest pause"),
        (Ping("failed", "502", "failed", "signal", 9), "failed", "(signal, status 9)", "its log"),
        (Ping("activating", "502", "auto-restart", "signal", 9), "starting", "automatic restart", "Wait"),
        (Ping("deactivating", "502"), "stopping", "stopping", "Wait"),
        (Ping("active", "none", judgement="hanging"), "hanging", "it hangs", "layer 3"),
        (Ping("active", "none", judgement="dead"), "probe", "finds it dead (none)", "layer 3"),
        (Ping("active", "502", judgement="dead"), "tunnel", "The tunnel works", "layer 3"),
        (Ping("active", "none", judgement="starting"), "starting", "starting", "Wait"),
        (Ping("activating", "", "start", judgement="starting"), "starting", "starting", "Wait"),
        (
            Ping("activating", "", "start", judgement="hanging"),
            "overdue",
            "hangs while it starts",
            "--start-within",
        ),
        (Ping("active", "502", judgement="good"), "tunnel", "The tunnel works", "layer 3"),
        (Ping("masked"), "masked", "masked", "systemctl unmask"),
        (Ping("missing"), "missing", "no such unit", "--unit"),
        (Ping("maintenance"), "failed", "failed", "its log"),
    ],
)
def test_a_bad_ping_names_cause_and_fix(ping: Ping, kind: str, cause: str, fix: str) -> None:
    """Each trouble that the machine reports has one cause and one fix."""
    assert (kind_of(ping), ping.is_good) == (kind, False)
    found = diagnosis(ping)
    assert cause in found.cause
    assert fix in found.fix


def test_credentials_that_stay_away_are_a_broken_chain() -> None:
    """After more than 30 minutes on a running machine the fetch script is named, and the identity assignment."""
    waiting = diagnosis(NO_CREDENTIALS, CHAIN_BROKEN_AFTER, "/opt/fetch")
    broken = diagnosis(NO_CREDENTIALS, CHAIN_BROKEN_AFTER + SECOND, "/opt/fetch")
    assert "not ready" in waiting.cause
    assert "credential chain is broken" in broken.cause
    assert "/opt/fetch" in broken.fix
    assert "identity assignment" in broken.fix


def test_without_a_ping_nothing_is_known() -> None:
    """These errors look alike from elsewhere."""
    assert "unknown" in diagnosis(None).cause
