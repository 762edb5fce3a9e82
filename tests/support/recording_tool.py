"""A command-line tool with the traps of such tools; it prints for which account it ran, and how it was called.

The account is, in this order: the last cached one in server mode, the variable, the flag (the last of several, in
any abbreviation, from a response file, too), the file `config` beside it, the last cached one in `cached`.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

VARIABLE = "TOOL_ACCOUNT"
SERVER_MODE = ("mcp", "serve")


def used(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> tuple[str, bool]:
    """Return the account that the tool uses, and whether in server mode; exit as argparse does."""
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--account", "--user", "-a", dest="account")
    parser.add_argument("--server", action="store_true")
    parser.add_argument("-x", action="store_true")
    parser.add_argument("-o", "--output")
    found, rest = parser.parse_known_args(arguments)
    cached = (folder / "cached").read_text().strip()
    if found.server or any(word in SERVER_MODE for word in rest):
        return cached, True
    config = folder / "config"
    configured = config.read_text().strip() if config.exists() else ""
    return environment.get(VARIABLE) or found.account or configured or cached, False


def main() -> None:
    """Print what was used, and end with the exit code that was asked for by `exit=…`."""
    folder = Path(__file__).parent
    account, server = used(sys.argv[1:], os.environ, folder)  # noqa: TID251  it is a tool, not Orrery
    told = {"account": account, "server": server, "arguments": sys.argv[1:], "variables": sorted(os.environ)}  # noqa: TID251  the same
    print(json.dumps(told))  # noqa: T201  its output
    codes = [word.removeprefix("exit=") for word in sys.argv if word.startswith("exit=")]
    sys.exit(int(codes[-1]) if codes else 0)


if __name__ == "__main__":
    main()
