"""The journal of another machine: a program in ssh's place runs the command here, as a remote shell would."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orrery.adapters.ssh_journal import SshJournals
from orrery.errors import Invalid

NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs before all others: ssh, and a journalctl that prints its arguments, one a line."""
    for name, script in (
        ("ssh", 'printf "%s\\n" "$@" >"$(dirname "$0")/asked"\nfor last; do :; done\nexec sh -c "$last"'),
        ("journalctl", 'printf "%s\\n" "$@"'),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def read(host: str = "gateway.example") -> list[str]:
    return SshJournals().read(host, r"my\x2dgw@eu.service", r"my\x2dgw-eu-recover", NOW - timedelta(hours=1), NOW)


def test_the_remote_shell_is_given_each_word_as_it_is(programs: Path) -> None:
    """The unit's name arrives unchanged, nothing is asked, and the host stands behind the options."""
    printed = read()
    assert printed[-3:] == [r"UNIT=my\x2dgw@eu.service", "+", r"SYSLOG_IDENTIFIER=my\x2dgw-eu-recover"]
    asked = (programs / "asked").read_text().splitlines()
    assert "BatchMode=yes" in asked
    assert asked[asked.index("--") + 1] == "gateway.example"


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo 'Permission denied' >&2; exit 255", "Permission denied"), ("exit 1", "cannot be read")],
)
def test_a_refusal_is_one_sentence(programs: Path, script: str, said: str) -> None:
    """What ssh says of it is repeated."""
    (programs / "ssh").write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(Invalid, match=said):
        read()


def test_a_host_is_no_option(programs: Path) -> None:
    """Nothing is run for it."""
    with pytest.raises(Invalid, match="is no host"):
        read("-oProxyCommand=touch x")
    assert not (programs / "asked").exists()
