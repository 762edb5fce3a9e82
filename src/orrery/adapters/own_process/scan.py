"""The scanner as another process: it has the role scan, whose settings and secrets no other role reads."""

import json
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from orrery.adapters.own_process.command import failure, run_command
from orrery.errors import DependencyFailed
from orrery.ports.scanner import Checked, Leak, Scanned

SECONDS = 600
"""How long one scan may take: a publication is 100 MiB at most."""

_FOUND = 1
_INPUT = "standard input!"
"""The beginning of the place of a file in the report."""


class ScanProcess:
    """See `Scanner`. The files go through a pipe as a tar, so that nothing is written anywhere."""

    def __init__(self, settings_file: Path) -> None:
        self._config = ("--config", str(settings_file))

    def check(self) -> tuple[Checked, ...]:
        parts = json.loads(self._run(b"", "--check"))
        return tuple(Checked(one["part"], one["state"], one["why"]) for one in parts)

    def scan(self, files: Mapping[str, bytes]) -> Scanned:
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, BytesIO(content))
        lines = self._run(packed.getvalue(), "--stdin").splitlines()
        found, summary = [json.loads(line) for line in lines[:-1]], json.loads(lines[-1])
        if len(found) != summary["findings"]:
            raise DependencyFailed("The scanner's report is cut.")
        leaks = (Leak(_kind(one), one["place"].removeprefix(_INPUT)) for one in found)
        return Scanned(tuple(leaks), tuple(summary["notes"]), summary["watch_list"])

    def _run(self, given: bytes, what: str) -> str:
        too_late = f"The scanner did not end within {SECONDS // 60} minutes."
        arguments = ("tenants", "scan", "--json", what, *self._config)
        ended = run_command(arguments, given, SECONDS, too_late)
        if ended.code not in {0, _FOUND} or not ended.printed:
            raise failure(ended.code)(f"The scanner cannot run: {ended.sentence}")
        return ended.printed


def _kind(found: Mapping[str, str]) -> str:
    rest = found["rule"] or found["why"]
    return f"{found['kind']} ({rest})" if rest else found["kind"]
