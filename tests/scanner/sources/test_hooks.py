"""Hooks are installed, kept and removed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from orrery.scanner.hooks import HOOKS, KEPT
from tests.support.plain_commands import plain
from tests.support.repositories import Repo, new_repo
from tests.support.waiting import PATIENCE

hooks = plain("hooks")


def folder_of(repo: Repo) -> Path:
    """Return where the hooks are."""
    return repo.folder / ".git" / "hooks"


def kept_in(repo: Repo, hook: str) -> Path:
    """Return where a hook of before is kept."""
    return repo.folder / ".git" / f"hooks{KEPT}" / hook


def states(repo: Repo, printed: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """Return what `list` says of each hook; it ends with 1 unless all are installed."""
    printed.readouterr()
    code = hooks(["list", str(repo.folder), *options])
    found = [line.rpartition(": ")[2] for line in printed.readouterr().out.splitlines()]
    assert code == (set(found) != {"installed"})
    return found


def test_hooks_are_installed_and_removed(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """All are there and may run; installing again changes nothing; removing leaves nothing behind."""
    before = sorted(folder_of(repo).iterdir())
    assert states(repo, capsys) == ["missing"] * len(HOOKS)
    written = [
        hooks(["install", str(repo.folder)]) or (folder_of(repo) / "pre-push").read_bytes() for _ in range(2)
    ]
    assert written[0] == written[1]
    assert states(repo, capsys) == ["installed"] * len(HOOKS)
    assert {(folder_of(repo) / hook).stat().st_mode & 0o777 for hook in HOOKS} == {0o755}
    assert hooks(["remove", str(repo.folder)]) == 0
    assert sorted(folder_of(repo).iterdir()) == before


def test_another_programs_hook_is_kept(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """It lies beside ours, a link too, and is put back as it was; installing twice does not lose it."""
    theirs = repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 3\n")
    (folder_of(repo) / "pre-push").symlink_to("../../tool")
    assert states(repo, capsys) == ["another's", "missing", "missing", "another's"]
    for _ in range(2):
        assert hooks(["install", str(repo.folder)]) == 0
    assert "pre-commit: installed; the one that was there before runs first" in capsys.readouterr().out
    assert kept_in(repo, "pre-push").is_symlink()
    assert hooks(["remove", str(repo.folder)]) == 0
    assert theirs.read_text() == "#!/bin/sh\nexit 3\n"
    assert (folder_of(repo) / "pre-push").readlink() == Path("../../tool")
    assert hooks(["remove", str(repo.folder)]) == 0
    assert theirs.read_text() == "#!/bin/sh\nexit 3\n"


def test_two_other_hooks_are_not_mixed_up(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """When another program wrote its hook over ours, the one that was kept before is not lost."""
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# first\n")
    hooks(["install", str(repo.folder)])
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# second\n")
    assert hooks(["install", str(repo.folder)]) == 2
    assert "make one of the two, and install again" in capsys.readouterr().err
    assert kept_in(repo, "pre-commit").read_text() == "#!/bin/sh\n# first\n"
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# first\n")
    assert hooks(["install", str(repo.folder)]) == 0


def test_a_hook_that_the_first_release_kept_is_not_lost(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """It lay in the folder of the hooks, under another name: it moves, runs, and is put back."""
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# orrery-hook 1: written by an earlier release\n")
    repo.write(".git/hooks/pre-commit.before-orrery", "#!/bin/sh\nexit 3\n").chmod(0o755)
    (folder_of(repo) / "pre-commit").chmod(0o755)
    assert states(repo, capsys)[0] == "out of date"
    assert hooks(["install", str(repo.folder)]) == 0
    assert repo.try_git("hook", "run", "pre-commit").returncode == 3
    assert hooks(["remove", str(repo.folder)]) == 0
    assert (folder_of(repo) / "pre-commit").read_text() == "#!/bin/sh\nexit 3\n"
    assert not kept_in(repo, "pre-commit").parent.exists()


def test_an_older_hook_is_brought_up_to_date(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that may not run, or that another installation wrote, is out of date until it is installed again."""
    settings = tmp_path / "orrery.toml"
    settings.touch()
    hooks(["install", str(repo.folder)])
    (folder_of(repo) / "pre-push").chmod(0o644)
    assert states(repo, capsys) == ["installed", "installed", "installed", "not executable"]
    assert states(repo, capsys, "--config", str(settings)) == [
        *["out of date"] * (len(HOOKS) - 1),
        "not executable",
    ]
    assert hooks(["install", str(repo.folder), "--config", str(settings)]) == 0
    assert states(repo, capsys, "--config", str(settings)) == ["installed"] * len(HOOKS)


