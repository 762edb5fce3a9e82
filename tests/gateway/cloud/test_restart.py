"""The runbook and `restart` decide the same: each is held to every case of the table."""

from collections.abc import Iterator
from functools import cache

import pytest

from orrery.errors import Invalid
from orrery.gateway.cloud.restart import TEST_MESSAGE
from orrery.gateway.cloud.runbook import rendered
from tests.docs.documents import ROOT
from tests.gateway.cloud.powershell import Script, Visited
from tests.gateway.cloud.powershell_tree import Node, Unsupported, conditions, parsed, statements
from tests.gateway.cloud.restarting import (
    CLIENT_ID,
    Case,
    Ended,
    UnexpectedStep,
    cases,
    machine,
    run_python,
    run_runbook,
    runs,
    table,
)
from tests.support.soak import SOAKING
from tests.support.tables import each_case


@cache
def runbook() -> str:
    return rendered(machine(), CLIENT_ID)


@cache
def runbook_tree() -> Node:
    return parsed(runbook())


def first_difference(text: str) -> str:
    """Return the fact of the first case that a runbook does not hold, and nothing when it holds all."""
    tree = parsed(text)
    for case, alert in runs():
        try:
            ended = run_runbook(tree, case, alert, Visited())
        except (UnexpectedStep, Unsupported):
            return case.fact
        if ended != Ended(case.ends, case.fails):
            return case.fact
    return ""


@each_case("case", cases())
def test_the_function_holds_the_case(case: Case) -> None:
    """`restart` takes the steps of the case, whatever form the alert came in, and ends as it says."""
    for one, alert in runs():
        if one == case and isinstance(alert, str):
            assert run_python(case, alert) == Ended(case.ends, case.fails), alert


@each_case("case", cases())
def test_the_runbook_holds_the_case(case: Case) -> None:
    """So does the runbook, walked by the tests' own interpreter."""
    tree = runbook_tree()
    for one, alert in runs():
        if one == case:
            assert run_runbook(tree, case, alert, Visited()) == Ended(case.ends, case.fails), alert


STEPS = sorted({step.partition(":")[0] for case in cases() for step in case.steps} - {"wait"})
PASSING = ("silent", "429", "500", "503", "unreadable")
KINDS = ("refused: 401", "refused: 403", "refused: 404", *(f"passing: {one}" for one in PASSING), "until the end")


def is_of(case: Case, step: str, kind: str) -> bool:
    """Return whether a case shows what comes of a step that fails in this way."""
    answers = [one.partition(": ")[2] for one in case.steps if one.partition(":")[0] == step]
    how, _, answer = kind.partition(": ")
    if how == "refused":
        return case.fails != "" and case.steps[-1] == f"{step}: {answer}"
    if how == "passing":
        return case.ends != "" and answer in answers
    return (
        case.fails != "" and len(answers) > 16 and not {*answers[1:]} & {"200", "202"} and "failed: " in case.fails
    )


@each_case("kind", KINDS)
@each_case("step", STEPS)
def test_each_way_to_fail_of_each_step_has_a_case(step: str, kind: str) -> None:
    """Sign-in, context, look and start: refused, passing by each answer, and failing until the end."""
    assert STEPS == ["context", "look", "sign-in", "start"]
    assert any(is_of(case, step, kind) for case in cases())


def test_every_branch_of_the_runbook_is_walked() -> None:
    """Each statement is run by some case, and each condition goes both ways: it decides nothing else."""
    tree, visited = runbook_tree(), Visited()
    for case, alert in runs():
        _ = run_runbook(tree, case, alert, visited)
    unseen = [one.text for one in statements(tree) if one.place not in visited.statements]
    one_way = [
        (one.text, way)
        for one in conditions(tree)
        for way in (True, False)
        if (one.place, way) not in visited.ways
    ]
    assert (unseen, one_way) == ([], [])


