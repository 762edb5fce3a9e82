"""Nothing that is stored can forge what the owner reads before signing, or in the log (decision 15)."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import JsonValue

from orrery.approvals.approvals import KnownIntent
from orrery.approvals.audit import AuditResult, PushedHead
from orrery.approvals.chain import LogEntry
from orrery.approvals.cli.approval_pages import changes, intent_row, log_row, print_intent, print_outcome, verdict
from orrery.approvals.progress import IntentProgress, TargetUse
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.terminal import visible
from orrery.runtime.operations import Intent
from tests.support.clock import START
from tests.support.tables import each_case

HOSTILE = "a\x1b[2J\r\nDone. \u202e\x9b[bold]b[/bold]\u200b"
"""Clears a screen, begins a line, turns text round, hides."""

INTENT = Intent(
    id="in-0123456789ab",
    operation="block-entries",
    target=HOSTILE,
    body={"entries": [{"value": HOSTILE}], HOSTILE: None},
    before={"listed": HOSTILE},
    summary=HOSTILE,
    reason=HOSTILE,
    deployment="here",
    proposed_by="owner",
    proposed_at=START,
)
PROGRESS = IntentProgress(
    intent_id=INTENT.id,
    digest=INTENT.digest(),
    changed_at=START,
    note=HOSTILE,
    state="failed",
    uses={HOSTILE: TargetUse(state="done", changed_at=START, note=HOSTILE)},
)
ENTRY = LogEntry(
    number=1, at=START, kind="failed", intent_id=INTENT.id, operation=HOSTILE, digest=INTENT.digest(), note=HOSTILE
)
HELD = AuditResult(3, "3:0123456789abcdef", None, (), "", (), (), None)


def see_plain(text: str) -> None:
    """See that a text holds nothing that steers a terminal or hides, and that rich took none of it for markup."""
    assert "b" in text
    assert [one for one in text if not one.isprintable() and one != "\n"] == []
    assert not any(line.lstrip().startswith("Done. ") for line in text.splitlines())
    assert "[bold]b[/bold]" in text


def proposal(progress: IntentProgress) -> KnownIntent:
    """Return the intent, which has come so far."""
    return KnownIntent(INTENT, progress, is_void=False)


def test_what_is_shown_before_the_signature(capsys: pytest.CaptureFixture[str]) -> None:
    """Every field of an intent, and of how far it has come, is shown as what it is."""
    print_intent(proposal(PROGRESS), START)
    print_outcome(PROGRESS)
    out = capsys.readouterr().out
    see_plain(out)
    assert out.count("[bold]") == 12


def test_it_goes_to_standard_error_before_signing(capsys: pytest.CaptureFixture[str]) -> None:
    """What is about to be signed is shown apart from the command's output."""
    print_intent(proposal(PROGRESS), START, for_signing=True)
    said = capsys.readouterr()
    assert said.out == ""
    see_plain(said.err)


