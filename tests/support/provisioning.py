"""The layer in the cloud over a sandbox: its settings, its adapter, and its commands."""

import os
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from orrery.adapters.azure.clients import Deadlines, Names
from orrery.adapters.azure.cloud import AzureCloud
from orrery.adapters.secret_file import SecretFile
from orrery.gateway.cloud.asking import Asking, activity
from orrery.gateway.cloud.findings import findings
from orrery.gateway.cloud.plan import CloudPlan, planned
from orrery.gateway.cloud.provision import Provisioning
from orrery.gateway.cloud.restart import restart
from orrery.gateway.cloud.runbook import rendered
from orrery.gateway.cloud.wanted import WantedResources
from orrery.ports.cloud.machine import MachineReply, Step
from orrery.ports.health import Finding
from orrery.sandbox.app import Service
from orrery.sandbox.cloud.resources import MACHINE_ID
from orrery.trust import Trust
from tests.support.cloud import CloudBox, running_cloud
from tests.support.cloud_layer import WANTED

SETTINGS = """\
mode = "sandbox"

[secrets]
directory = "secrets"

[tls]
ca_file = "{ca_file}"

[sandbox]
clock_file = "{clock}"

[cloud]
management_url = "{url}"
subscription = "{subscription}"
resource_group = "{group}"
machine = "{machine}"
location = "{location}"
email = "owner@cosmos.example"
"""


@dataclass
class Layer:
    """A deployment of the layer in a sandbox. `said` are the sentences about what was done."""

    box: CloudBox
    folder: Path
    cloud: AzureCloud
    names: Names
    wanted: WantedResources = WANTED
    said: list[str] = field(default_factory=list[str])

    @property
    def trust(self) -> Trust:
        """Whom a client of this cloud trusts."""
        return Trust(self.box.ca_file)

    @property
    def config(self) -> Path:
        """The settings file."""
        return self.folder / "orrery.toml"

    @property
    def uri_file(self) -> Path:
        """The file of the webhook's URI."""
        return self.folder / "secrets" / "gateway_webhook_uri"

    def kept(self) -> Any:  # noqa: ANN401  for `put_back` alone
        """Return what is so in the cloud and in the folder."""
        return self.box.kept(), self.config.read_text(), self.uri_file.exists() and self.uri_file.read_text()

    def put_back(self, kept: Any) -> None:  # noqa: ANN401  the same
        """Have it so again."""
        known, config, uri = kept
        self.box.put_back(known)
        self.config.write_text(config)
        secrets = self.uri_file.parent
        _ = rmtree(secrets) if secrets.is_dir() else secrets.unlink(missing_ok=True)
        secrets.mkdir(mode=0o700)
        if uri:
            self.uri_file.touch(0o600)
            self.uri_file.write_text(uri)
        self.said.clear()

    def pass_by(self, seconds: float) -> None:
        """Let the time pass, for the sandbox too."""
        self.box.clock.advance(seconds)

    @property
    def provisioning(self) -> Provisioning:
        """A run as a new process would begin it."""
        kept = self.uri_file.read_text().strip() if self.uri_file.exists() else ""
        uri = SecretFile(self.uri_file, kept)
        text = partial(rendered, self.cloud.machine_id)
        return Provisioning(self.cloud, uri, self.box.clock, self.wanted, text, self.said.append, self.pass_by)


def runbook(data: str) -> Generator[Step, MachineReply, str]:
    """Do what the alert asks for, as the runbook does."""
    return restart(data, MACHINE_ID)


@contextmanager
def layer_in(
    folder: Path,
    deadlines: Deadlines | None = None,
    factor: float = 1.0,
    site: Service | None = None,
    seed: int = 0,
) -> Generator[Layer]:
    """Run a sandbox whose jobs take the runbook's steps, with the settings of a deployment beside it.

    With a `site` its machine has a guest, who pings that. Delays are drawn by the `seed`.
    """
    folder.mkdir(exist_ok=True)
    with running_cloud(folder / "cloud", runbook, site, factor=factor, seed=seed) as box:
        config = box.config
        names = Names(
            config.subscription,
            config.resource_group,
            config.resource_group,
            config.machine,
            config.location,
            WANTED.identity,
            WANTED.account,
            WANTED.runbook,
            WANTED.action_group,
            dict(WANTED.alerts),
            WANTED.email,
        )
        _ = (folder / "secrets").mkdir(mode=0o700)
        text = SETTINGS.format(
            ca_file=box.ca_file,
            clock=folder / "cloud" / "clock",
            url=config.url,
            subscription=config.subscription,
            group=config.resource_group,
            machine=config.machine,
            location=config.location,
        )
        (folder / "orrery.toml").write_text(text)
        before = {name: os.environ.get(name) for name in box.identity_env}  # noqa: TID251  the vendor's library reads it
        os.environ.update(box.identity_env)  # noqa: TID251  the same
        try:
            with closing(AzureCloud(names, config.url, Trust(box.ca_file), deadlines)) as cloud:
                yield Layer(box, folder, cloud, names)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]  # noqa: TID251  the same
                else:
                    os.environ[name] = value  # noqa: TID251  the same


def plan(layer: Layer) -> CloudPlan:
    return planned(layer.provisioning.survey(), layer.wanted, layer.provisioning.text)


def broken(layer: Layer) -> dict[str, Finding]:
    """Return what `doctor` finds broken, by part."""
    run, asking = layer.provisioning, Asking(layer.cloud, layer.box.clock)
    said = findings(run.survey(), layer.wanted, run.text, activity(asking, 10, 10))
    return {one.part: one for one in said if one.state == "broken"}
