"""What `verify` finds on a host, and what it names (spec 3, Errors)."""

from dataclasses import replace

import pytest

from orrery.gateway.guest.effective import shown_time
from orrery.gateway.guest.observed import HostTools, Judgement, Observed, RecoveryState, SecretFile, StoredFile
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.verify import verified
from tests.gateway.guest.guests import (
    DROP_IN,
    NOW,
    OPTIONS,
    OTHER,
    UNIT,
    faults,
    secret,
    whole,
    with_own,
    with_source,
    with_unit,
)
from tests.support.tables import each_case


def said(observed: Observed, options: Options = OPTIONS) -> str:
    """Return the one fault of a host, as part, why and what to do."""
    (finding,) = faults(observed, options)
    return f"{finding.part}: {finding.why} {finding.todo}"


def test_a_whole_host_has_no_fault() -> None:
    """Nothing is broken and nothing is off where everything is installed and set."""
    assert {finding.state for finding in verified(UNIT, OPTIONS, whole())} == {"ok"}


@each_case(("text", "shown"), [("1800", "30min"), ("60", "1min"), ("30s", "30s"), ("0", "0"), ("90", "1min 30s")])
def test_a_time_is_compared_as_systemd_shows_it(text: str, shown: str) -> None:
    """The times of our files are written in several ways."""
    assert shown_time(text) == shown


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ({"StartLimitBurst": "3"}, "StartLimitBurst=3"),
        ({"StartLimitIntervalUSec": "10s"}, "StartLimitIntervalSec=10"),
        ({"StartLimitIntervalUSec": "10s"}, "StartLimitInterval=10"),
    ],
)
def test_a_hostile_drop_in_is_named_with_its_line(shown: dict[str, str], line: str) -> None:
    """A later drop-in that overrides a value is named, with what to do about it."""
    found = said(with_source(with_unit(whole(), **shown), f"[Unit]\n\n{line}\n"))
    assert f"Other files set it: {OTHER}, line 3 ({line})." in found
    assert "Remove what overrides it, then type: systemctl daemon-reload" in found


def test_a_missing_failure_hook_is_blamed_on_no_other_hook() -> None:
    """systemd adds hooks up, so that only a drop-in of ours that is not read can be why."""
    shown = with_source(with_unit(whole(), OnFailure="page.service"), "[Unit]\nOnFailure=page.service\n")
    assert f"OnFailure is page.service instead of gateway-alert.service: systemd does not use {DROP_IN}." in said(
        shown
    )


def test_a_drop_in_that_changes_nothing_is_no_fault() -> None:
    """Other settings, the same value, and a further failure hook are the operator's own affair."""
    text = "[Unit]\nOnFailure=page.service\nStartLimitBurst=20\n[Service]\nMemoryMax=1G\n"
    assert faults(with_source(whole(), text)) == []


def test_a_burst_in_the_wrong_section_is_named() -> None:
    """systemd reads it in [Service] too; a line without an effect is no fault."""
    text = "[Service]\nStartLimitBurst=5\nStartLimitIntervalSec=300\n"
    assert f"StartLimitBurst is 5 instead of 20. Other files set it: {OTHER}, line 2 (StartLimitBurst=5)." in said(
        with_source(with_unit(whole(), StartLimitBurst="5"), text)
    )


def test_an_edit_that_systemd_has_not_read_is_named() -> None:
    """Old values that will be gone with a reload are no second fault."""
    stale = with_unit(whole(), NeedDaemonReload="yes", StartLimitBurst="5", RestartUSec="15s")
    stale = replace(stale, unit=replace(stale.unit, unread=(OTHER,)))
    assert f"systemd has not read them since: {OTHER}. Type: systemctl daemon-reload" in said(stale)


@pytest.mark.parametrize(("state", "option"), [("masked", ""), ("masked-runtime", " --runtime")])
def test_a_mask_is_named_with_its_file(state: str, option: str) -> None:
    """The unit that is masked, by which file, and how that ends."""
    shown = {"LoadState": "masked", "UnitFileState": state, "FragmentPath": "/run/systemd/system/x"}
    assert said(with_own(whole(), UNIT.timer, **shown)) == (
        f"{UNIT.timer}: It is masked by /run/systemd/system/x: nothing can start it. "
        f"Type: systemctl unmask{option} {UNIT.timer}"
    )