@pytest.mark.parametrize("as_json", [True, False])
def test_list_and_log(capsys: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    """List and log have one line a row, whatever is in it, and their JSON is the same values."""
    found = proposal(PROGRESS)
    show([intent_row(found, START)], ("id", "summary"), as_json=as_json, empty="")
    show([log_row(ENTRY, {INTENT.id: found})], ("operation", "reason", "note"), as_json=as_json, empty="")
    out = capsys.readouterr().out
    see_plain(out)
    assert as_json or len(out.splitlines()) == 4


def test_json_keeps_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    """What is escaped in JSON is the same when it is read."""
    show_json([HOSTILE, "Größe 🎓"])
    out = capsys.readouterr().out
    assert json.loads(out) == [HOSTILE, "Größe 🎓"]
    assert "Größe 🎓" in out


def test_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence for the owner may have several lines, and nothing else that steers."""
    note(f"one\ntwo \x1b[2J{HOSTILE.replace(chr(10), '')}")
    said = capsys.readouterr().err
    see_plain(said)
    assert len(said.splitlines()) == 2


@each_case(
    ("text", "seen"),
    [
        ("plain Größe 🎓", "plain Größe 🎓"),
        ("\x1b", r"\x1b"),
        ("\u202e", r"\u202e"),
        ("\n", r"\n"),
        ("\udc80", r"\udc80"),
    ],
)
def test_visible(text: str, seen: str) -> None:
    """What steers or hides is spelled out, and everything else stays."""
    assert visible(text) == seen


def test_what_is_sent_beside_what_stood_there() -> None:
    """Each value is marked: sent anew, in another's place, as it stands, or only seen."""
    body: dict[str, JsonValue] = {"same": 1, "new": True, "changed": {"a": [1, "two"]}, "empty": {}}
    before: dict[str, JsonValue] = {"same": 1, "changed": {"a": [1, "one"]}, "seen": None}
    assert list(changes(body, before)) == [
        "  same: 1 (sent unchanged)",
        "+ new: true",
        "  changed.a[0]: 1 (sent unchanged)",
        '- changed.a[1]: "one"',
        '+ changed.a[1]: "two"',
        "+ empty: {}",
        "  seen: null (as seen then; not sent)",
    ]
    assert list(changes({}, {})) == ["  nothing but the target"]


def test_how_to_sign(capsys: pytest.CaptureFixture[str]) -> None:
    """What waits tells how to sign it, here and elsewhere; what is over does not."""
    waiting = PROGRESS.model_copy(update={"state": "proposed", "uses": {}})
    print_intent(proposal(waiting), START)
    out = capsys.readouterr().out
    assert f"orrery approvals sign {INTENT.id}\n" in out
    assert "ssh-keygen -Y sign -n orrery-approval -f KEY approval\n" in out
    print_intent(proposal(PROGRESS), START)
    assert "orrery approvals sign" not in capsys.readouterr().out


def test_unknown_tells_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """An outcome that is not known tells how to find out."""
    print_outcome(PROGRESS.model_copy(update={"state": "unknown"}))
    assert f"orrery approvals settle {INTENT.id}" in capsys.readouterr().out
    found = proposal(PROGRESS.model_copy(update={"state": "started"}))
    assert intent_row(found, START + timedelta(minutes=1))["state"] == "under way"
    assert intent_row(found, START + timedelta(minutes=3))["state"] == "unknown"


def test_log_rows_of_what_is_gone() -> None:
    """An entry that cannot be read, or whose intent is gone or altered, says so and gives no reason."""
    assert log_row(None, {}) == {"kind": "cannot be read"}
    other = INTENT.model_copy(update={"target": "other"})
    for known in ({}, {INTENT.id: KnownIntent(other, PROGRESS, is_void=True)}):
        assert log_row(ENTRY, known)["reason"] == "(the intent is gone or altered)"
    assert log_row(ENTRY, {}, {INTENT.id})["reason"] == "(erased)"


@each_case(
    ("verified", "head", "said"),
    [
        (HELD, None, "3 entries: each follows the one before, and signatures and intents agree with it."),
        (AuditResult(0, "", None, (), "", (), (), None), None, "The log is empty."),
        (AuditResult(3, "3:0", 2, (), "", (), (), None), None, "does not hold from entry 2 on"),
        (AuditResult(3, "3:0", None, (2,), "", (), (), None), None, "Without the owner's signature: entry 2."),
        (AuditResult(3, "3:0", None, (), "No tool.", (), (), None), None, "were not checked: No tool."),
        (AuditResult(3, "3:0", None, (), "", (HOSTILE,), (), None), None, r"Not as in the log: a\x1b[2J"),
        (AuditResult(3, "3:0", None, (), "", (), ("in-1",), None), None, "gone or not to be read: in-1."),
        (replace(HELD, repeated=(4,)), None, "after the end: entry 4. A signature counts once."),
        (replace(HELD, erased=("in-1", "in-2")), None, "Erased, with only the log left of them: in-1, in-2."),
        (replace(HELD, remembered=True), PushedHead(2, "0"), "is in it; 1 entries follow."),
        (replace(HELD, remembered=False), PushedHead(9, "0"), "entries are lost or exchanged"),
    ],
)
def test_the_verdict(verified: AuditResult, head: PushedHead | None, said: str) -> None:
    """What a look through the log has shown is said in plain sentences, and never more than that."""
    sentences = " ".join(verdict(verified, head))
    assert said in sentences
    assert ("agree with it" in sentences) == (verified.holds and verified.entries > 0)


def test_a_standing_approval_says_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    """Who has approved a preflight learns that nothing is done yet, and what does it; later, what was."""
    approved = PROGRESS.model_copy(update={"state": "approved", "note": "", "uses": {}})
    print_outcome(approved)
    assert "type the command again" in capsys.readouterr().out
    print_outcome(approved, goes_on=True)
    assert capsys.readouterr().out == "Approved, for 24 hours from your signature.\n"
    print_outcome(
        approved.model_copy(update={"uses": {"cs_1": TargetUse(state="done", changed_at=START, note="")}})
    )
    assert "type the command again" not in capsys.readouterr().out
