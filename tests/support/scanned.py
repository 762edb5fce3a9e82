"""Settings with a watch-list, and repositories, for the scanner."""

from collections.abc import Iterable
from pathlib import Path

from tests.support.program import run_orrery
from tests.support.repositories import Repo, new_repo

SYLLABLES = tuple("ba ke lo mi ran tor vel nus dor pha gri sto lu xe qui zan".split())  # noqa: SIM905  a list of them would be sixteen lines


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


def made_repository(folder: Path) -> Repo:
    """Make a repository with one commit."""
    repo = new_repo(folder)
    repo.git("config", "user.name", "Kim")
    repo.git("config", "user.email", "kim@host.example")
    repo.commit("README.md", "A repository.\n", "A beginning")
    return repo
