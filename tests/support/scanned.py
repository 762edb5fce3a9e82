"""Settings with a watch-list, and repositories, for the scanner."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.support.program import run_orrery

SYLLABLES = (
    "ba",
    "ke",
    "lo",
    "mi",
    "ran",
    "tor",
    "vel",
    "nus",
    "dor",
    "pha",
    "gri",
    "sto",
    "lu",
    "xe",
    "qui",
    "zan",
)


def config_with_terms(folder: Path, terms: Iterable[str], kind: str = "customer", more: str = "") -> Path:
    """Write settings with a watch-list into a new folder; return the settings file."""
    folder.mkdir(mode=0o700)
    config = folder / "orrery.toml"
    config.write_text(
        f'[secrets]\ndirectory = "secrets"\n[scan]\nwatch_list = "watch-list"\n{more}', encoding="utf-8"
    )
    listed = folder / "terms.tsv"
    listed.write_text("".join(f"{kind}\t{term}\n" for term in terms), encoding="utf-8")
    for words in (("new-key",), ("import", str(listed))):
        made = run_orrery("tenants", "watch", *words, "--config", str(config))
        assert made.returncode == 0, made.stderr
    listed.unlink()
    return config


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, as somebody without settings of their own; return what it prints."""
    own = ("-c", "user.name=Kim", "-c", "user.email=kim@host.example", "-c", "init.defaultBranch=main")
    run = subprocess.run(  # noqa: S603  git by its name, in a folder of the test
        ["git", "-C", str(folder), *own, *words],  # noqa: S607  the same
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def made_repository(folder: Path) -> Path:
    """Make a repository with one commit; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _ = git(folder, "init", "-q")
    _ = git(folder, "config", "user.name", "Kim")
    _ = git(folder, "config", "user.email", "kim@host.example")
    (folder / "README.md").write_text("A repository.\n", encoding="utf-8")
    _ = git(folder, "add", "-A")
    _ = git(folder, "commit", "-qm", "A beginning")
    return folder