def test_a_unit_that_is_gone_is_named() -> None:
    """Of ours the installation is repeated; the gateway's own is for its operator to look at."""
    assert "Install again." in said(with_own(whole(), UNIT.alert, LoadState="not-found"))
    gone = faults(with_unit(whole(), LoadState="not-found", ActiveState="inactive"))
    assert [(one.part, one.todo) for one in gone if one.part == UNIT.unit] == [
        (UNIT.unit, f"See why: systemctl status {UNIT.unit}")
    ]


@each_case(
    ("shown", "what"),
    [
        ({"UnitFileState": "disabled"}, "It is disabled"),
        ({"UnitFileState": "enabled-runtime"}, "It is enabled-runtime"),
        ({"ActiveState": "inactive"}, "It is inactive. Type: systemctl start"),
        ({"ActiveState": "failed"}, "It is failed. Type: systemctl start"),
    ],
)
@each_case("name", [UNIT.timer, UNIT.watch])
def test_timer_and_watch_must_run(name: str, shown: dict[str, str], what: str) -> None:
    """Each must be active, and enabled so that it lasts through a reboot."""
    assert f"{name}: {what}" in said(with_own(whole(), name, **shown))


@each_case(
    ("name", "shown", "what"),
    [
        (UNIT.recover_service, {"TimeoutStartUSec": "infinity"}, "TimeoutStartSec is infinity instead of 14min"),
        (UNIT.recover_service, {"Type": "simple"}, "Type is simple instead of oneshot"),
        (UNIT.timer, {"AccuracyUSec": "1min"}, "AccuracySec is 1min instead of 1s"),
        (UNIT.timer, {"TimersMonotonic": "{ OnBootUSec=30s ; next_elapse=0 }"}, "OnUnitActiveSec is missing"),
        (UNIT.watch, {"ExecStart": "{ path=/bin/true ; argv[]=/bin/true ; }"}, "ExecStart is another instead of"),
        (UNIT.recover_service, {"ActiveState": "failed", "Result": "timeout"}, "Its last run failed (timeout)"),
    ],
)
def test_our_own_units_are_judged_too(name: str, shown: dict[str, str], what: str) -> None:
    """What the recovery, the timer and the watch need of systemd is compared with what systemd shows."""
    assert f"{name}: {what}" in said(with_own(whole(), name, **shown))


@pytest.mark.parametrize("name", ["RefuseManualStart", "RefuseManualStop"])
def test_a_unit_that_refuses_to_be_started_by_hand_is_named(name: str) -> None:
    """systemd would refuse the recovery."""
    assert f"{name}=yes: systemd refuses to restart it" in said(with_unit(whole(), **{name: "yes"}))


def test_a_watch_that_runs_older_files_is_named() -> None:
    """As after an installation that was killed before the watch was started anew."""
    assert f"systemctl restart {UNIT.watch}" in said(replace(whole(), stale_watch=True))


@pytest.mark.parametrize(
    ("stored", "what"),
    [
        (None, "is missing"),
        (StoredFile(b"exit 0\n", 0o644, is_roots=True), "is not as installed"),
        (StoredFile(b"", 0o777, is_roots=True, is_link=True), "a link"),
    ],
)
def test_an_altered_file_is_named(stored: StoredFile | None, what: str) -> None:
    """Content and kind of each file are compared."""
    observed = whole()
    (file, _), *others = observed.files
    found = said(replace(observed, files=((file, stored), *others)))
    assert file.path in found
    assert what in found


@pytest.mark.parametrize(
    ("changed", "what"), [({"mode": 0o666}, "mode 0666 -> 0644"), ({"is_roots": False}, "owner -> root:root")]
)
def test_mode_and_owner_of_a_file_count(changed: dict[str, int], what: str) -> None:
    """Root runs these scripts: nobody else may write them."""
    observed = whole()
    (file, stored), *others = observed.files
    assert stored is not None
    assert what in said(replace(observed, files=((file, replace(stored, **changed)), *others)))


