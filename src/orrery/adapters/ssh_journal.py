"""The journal of another machine, over OpenSSH."""

import shlex
import shutil
import subprocess
from datetime import datetime

from orrery.errors import Invalid
from orrery.syntax.lines import one_line

DEADLINE = 60.0
"""Seconds in which the journal must have come."""

CONNECT_SECONDS = 10


class SshJournals:
    """Reads by `ssh`, without a question: a key or an agent must do."""

    def read(self, host: str, unit: str, guest_tag: str, since: datetime, until: datetime) -> list[str]:
        program = shutil.which("ssh")
        if program is None:
            raise Invalid("There is no ssh here: give a file by --journal (`journalctl -o json`).")
        if host.startswith("-"):
            raise Invalid(f"{host!r} is no host.")
        command = [program, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_SECONDS}", "--", host]
        try:
            done = subprocess.run(  # noqa: S603  OpenSSH's own tool, without a shell here
                [*command, remote_command(unit, guest_tag, since, until)],
                capture_output=True,
                check=False,
                timeout=DEADLINE,
            )
        except subprocess.TimeoutExpired:
            raise Invalid(f"The journal of {host} did not come within {DEADLINE:.0f} s.") from None
        if done.returncode:
            why = one_line(done.stderr.decode(errors="replace"), 200)
            raise Invalid(f"The journal of {host} cannot be read: {why}")
        return done.stdout.decode(errors="replace").splitlines()


def remote_command(unit: str, guest_tag: str, since: datetime, until: datetime) -> str:
    """Return the command for the other machine's shell: systemd's messages about the unit, and its guest's."""
    words = [
        "journalctl",
        "--no-pager",
        "--output=json",
        f"--since=@{int(since.timestamp())}",
        f"--until=@{int(until.timestamp())}",
        f"UNIT={unit}",
        "+",
        f"SYSLOG_IDENTIFIER={guest_tag}",
    ]
    return shlex.join(words)
