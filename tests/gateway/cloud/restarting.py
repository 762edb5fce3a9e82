"""The table of cases of the restart, and a cloud that answers as a case says, to the runbook and to `restart`."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from orrery.gateway.cloud.restart import restart
from orrery.ports.cloud.machine import (
    LookAtPower,
    MachineReply,
    Power,
    RestartFailed,
    SignIn,
    Start,
    Step,
    WaitSeconds,
)
from tests.gateway.cloud.powershell import Command, CommandFailed, Script, Thrown, Visited
from tests.gateway.cloud.powershell_tree import Node
from tests.gateway.cloud.powershell_values import Properties, Value

TABLE = Path(__file__).with_name("cases.toml")
CLIENT_ID = "0a1b2c3d-0000-4000-8000-0000000c11e7"
NO_ANSWER = "No such host is known."
SIGN_IN_FAILED = (
    "ManagedIdentityCredential authentication failed: Service request failed.\r\nStatus: {} (Bad Request)\r\n\r\n"
)
"""How the vendor's command says that no token was given; headers and traces follow."""
API = "api-version=2024-07-01"

Form = Literal[
    "body", "object", "unquoted-envelope", "unquoted", "as-a-hashtable", "in-a-string", "escaped-slashes"
]
FORMS: tuple[Form, ...] = get_args(Form)
"""How an alert reaches the runbook: as posted, as an object, and in ways in which it is no JSON any more."""


class UnexpectedStep(AssertionError):
    """What was done is not what the case holds."""


@dataclass(frozen=True)
class Case:
    """One case: the alerts, the steps with their answers, and how it ends. `answer` is that of `<each>`."""

    fact: str
    alerts: tuple[str, ...]
    steps: tuple[str, ...]
    ends: str
    fails: str
    answer: str = ""
    variant: int = 0


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def cases() -> tuple[Case, ...]:
    """Return the cases of the table, one for each of the answers that one is about."""
    return tuple(
        _case(one, answer, variant)
        for one in table()["case"]
        for answer in one.get("each", [""])
        for variant in range(len(_UNREADABLE) if answer == "unreadable" else 1)
    )


def _case(given: Mapping[str, Any], answer: str, variant: int) -> Case:
    steps = list(given["steps"])
    for name, times in (("then-15-times", 15), ("then-16-times", 16), ("at-last", 1)):
        steps += times * given.get(name, [])
    steps = [step.replace("<each>", answer) for step in steps]
    ends, fails = given.get("ends", ""), given.get("fails", "")
    return Case(given["fact"], tuple(given["alerts"]), tuple(steps), ends, fails, answer, variant)


_UNREADABLE = (
    "<!doctype html><title>Sign in to the network</title>",
    '{"name": "gateway-vm", "properties": {"instanceView": {"statuses": [{"code": "PowerState/deallocated"}',
    '{"value": [{"code": "PowerState/deallocated"}]}',
)
"""Bodies that say nothing: of a proxy, cut, and of another kind."""


def machine() -> str:
    """Return the id of the machine."""
    return table()["machine"]


def alert(name: str, form: Form) -> Value:
    """Return an alert of the table, in one of its forms: a text, or an object with a body."""
    text: str = table()["alerts"][name]
    text = text.replace("<machine>", machine()).replace("<MACHINE>", machine().upper())
    text = text.replace("<machine with another letter for its dot>", machine().replace("gate.way", "gatexway"))
    return _FORMS[form](text)


_HEADER = {"Connection": "Keep-Alive", "User-Agent": "IcMBroadcaster/1.0"}
_FORMS: dict[Form, Callable[[str], Value]] = {
    "body": lambda text: text,
    "object": lambda text: Properties({"WebhookName": "restart", "RequestBody": text, "RequestHeader": None}),
    "unquoted-envelope": lambda text: (
        f"{{WebhookName:restart,RequestBody:{text},RequestHeader:{{Connection:Keep-Alive,User-Agent:IcM/1.0}}}}"
    ),
    "unquoted": lambda text: f"{{WebhookName:restart,RequestBody:{text}}}".replace('"', ""),
    "as-a-hashtable": lambda text: text.replace('"', "").replace(": ", "=").replace(",", ";").replace("{", "@{"),
    "in-a-string": lambda text: json.dumps({"RequestBody": text, "RequestHeader": _HEADER}),
    "escaped-slashes": lambda text: text.replace("/", r"\/"),
}