def test_what_is_off_is_named() -> None:
    """Without probe, push and ping each says what is missed and which option turns it on."""
    findings = {one.part: one for one in verified(UNIT, Options(UNIT.unit), whole()) if one.state == "off"}
    assert {part: one.todo for part, one in findings.items()} == {
        "probe": "Install with --probe URL or --probe COMMAND.",
        "push": "Install with --push URL --topic-file FILE.",
        "ping": "Install with --ping URL --ping-token-file FILE.",
        "patience": f"While it runs, type: sudo orrery gateway guest install --unit {UNIT.unit}",
    }


@pytest.mark.parametrize(
    ("file", "what"),
    [
        (SecretFile(OPTIONS.topic_file, exists=False), "is missing"),
        (secret(OPTIONS.topic_file, filled=False), "is empty"),
        (secret(OPTIONS.topic_file, 0o640), "can be read by others (mode 0640)"),
        (replace(secret(OPTIONS.topic_file), is_roots=False), "does not belong to root"),
    ],
)
def test_a_secret_file_that_cannot_be_used_is_named(file: SecretFile, what: str) -> None:
    """Each fault has what to type against it."""
    observed = whole()
    assert f"push: {file.path} {what}" in said(replace(observed, secrets={**observed.secrets, file.path: file}))


@pytest.mark.parametrize(
    ("tools", "what"),
    [
        (HostTools(curl=False, wget=""), "neither curl nor wget"),
        (HostTools(curl=False, wget="busybox"), "does not verify certificates"),
        (HostTools(curl=True, wget="", missing=("flock",)), "There is no flock."),
    ],
)
def test_missing_programs_are_named(tools: HostTools, what: str) -> None:
    """What the scripts need, and what a poor one of them gives away."""
    assert what in said(replace(whole(), tools=tools))


@pytest.mark.parametrize(
    ("progress", "what"),
    [
        (
            RecoveryState(fires=(NOW - 4000, NOW - 60, NOW - 30, NOW - 1), flap_since=NOW - 1),
            "It flaps: 3 in the last",
        ),
        (
            RecoveryState(outage_since=NOW - 601),
            "It was reported 11 min ago, and is over once the service has answered for a minute.",
        ),
        (RecoveryState(waiting_pushes=2), "2 wait: the server has not accepted them."),
        (RecoveryState(ping_refusal="error: 401"), "pings: The last one was not accepted: error: 401."),
    ],
)
def test_what_the_recovery_has_noted_is_told(progress: RecoveryState, what: str) -> None:
    """A flap, an outage and pushes that wait are faults."""
    assert what in said(replace(whole(), progress=progress))


def test_a_paused_unit_that_is_stopped_is_no_fault() -> None:
    """The operator wants it so; how long it lasts is said."""
    stopped = with_unit(whole(), ActiveState="inactive", SubState="dead")
    observed = replace(stopped, progress=RecoveryState(paused_until=NOW + 7200))
    findings = {one.part: one for one in verified(UNIT, OPTIONS, observed)}
    assert (findings["gateway"].state, findings["pause"].state) == ("off", "off")
    assert "120 min more" in findings["pause"].why


@pytest.mark.parametrize("until", [NOW - 1, NOW + 604801])
def test_a_pause_that_is_over_or_far_off_is_none(until: int) -> None:
    """A clock that was put back makes no pause of years."""
    stopped = with_unit(whole(), ActiveState="inactive", SubState="dead")
    assert "was stopped by hand" in said(replace(stopped, progress=RecoveryState(paused_until=until)))


def test_without_root_the_rest_is_judged() -> None:
    """What only root may read is named as such, and is no fault."""
    observed = replace(whole(), is_root=False, progress=None)
    files = {path: secret(path, filled=None) for path in observed.secrets}
    findings = verified(UNIT, OPTIONS, replace(observed, secrets=files))
    assert [one.part for one in findings if "without root" in one.why] == ["push", "ping", "recoveries"]
    assert not [one for one in findings if one.state == "broken"]


WAITING = {"ActiveState": "activating", "SubState": "auto-restart", "Result": "exit-code", "ExecMainStatus": "243"}


