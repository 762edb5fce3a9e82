"""What the commands that look at the cloud ask it, how an answer may be none, and what is not known then."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import typer

from orrery.gateway.cli.cloud import doctor, plan_command, report, status
from orrery.gateway.cloud.settings import CloudSettings
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud, CloudReads, WebhookUri
from orrery.ports.cloud.errors import CloudError
from orrery.ports.site_reports import SiteReports
from orrery.sandbox.spoilt_answers import SHAPES
from tests.support.provisioning import Layer

EVERY_PART = frozenset(
    {
        "machine",
        "identity",
        "role",
        "account",
        "runbook",
        "webhook",
        "action group",
        "health alert",
        "deallocate alert",
        "health",
        "jobs",
        "job-minutes",
        "activity log",
    }
)

PARTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "GET token": ("sign_in", EVERY_PART),
    "GET machine": ("machine", frozenset({"machine"})),
    "GET health": ("health", frozenset({"health"})),
    "GET identity": ("identity", frozenset({"identity", "role"})),
    "GET roles": ("grants", frozenset({"role"})),
    "GET account": ("account", frozenset({"account"})),
    "GET runbook": ("runbook", frozenset({"runbook"})),
    "GET content": ("runbook", frozenset({"runbook"})),
    "GET webhooks": ("webhooks", frozenset({"webhook"})),
    "GET group": ("action_group", frozenset({"action group"})),
    "GET alert": ("alert", frozenset({"health alert", "deallocate alert"})),
    "GET jobs": ("jobs", frozenset({"jobs"})),
    "GET job": ("job", frozenset({"reasons of jobs"})),
    "GET usages": ("minutes_used", frozenset({"job-minutes"})),
    "GET events": ("events", frozenset({"activity log"})),
}
"""Each request of the commands: the method of the port that makes it, and the parts that are not known then."""

NOT_ASKED = {
    "plan": frozenset({"health", "jobs", "reasons of jobs", "job-minutes", "activity log"}),
    "status": frozenset({"activity log"}),
    "doctor": frozenset({"activity log"}),
}
"""What a command does not ask for."""

FAULTS: Sequence[tuple[str, float | None]] = (
    ("cloud_403", None),
    ("cloud_html_200", None),
    ("cloud_html_502", None),
    ("cloud_cut", None),
    ("cloud_empty", None),
    ("cloud_hang", None),
    *(("cloud_odd", float(shape)) for shape in range(len(SHAPES))),
)
"""No right, two answers of a proxy, a cut one, an empty one, none at all, and JSON of another shape."""


def means_nothing(subject: str, fault: str) -> bool:
    """Return whether a fault cannot be seen: the text of a runbook may be any, and this one is none of ours."""
    return (subject, fault) == ("GET content", "cloud_odd")


class Half:
    """A cloud that answers as another one once did, but for one method, which raises."""

    def __init__(
        self, cloud: CloudReads, kept: dict[Any, Any], failing: str = "", error: CloudError | None = None
    ) -> None:
        self._cloud, self._kept, self._failing, self._error = cloud, kept, failing, error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  a method of the port, or one of its values
        if name in {"machine_id", "action_group_id"}:
            return getattr(self._cloud, name)

        def answer(*given: object) -> object:
            if name == self._failing and self._error:
                raise self._error
            key = name, () if name == "events" else given
            if key not in self._kept:
                self._kept[key] = getattr(self._cloud, name)(*given)
            return self._kept[key]

        return answer


@dataclass
class Site:
    """Takes reports."""

    taken: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])

    def send(self, given: Mapping[str, object]) -> None:
        self.taken.append(given)


@dataclass
class Commands:
    """The commands that look, over a layer whose cloud may be another one: a runner that hands over its ports."""

    layer: Layer
    cloud: Any
    site: Site = field(default_factory=Site)

    def section(self, _: object) -> CloudSettings:
        config = self.layer.box.config
        return CloudSettings(
            subscription=config.subscription,
            resource_group=config.resource_group,
            machine_resource_group=config.resource_group,
            machine=config.machine,
            location=config.location,
            email=self.layer.wanted.email,
        )

    def port(self, kind: object) -> object:
        ports: dict[object, object] = {
            Cloud: self.cloud,
            Clock: self.layer.box.clock,
            WebhookUri: self.layer.provisioning.uri,
            SiteReports: self.site,
        }
        return ports[kind]

    def run(self, command: str) -> tuple[int, Any]:
        """Run a command; return its exit code and what it printed for machines."""
        printed, code = StringIO(), 0
        runner: Any = self
        with redirect_stdout(printed):
            try:
                COMMANDS[command](runner, as_json=True)
            except typer.Exit as end:
                code = end.exit_code
        return code, json.loads(printed.getvalue())


COMMANDS: Mapping[str, Callable[..., None]] = {
    "plan": plan_command,
    "status": status,
    "doctor": doctor,
    "report": report,
}