@dataclass
class ScriptedCloud:
    """Answers as a case says; a step that it does not hold raises."""

    case: Case
    done: int = 0
    now: datetime = field(default_factory=lambda: datetime.fromisoformat(table()["begins"]))
    troubles: int = 0
    """How often something went wrong; the runbook warns each time."""
    warnings: list[Value] = field(default_factory=list[Value])
    implied: set[str] = field(default_factory=set[str])

    def answer(self, step: str) -> str:
        """Take a step, and return the answer: what stands behind the colon."""
        expected, _, answer = (self._next()).partition(": ")
        if step in {"sign-in", "context"} and expected != step and not self.done and step not in self.implied:
            self.implied.add(step)
            return "200"
        if step != expected:
            raise UnexpectedStep(f"{self.case.fact}: step {self.done + 1} is {step!r}, not {self._next()!r}")
        self.done += 1
        return answer

    def _next(self) -> str:
        return self.case.steps[self.done] if self.done < len(self.case.steps) else "the end"

    def expects(self, step: str) -> bool:
        return self._next().partition(": ")[0] == step

    def reply(self, step: str) -> MachineReply:
        """Take a step; a reply that is neither 200 nor 202 counts as a trouble."""
        answer, _, pause = self.answer(step).partition("; pause ")
        power = cast("Power", answer) if answer in get_args(Power) else "unknown"
        status = int(answer) if answer.isdecimal() else 0 if answer in _REASONS else 200
        why = _REASONS.get(answer, "")
        if step in {"sign-in", "context"} and status not in {0, 200}:
            why = SIGN_IN_FAILED.format(status) + "X-CORRELATION-ID: REDACTED " * 20
        self.troubles += status not in {200, 202}
        return MachineReply(status, self.now, power, pause, why)

    def wait(self, seconds: float) -> None:
        _ = self.answer("wait" if seconds == 15 else f"wait of {seconds} s")
        self.now += timedelta(seconds=seconds)


_REASONS = {"silent": NO_ANSWER, "unreadable": "The answer cannot be read."}


@dataclass(frozen=True)
class Ended:
    """How a run ended: what it returned or wrote, or why it failed."""

    ends: str = ""
    fails: str = ""


def run_python(case: Case, webhook_data: str) -> Ended:
    """Run `restart` through a case."""
    cloud = ScriptedCloud(case)
    run = restart(webhook_data, machine())
    try:
        step = next(run)
        while True:
            step = run.send(_taken(cloud, step))
    except StopIteration as done:
        return _at_the_end(cloud, Ended(ends=done.value))
    except RestartFailed as failed:
        return _at_the_end(cloud, Ended(fails=str(failed)))


def _taken(cloud: ScriptedCloud, step: Step) -> MachineReply:
    match step:
        case SignIn():
            signed_in = cloud.reply("sign-in")
            return cloud.reply("context") if signed_in.status == 200 else signed_in
        case LookAtPower():
            return cloud.reply("look")
        case Start():
            return cloud.reply("start")
        case WaitSeconds(seconds):
            cloud.wait(seconds)
            return MachineReply(0, cloud.now)


def run_runbook(tree: Node, case: Case, webhook_data: Value, visited: Visited) -> Ended:
    """Walk the runbook through a case."""
    cloud = ScriptedCloud(case)
    script = Script(tree, _commands(cloud), visited)
    try:
        written = script.run(WebhookData=webhook_data or None)
    except Thrown as thrown:
        return _complete(cloud, Ended(fails=str(thrown)))
    return _complete(cloud, Ended(ends="\n".join(str(one) for one in written)))


def _complete(cloud: ScriptedCloud, ended: Ended) -> Ended:
    told = [
        str(one)
        for one in cloud.warnings
        if re.fullmatch(r" \(the attempt to [a-z ]+ failed: .{1,200}\)", str(one))
    ]
    if len(told) != cloud.troubles or told != cloud.warnings:
        raise UnexpectedStep(f"{cloud.case.fact}: warns of {cloud.warnings}")
    return _at_the_end(cloud, ended)