MUTATIONS = {
    "a status that is not compared": ("-and -not (Test-Field 'status' 'Activated')", ""),
    "another machine that is not told apart": ("([regex]::Escape($Machine))", "'/'"),
    "a machine's id as a pattern": ("([regex]::Escape($Machine))", "$Machine"),
    "a machine's id without its end": (r"""'(["''\s,;}]|$)'""", "''"),
    "a field's name without its beginning": ("'(?<![a-z])'", "''"),
    "quotes that must be there": (r"""'["''\s]*[:=]["''\s]*'""", r"""'"\s*[:=]\s*"'"""),
    "backslashes that stay": (r"$Alert -replace '\\', ''", "$Alert"),
    "the specification's field alone": ("|eventSource", ""),
    "the vendor's field alone": ("category|", ""),
    "any month": ("(0[1-9]|1[0-2])", r"\d\d"),
    "a time of any kind": ("if ($until -notmatch $Time)", "if ($until -match 'no')"),
    "a status that is accepted by half": ("-and $reply.StatusCode -ne 202", ""),
    "an answer that is not read": ("ConvertFrom-Json $reply.Content | Out-Null", ""),
    "another context": (" -DefaultProfile $context", ""),
    "a reason without an end": ("-replace '(?<=^.{200}).+', ''", ""),
    "a reason of several lines": (r" -replace '\s+', ' '", ""),
    "local time": (".ToUniversalTime()", ""),
    "errors that go on": ("$ErrorActionPreference = 'Stop'", "$ErrorActionPreference = 'Continue'"),
    "a sign-in that is written out": (" | Out-Null", ""),
    "another identity": ("-AccountId $ClientId", "-AccountId $Machine"),
}


def mutants() -> Iterator[tuple[str, str]]:
    """Yield each mutation, and the runbook without a statement, with a condition turned, with another number."""
    for what, (old, new) in MUTATIONS.items():
        assert runbook().count(old) == 1 or new == ""
        yield what, runbook().replace(old, new)
    for one in statements(runbook_tree()):
        yield f"without {one.text}", replaced(one, "")
    for one in conditions(runbook_tree()):
        yield f"not {one.text}", replaced(one, f"(-not ({one.text}))")
    for one in runbook_tree().within():
        if one.kind == "decimal_integer_literal":
            yield f"another number than {one.text} at {one.place}", replaced(one, f"{int(one.text) + 1}")


def test_what_changes_what_the_runbook_decides_breaks_a_case() -> None:
    """Nothing in its text is there for nothing: `./run soak inputs` tries every mutant, this a sample."""
    tried = [*mutants()][:: 1 if SOAKING else 20]
    assert [what for what, text in tried if first_difference(text) == ""] == []


def replaced(node: Node, other: str) -> str:
    """Return the runbook with another text for one of its nodes."""
    text = runbook().encode()
    return (text[: node.place[0]] + other.encode() + text[node.place[1] :]).decode()


@each_case("text", ["if ($a) { 1", "$a = ", "$a = 'b", "$a = (1", "param([object $a)", "if { 1 }"])
def test_what_is_no_powershell_is_refused(text: str) -> None:
    """A text with an error in it has no tree to be walked."""
    with pytest.raises(SyntaxError):
        _ = parsed(text)


@each_case(
    "text",
    ["foreach ($a in $b) { $a }", "$a ??= 1", "Remove-Item x", "while ($a) { }", "$a = $b + 1", "'{0}' -f $a"],
)
def test_what_the_interpreter_does_not_know_is_refused(text: str) -> None:
    """It passes over nothing: a construct that the runbook did not use before must be added here first."""
    with pytest.raises((Unsupported, SyntaxError)):
        _ = Script(parsed(text), {}).run()


def test_the_runbook_in_deploy_is_the_one_that_is_uploaded() -> None:
    """The file in deploy/ is the package's own, without the values of a deployment."""
    text = (ROOT / "deploy/azure/runbook.ps1").read_text(encoding="utf-8")
    filled = text.replace("@VM_RESOURCE_ID@", machine()).replace("@CLIENT_ID@", CLIENT_ID)
    assert "@VM_RESOURCE_ID@" in text
    assert filled == runbook()


@each_case(
    "vm_id", ["", machine() + "'", machine() + "/x", machine().replace("_", "\u2019"), machine() + "\n", "$(evil)"]
)
def test_an_id_that_is_none_is_refused(vm_id: str) -> None:
    """Nothing that is filled in can end the text that it stands in."""
    with pytest.raises(Invalid):
        _ = rendered(vm_id, CLIENT_ID)


def test_a_client_id_that_is_none_is_refused() -> None:
    """The same holds for the identity."""
    with pytest.raises(Invalid):
        _ = rendered(machine(), "'; evil; '")


def test_the_test_message_is_the_one_of_the_table() -> None:
    """What a test posts is what the runbook takes for one."""
    assert table()["alerts"]["test"] == TEST_MESSAGE