def test_a_folder_that_others_share_is_refused(
    repo: Repo, tmp_path: Path, persons_git: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hooks in the folder of `core.hooksPath` would be other repositories' too: only --shared writes there."""
    shared = tmp_path / "shared"
    repo.git("config", "--file", persons_git, "core.hooksPath", shared)
    assert hooks(["install", str(repo.folder)]) == 2
    assert "core.hooksPath puts the hooks into" in capsys.readouterr().err
    assert not shared.exists()
    assert hooks(["install", "--shared", str(repo.folder)]) == 0
    assert (shared / "pre-commit").exists()
    repo.git("config", "core.hooksPath", ".git/hooks")
    assert hooks(["install", str(repo.folder)]) == 0


def test_settings_are_no_part_of_the_repository(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """A settings file that a commit could change is refused, and so is one that is missing (decision 50)."""
    inside = repo.write("orrery.toml", "")
    assert hooks(["install", str(repo.folder), "--config", str(inside)]) == 2
    assert hooks(["install", str(repo.folder), "--config", "/gone.toml"]) == 2
    said = capsys.readouterr().err
    assert "is in the repository that is searched" in said
    assert "There is no settings file /gone.toml." in said
    assert states(repo, capsys) == ["missing"] * len(HOOKS)


def test_nothing_is_written_when_a_folder_is_wrong(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several folders each is looked at first: a bare one, or one without a repository, stops all."""
    bare = new_repo(tmp_path / "bare", "--bare")
    assert hooks(["install", str(repo.folder), str(bare.folder)]) == 2
    assert hooks(["install", str(repo.folder), str(tmp_path)]) == 2
    assert states(repo, capsys) == ["missing"] * len(HOOKS)


def test_a_worktree_has_the_hooks_of_its_repository(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed once, they are there in each worktree, and from a folder inside."""
    repo.commit("sub/a.txt")
    repo.git("worktree", "add", "-q", tmp_path / "tree")
    assert hooks(["install", str(tmp_path / "tree" / "sub")]) == 0
    assert states(repo, capsys) == ["installed"] * len(HOOKS)


def test_the_hook_starts_this_installation(repo: Repo, tmp_path: Path) -> None:
    """Its path is absolute and quoted: one with a space and a quote works."""
    program = tmp_path / "a b" / "it's" / "orrery"
    program.parent.mkdir(parents=True)
    program.write_bytes(Path(sys.executable).with_name("orrery").read_bytes())
    program.chmod(0o755)
    run(["./it's/orrery", "tenants", "hooks", "install", repo.folder], tmp_path / "a b")
    program.write_text('#!/bin/sh\necho "ours: $*"\n')
    assert repo.try_git("hook", "run", "pre-commit").stderr == b"ours: tenants scan --quiet --staged\n"


def test_the_hook_imports_nothing_from_the_repository(repo: Repo, tmp_path: Path) -> None:
    """An installation that Python starts as a module does not take the folder of that name that is searched."""
    run([sys.executable, "-m", "orrery", "tenants", "hooks", "install", repo.folder], tmp_path)
    repo.write("orrery/__init__.py", "raise SystemExit('from the repository')")
    came = repo.try_git("hook", "run", "pre-commit")
    assert (came.returncode, came.stderr) == (0, b"")
    repo.stage("a.json", '{"tenantId": "3f2a1c9d-1111-4111-8111-111111111111"}')
    assert repo.try_git("hook", "run", "pre-commit").returncode == 1


def run(words: Sequence[str | Path], folder: Path) -> None:
    """Run a program to its end."""
    subprocess.run(words, cwd=folder, capture_output=True, check=True, timeout=PATIENCE)  # noqa: S603  our own program