def _at_the_end(cloud: ScriptedCloud, ended: Ended) -> Ended:
    if not cloud.expects("the end"):
        _ = cloud.answer("the end")
    return ended


_CONTEXT = Properties({"Account": "whom the requests are made for"})


def _said(cloud: ScriptedCloud, step: str) -> MachineReply:
    """Return the reply to a step; raise what the vendor's command throws."""
    reply = cloud.reply(step)
    if reply.why and (step == "sign-in" or reply.why != _REASONS["unreadable"]):
        raise CommandFailed(reply.why)
    return reply


def _read_json(_: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
    try:
        return [Properties(json.loads(cast("str", others[0])))]
    except (TypeError, ValueError) as error:
        raise CommandFailed(f"Conversion from JSON failed with error: {error}") from None


def _commands(cloud: ScriptedCloud) -> dict[str, Command]:
    def connect(named: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
        if (dict(named), list(others)) != ({"Identity": True, "AccountId": CLIENT_ID}, []):
            raise UnexpectedStep(f"signs in by {named}")
        _ = _said(cloud, "sign-in")
        return [Properties({"Context": "a profile that is not for the job's output"})]

    def get_context(named: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
        if named or others:
            raise UnexpectedStep(f"asks for a context by {named}")
        return [_CONTEXT] if _said(cloud, "context").status == 200 else []

    def ask(named: Mapping[str, Value], _: Sequence[Value]) -> list[Value]:
        asked = {
            ("GET", f"{machine()}?$expand=instanceView&{API}"): "look",
            ("POST", f"{machine()}/start?{API}"): "start",
        }
        if named.get("DefaultProfile") is not _CONTEXT:
            raise UnexpectedStep("asks for nobody")
        step = asked.get((str(named["Method"]), str(named["Path"])), f"a request of {named}")
        reply = _said(cloud, step)
        if reply.why:
            return [Properties({"StatusCode": 200, "Content": _unreadable(step, cloud.case.variant)})]
        return [Properties({"StatusCode": reply.status, "Content": _content(reply) if step == "look" else None})]

    def sleep(named: Mapping[str, Value], _: Sequence[Value]) -> list[Value]:
        cloud.wait(cast("int", named["Seconds"]))
        return []

    def warn(_: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
        cloud.warnings.extend(others)
        return []

    return {
        "Connect-AzAccount": connect,
        "Get-AzContext": get_context,
        "Invoke-AzRestMethod": ask,
        "ConvertFrom-Json": _read_json,
        "Start-Sleep": sleep,
        "Write-Warning": warn,
        "Get-Date": lambda _named, _others: [cloud.now.astimezone(timezone(timedelta(hours=5, minutes=30)))],
    }


def _unreadable(step: str, variant: int) -> str:
    return _UNREADABLE[variant if step == "look" else 0]  # what a start is answered has no form of its own


def _content(reply: MachineReply) -> str:
    if reply.status != 200:
        return json.dumps({"error": {"code": "AnError", "message": "It is said here why."}})
    statuses = [{"code": "ProvisioningState/succeeded", "level": "Info"}]
    if reply.power != "unknown":
        statuses.append({"code": f"PowerState/{reply.power}", "level": "Info"})
    tags = {"purpose": "gateway", **({"orrery-paused-until": reply.pause} if reply.pause else {})}
    return json.dumps({"tags": tags, "properties": {"instanceView": {"statuses": statuses}}})


@cache
def runs() -> tuple[tuple[Case, Value], ...]:
    """Return each case with each of its alerts in each form: one of each first, so that a difference shows early.

    A case of another answer, or with all the polls, comes with one alert in one form: more decides nothing there.
    """
    ordered = sorted(cases(), key=lambda case: len(case.steps))
    first = {one.fact: one for one in reversed(cases())}
    usual = [(case, alert(case.alerts[0], FORMS[0])) for case in ordered]
    many = [case for case in ordered if case == first[case.fact] and len(case.steps) < _MANY]
    return (*usual, *((case, alert(name, form)) for form in FORMS[::-1] for case in many for name in case.alerts))


_MANY = 30