def test_missing_credentials_after_a_boot() -> None:
    """243/CREDENTIALS is named, and that systemd tries again (spec 3, Errors, first row)."""
    found = said(replace(with_unit(whole(), **WAITING), up_seconds=100))
    assert "The credentials are not ready, as happens after a boot (243/CREDENTIALS)." in found


@pytest.mark.parametrize(
    ("shown", "outage_since"),
    [({"ActiveExitTimestampMonotonic": "0"}, None), ({"ActiveExitTimestampMonotonic": "99990000000"}, NOW - 1860)],
)
def test_a_broken_credential_chain_names_the_token_script(shown: dict[str, str], outage_since: int | None) -> None:
    """After 30 minutes on a running machine it is the chain; each try of a simple service counts as active."""
    observed = replace(with_unit(whole(), **WAITING, **shown), progress=RecoveryState(outage_since=outage_since))
    (gateway,) = [one for one in faults(observed) if one.part == "gateway"]
    assert gateway.why.startswith("The credential chain is broken")
    assert gateway.todo.startswith("Inspect the token fetch script /usr/local/bin/fetch-token")


def test_a_tunnel_that_answers_502_is_told_from_a_dead_one() -> None:
    """The gateway is dead while the tunnel is healthy (spec 3, Errors, last row)."""
    assert "The tunnel works and the gateway behind it does not: it answers 502." in said(
        replace(whole(), judgement=Judgement("dead", "502"))
    )


def test_a_service_that_is_slow_is_told_and_no_fault() -> None:
    """It answers: how late, and which option says that this is well."""
    found = verified(UNIT, OPTIONS, replace(whole(), judgement=Judgement("slow", "200", "it answers, but late")))[
        0
    ]
    assert found.state == "ok"
    assert "active and slow: it answers, but late, probe: 200" in found.why
    assert "--answer-within" in found.todo


def test_a_service_that_starts_is_not_there_yet() -> None:
    """That is no fault within its patience, and the next step is said; later it hangs."""
    starting = with_unit(whole(), ActiveState="activating", SubState="start")
    found = verified(
        UNIT, OPTIONS, replace(starting, judgement=Judgement("starting", "", "it has been starting"))
    )[0]
    assert (found.state, found.todo) == (
        "off",
        f"Wait, then type: sudo orrery gateway guest verify --unit {UNIT.unit}",
    )
    assert "hangs while it starts" in said(replace(starting, judgement=Judgement("hanging")))


@pytest.mark.parametrize(
    ("unknown", "todo"),
    [
        ((), ""),
        (("start_within",), "While it runs, type: sudo orrery gateway drill --unit gateway.service"),
        (("answer_within",), "While it runs, type: sudo orrery gateway guest install --unit gateway.service"),
        (
            ("start_within", "answer_within", "stop_within"),
            "While it runs, type: sudo orrery gateway guest install --unit gateway.service",
        ),
    ],
)
def test_a_patience_that_is_not_known_says_what_measures_it(unknown: tuple[str, ...], todo: str) -> None:
    """As after an installation of an earlier release; what is taken meanwhile is said."""
    options = replace(OPTIONS, **dict.fromkeys(unknown, ""))
    (found,) = [one for one in verified(UNIT, options, whole()) if one.part == "patience"]
    assert (found.state, found.todo) == ("off" if unknown else "ok", todo)
    (unprobed,) = [one for one in verified(UNIT, replace(options, probe=""), whole()) if one.part == "patience"]
    assert "--answer-within" not in unprobed.why.partition(";")[2]
    assert f"--start-within {'90' if 'start_within' in unknown else '120'}s" in found.why


def test_a_refusal_of_pings_that_are_off_is_over() -> None:
    """What the site answered before the pings were turned off is no fault."""
    options = replace(OPTIONS, ping="", ping_token_file="")
    observed = replace(whole(), progress=RecoveryState(ping_refusal="error: 401"))
    assert [finding for finding in faults(observed, options) if finding.part == "pings"] == []


def test_advice_names_the_unit() -> None:
    """It is typed as it stands there."""
    observed = with_unit(whole(), ActiveState="failed", Result="start-limit-hit")
    assert "systemctl reset-failed gateway.service" in said(observed)
