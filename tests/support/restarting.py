"""The table of cases of the restart, and a cloud that answers as a case says, to the runbook and to `restart`."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from orrery.gateway.cloud.restart import restart
from orrery.ports.cloud.machine import Look as LookStep
from orrery.ports.cloud.machine import Power, Reply, RestartFailed, Start, Step, Wait
from tests.support.powershell import Command, CommandFailed, Script, Thrown, Visited
from tests.support.powershell_tree import Node
from tests.support.powershell_values import Properties, Value

TABLE = Path(__file__).resolve().parents[1] / "gateway" / "cloud" / "cases.toml"
CLIENT_ID = "0a1b2c3d-0000-4000-8000-0000000c11e7"
NO_ANSWER = "No such host is known."
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
    """One case: the alerts, the steps with their answers, and how it ends."""

    fact: str
    alerts: tuple[str, ...]
    steps: tuple[str, ...]
    ends: str
    fails: str


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def cases() -> list[Case]:
    """Return the cases of the table."""
    return [_case(one) for one in table()["case"]]


def _case(given: Mapping[str, Any]) -> Case:
    steps = list(given["steps"])
    for name, times in (("then-15-times", 15), ("then-16-times", 16), ("at-last", 1)):
        steps += times * given.get(name, [])
    return Case(given["fact"], tuple(given["alerts"]), tuple(steps), given.get("ends", ""), given.get("fails", ""))


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
    silences: int = 0
    """How often there was no answer; the runbook warns each time."""
    warnings: list[Value] = field(default_factory=list[Value])

    def answer(self, step: str) -> str:
        """Take a step, and return the answer: what stands behind the colon."""
        expected, _, answer = (self._next()).partition(": ")
        if step != expected:
            raise UnexpectedStep(f"{self.case.fact}: step {self.done + 1} is {step!r}, not {self._next()!r}")
        self.done += 1
        self.silences += answer == "silent"
        return answer

    def _next(self) -> str:
        return self.case.steps[self.done] if self.done < len(self.case.steps) else "the end"

    def expects(self, step: str) -> bool:
        return self._next().partition(": ")[0] == step

    def reply(self, step: str) -> Reply:
        answer, _, pause = self.answer(step).partition("; pause ")
        power = cast("Power", answer) if answer in get_args(Power) else "unknown"
        status = 0 if answer == "silent" else int(answer) if answer.isdecimal() else 200
        return Reply(status, self.now, power, pause)

    def wait(self, seconds: float) -> None:
        _ = self.answer("wait" if seconds == 15 else f"wait of {seconds} s")
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Ended:
    """How a run ended: what it returned or wrote, or why it failed."""

    ends: str = ""
    fails: str = ""


def run_python(case: Case, webhook_data: str) -> Ended:
    """Run `restart` through a case; a sign-in that is refused is a look that is (401)."""
    cloud = ScriptedCloud(case)
    if cloud.expects("sign-in"):
        cloud = ScriptedCloud(Case(case.fact, case.alerts, ("look: 401",), case.ends, case.fails))
    run = restart(webhook_data, machine())
    try:
        step = next(run)
        while True:
            step = run.send(_taken(cloud, step))
    except StopIteration as done:
        return _at_the_end(cloud, Ended(ends=done.value))
    except RestartFailed as failed:
        return _at_the_end(cloud, Ended(fails=str(failed)))


def _taken(cloud: ScriptedCloud, step: Step) -> Reply:
    match step:
        case LookStep():
            return cloud.reply("look")
        case Start():
            return cloud.reply("start")
        case Wait(seconds):
            cloud.wait(seconds)
            return Reply(0, cloud.now)


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
    if cloud.warnings != cloud.silences * [NO_ANSWER]:
        raise UnexpectedStep(f"{cloud.case.fact}: warns of {cloud.warnings}")
    return _at_the_end(cloud, ended)


def _at_the_end(cloud: ScriptedCloud, ended: Ended) -> Ended:
    if not cloud.expects("the end"):
        _ = cloud.answer("the end")
    return ended


def _commands(cloud: ScriptedCloud) -> dict[str, Command]:
    def connect(named: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
        if (dict(named), list(others)) != ({"Identity": True, "AccountId": CLIENT_ID}, []):
            raise UnexpectedStep(f"signs in by {named}")
        if cloud.expects("sign-in"):
            _ = cloud.answer("sign-in")
            raise CommandFailed("ManagedIdentityCredential authentication failed.")
        return [Properties({"Context": "a profile that is not for the job's output"})]

    def ask(named: Mapping[str, Value], _: Sequence[Value]) -> list[Value]:
        asked = {
            ("GET", f"{machine()}?$expand=instanceView&{API}"): "look",
            ("POST", f"{machine()}/start?{API}"): "start",
        }
        before = cloud.silences
        reply = cloud.reply(asked.get((str(named["Method"]), str(named["Path"])), f"a request of {named}"))
        if cloud.silences > before:
            raise CommandFailed(NO_ANSWER)
        return [Properties({"StatusCode": reply.status, "Content": _content(reply)})]

    def sleep(named: Mapping[str, Value], _: Sequence[Value]) -> list[Value]:
        cloud.wait(cast("int", named["Seconds"]))
        return []

    def warn(_: Mapping[str, Value], others: Sequence[Value]) -> list[Value]:
        cloud.warnings.extend(others)
        return []

    return {
        "Connect-AzAccount": connect,
        "Invoke-AzRestMethod": ask,
        "Start-Sleep": sleep,
        "Write-Warning": warn,
        "Get-Date": lambda _named, _others: [cloud.now.astimezone(timezone(timedelta(hours=5, minutes=30)))],
    }


def _content(reply: Reply) -> str:
    if reply.status != 200:
        return json.dumps({"error": {"code": "AnError", "message": "It is said here why."}})
    statuses = [{"code": "ProvisioningState/succeeded", "level": "Info"}]
    if reply.power != "unknown":
        statuses.append({"code": f"PowerState/{reply.power}", "level": "Info"})
    tags = {"purpose": "gateway", **({"orrery-paused-until": reply.pause} if reply.pause else {})}
    return json.dumps({"tags": tags, "properties": {"instanceView": {"statuses": statuses}}})


@cache
def runs() -> tuple[tuple[Case, Value], ...]:
    """Return each case with each of its alerts in each form, the short ones first."""
    ordered = sorted(cases(), key=lambda case: len(case.steps))
    return tuple((case, alert(name, form)) for form in FORMS for case in ordered for name in case.alerts)
