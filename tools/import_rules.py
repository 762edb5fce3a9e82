"""Check who imports whom: the contracts of `import_rules.toml` for every domain, and each domain's own.

usage: import_rules.py [ROOT] [OPTION…]   ROOT holds the package; the options are those of lint-imports
"""

import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINTER = Path(sysconfig.get_path("scripts")) / "lint-imports"


def domains(package: Path) -> list[str]:
    """Return the names of the domains: each has its own contracts in its folder."""
    return sorted(file.parent.name for file in package.glob("*/imports.toml"))


def contracts(package: Path) -> str:
    """Return the configuration of import-linter for a package."""
    found = domains(package)
    text = (HERE / "import_rules.toml").read_text()
    text = text.replace('"orrery.DOMAINS"', ", ".join(f'"orrery.{one}"' for one in found))
    own = [(package / one / "imports.toml").read_text() for one in found]
    return "\n".join([text.replace("DOMAINS", " | ".join(found)), *own])


def main(arguments: Sequence[str]) -> int:
    """Run import-linter over the package; return its exit code."""
    root, *options = arguments or [str(HERE.parent / "src")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "contracts.toml"
        file.write_text(contracts(Path(root) / "orrery"))
        command = [LINTER, "--config", file, "--no-cache", "--no-logo", *options]
        return subprocess.run(command, cwd=root, check=False).returncode  # noqa: S603  fixed words, no shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
