"""The webhook's URI and every token stay where they belong: nothing that is printed or written holds one."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.marked import SECRETS
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, layer_in
from tests.support.soak import SOAKING

BEARER = re.compile(r"sandbox-[\w-]{32}")
"""The access tokens that the sandbox's cloud gives out."""

COMMANDS = [
    ("cloud", "plan"),
    ("cloud", "plan", "--json"),
    ("cloud", "apply"),
    ("cloud", "apply", "--json"),
    ("cloud", "status"),
    ("cloud", "status", "--json"),
    ("cloud", "doctor"),
    ("cloud", "doctor", "--json"),
    ("cloud", "report"),
    ("cloud", "pause", "--for", "1h"),
    ("cloud", "resume", "--json"),
    ("cloud", "rotate-webhook"),
    ("start",),
    ("start", "--json"),
    ("timeline",),
    ("timeline", "--json"),
    ("timeline", "--outage", "last", "--svg", "outage.svg"),
    ("cloud", "rotate-webhook", "--json"),
    ("cloud", "destroy", "--yes", "--json"),
]
"""In such an order that each has something to do."""

FAULTS = [
    ("cloud_403", "", [words for words in COMMANDS if "--json" not in words][:: 1 if SOAKING else 3]),
    ("cloud_401", "", [("cloud", "plan"), ("start",), ("timeline", "--json")]),
    ("cloud_429", "GET identity", [("cloud", "doctor")]),
    ("cloud_403", "PUT webhook", [("cloud", "rotate-webhook")]),
    ("cloud_409", "PUT group", [("cloud", "rotate-webhook", "--json")]),
    ("cloud_cut", "POST call", [("cloud", "rotate-webhook"), ("cloud", "apply", "--json")]),
    ("cloud_403", "GET job", [("cloud", "apply"), ("cloud", "status", "--json")]),
    ("cloud_403", "DELETE", [("cloud", "destroy", "--yes")]),
]
"""What fails, each time that it is asked, and in which commands."""


@dataclass
class Output:
    """Runs commands in another folder, and looks through all their output."""

    layer: Layer
    printed: str = ""

    def orrery(self, *words: str) -> int:
        done = run_orrery("gateway", *words, "--config", str(self.layer.config))
        self.printed += f"$ {words}\n{done.stdout}\n{done.stderr}\n"
        return done.returncode

    def everything(self) -> str:
        """Return what was printed, and what is in a file that is neither the one secret nor the sandbox's."""
        secrets = {self.layer.uri_file, self.layer.uri_file.with_name("gateway_ping_token")}
        files = [
            file
            for file in self.layer.folder.rglob("*")
            if file.is_file() and file not in secrets and self.layer.folder / "cloud" not in file.parents
        ]
        texts = (f"{file}\n{file.read_bytes().decode(errors='replace')}" for file in files)
        return "\n".join([self.printed, *texts])

    def tokens(self) -> list[str]:
        """Return every token that a webhook's URI ever had."""
        known = self.layer.box.sandbox.state.get("_cloud_value", "webhook uris") or {}
        return [name for name in known if name not in {"id", "object"}]


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Output]:
    """A layer that is made, whose settings ask for every log line there is; what is written elsewhere is seen."""
    with layer_in(tmp_path / "layer", factor=100) as layer:
        for name in ("work", "home", "tmp"):
            (layer.folder / name).mkdir()
        monkeypatch.chdir(layer.folder / "work")
        monkeypatch.setenv("HOME", str(layer.folder / "home"))
        monkeypatch.setenv("TMPDIR", str(layer.folder / "tmp"))
        monkeypatch.setenv("AZURE_LOG_LEVEL", "debug")
        text = layer.config.read_text().replace("[secrets]", '[log]\nlevel = "debug"\n\n[secrets]', 1)
        layer.config.write_text(f'{text}site_url = "{layer.box.web.base_url}"\n')
        token = layer.uri_file.with_name("gateway_ping_token")
        token.touch(0o600)
        token.write_text(SECRETS["gateway_ping_token"])
        yield Output(layer)


def expect_nothing_shown(output: Output) -> None:
    found, tokens = output.everything(), output.tokens()
    assert tokens
    hidden = [*tokens, SECRETS["gateway_ping_token"], output.layer.box.identity_env["IDENTITY_HEADER"]]
    assert [one for one in hidden if one in found] == []
    assert BEARER.findall(found) == []
    assert "webhooks?" not in found


def test_nothing_is_shown_while_all_is_well(output: Output) -> None:
    """Every command, for people and for machines, and the picture."""
    for words in COMMANDS:
        output.orrery(*words)
        if words == ("cloud", "resume", "--json"):
            output.layer.box.pull("deallocate")
            output.layer.box.advance(60)
    assert (output.layer.folder / "work" / "outage.svg").exists()
    expect_nothing_shown(output)


def test_nothing_is_shown_when_something_fails(output: Output) -> None:
    """Whatever the cloud answers; afterwards typing it again works."""
    assert output.orrery("cloud", "apply") == 0
    for kind, operation, commands in FAULTS:
        output.layer.box.fault(kind, operation, count=None, value=0)
        ended = [output.orrery(*words) for words in commands]
        assert any(ended), (kind, operation)
        output.layer.box.clear_faults()
    assert output.orrery("cloud", "apply") == 0
    expect_nothing_shown(output)


@pytest.mark.parametrize(
    "kept",
    ["https://localhost/webhooks?token={}", *["http://localhost/webhooks?token={}", "{}"] * SOAKING],
)
def test_nothing_is_shown_of_a_uri_that_is_none_of_the_clouds(output: Output, kept: str) -> None:
    """A text that is no address, or not one that the cloud knows, is not repeated in any sentence."""
    secret = "of-no-webhook-" + os.urandom(8).hex()
    output.layer.uri_file.touch(0o600)
    output.layer.uri_file.write_text(kept.format(secret))
    commands: Sequence[Sequence[str]] = [("cloud", "plan"), ("cloud", "apply"), ("cloud", "status"), ("timeline",)]
    for words in commands:
        output.orrery(*words)
    assert secret not in output.everything()
