"""`orrery gateway guest` over the files below a folder: what systemd does with them is seen in tests/systemd."""

import json
import stat
import tarfile
from pathlib import Path

import pytest

from orrery.gateway.guest.files import host_files
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.unit_name import unit_name
from tests.support.program import run_orrery
from tests.support.tables import each_case

CONF = "usr/local/sbin/gateway-recover.conf"
FILES = host_files(unit_name("gateway"), Options("gateway.service"))


def guest(word: str, root: Path, *options: str, unit: str = "gateway") -> tuple[int, str]:
    """Run a command over a folder; return its exit code and all that it printed."""
    came = run_orrery("gateway", "guest", word, "--unit", unit, "--root", str(root), *options)
    return came.returncode, came.stdout + came.stderr


def found(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return every file below a folder by its path: text, mode, and when it was written."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {
        f"/{path.relative_to(root)}": (path.read_text(), stat.S_IMODE(at.st_mode), at.st_mtime_ns)
        for path in files
        for at in [path.lstat()]
    }


def test_install_writes_the_files_and_no_more(tmp_path: Path) -> None:
    """Below the folder stands what is rendered, with its modes."""
    assert guest("install", tmp_path)[0] == 0
    written = {path: (text, mode) for path, (text, mode, _) in found(tmp_path).items()}
    assert written == {file.path: (file.text, file.mode) for file in FILES}


def test_a_second_installation_changes_nothing(tmp_path: Path) -> None:
    """No file is written again, and the plan is empty."""
    _ = guest("install", tmp_path)
    before = found(tmp_path)
    assert guest("plan", tmp_path)[0] == 0
    assert guest("install", tmp_path)[0] == 0
    assert found(tmp_path) == before


def test_a_link_in_the_folder_leads_to_nothing_outside_of_it(tmp_path: Path) -> None:
    """In an image `/etc` may be a link to an absolute path: the files of this machine are left alone."""
    outside, image = tmp_path / "outside", tmp_path / "image"
    (outside / "systemd/system").mkdir(parents=True)
    image.mkdir()
    (image / "etc").symlink_to(outside)
    code, printed = guest("install", image)
    assert (code, found(outside)) == (1, {})
    assert "leads out of" in printed


def test_a_plan_shows_the_difference_and_writes_nothing(tmp_path: Path) -> None:
    """A file that was altered is shown as it is and as it will be; the exit code says that there is one."""
    _ = guest("install", tmp_path)
    timer = tmp_path / "etc/systemd/system/gateway-recover.timer"
    timer.write_text(timer.read_text().replace("15min", "1h"))
    before = found(tmp_path)
    code, printed = guest("plan", tmp_path)
    assert code == 1
    assert {"-OnUnitActiveSec=1h", "+OnUnitActiveSec=15min"} <= {*printed.splitlines()}
    assert found(tmp_path) == before


def test_a_plan_for_machines(tmp_path: Path) -> None:
    """`--json` lists each file with what would become of it."""
    came = run_orrery("gateway", "guest", "plan", "--unit", "gateway", "--root", str(tmp_path), "--json")
    assert [(one["path"], one["change"]) for one in json.loads(came.stdout)] == [
        (file.path, "new") for file in FILES
    ]


def test_what_a_kill_left_is_repaired(tmp_path: Path) -> None:
    """Files that are missing, of another mode or half written are written, and what was begun is removed."""
    _ = guest("install", tmp_path)
    whole = {path: (text, mode) for path, (text, mode, _) in found(tmp_path).items()}
    sbin = tmp_path / "usr/local/sbin"
    (sbin / "gateway-watch.sh").unlink()
    (sbin / "gateway-recover.sh").chmod(0o600)
    (sbin / "gateway-alert.sh").write_text("#!/bin/sh\n")
    (sbin / ".orrery-guest.new").write_text("#!/bi")
    assert guest("install", tmp_path)[0] == 0
    assert {path: (text, mode) for path, (text, mode, _) in found(tmp_path).items()} == whole


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """A mask in the place of our unit is a link to /dev/null: it ends, and nothing is written through a link."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    link = tmp_path / "root/etc/systemd/system/gateway-watch.service"
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert guest("install", tmp_path / "root")[0] == 0
    assert not link.is_symlink()
    assert elsewhere.read_text() == "mine"


def test_options_are_kept_until_they_are_given(tmp_path: Path) -> None:
    """An installation without options keeps those of the host and says so; an empty one turns its part off."""
    push = ("--push", "https://ntfy.example.org", "--topic-file", "/etc/gateway/topic")
    _ = guest("install", tmp_path, "--probe", "true", *push)
    _, printed = guest("install", tmp_path)
    assert "Kept as they are on this host: --probe, --push, --topic-file." in printed
    assert "PROBE='true'" in (tmp_path / CONF).read_text()
    _, printed = guest("install", tmp_path, "--push", "")
    assert "Kept as they are on this host: --probe." in printed
    kept = (tmp_path / CONF).read_text()
    assert "PROBE='true'" in kept
    assert "PUSH=''" in kept
    assert "TOPIC_FILE=''" in kept


def test_a_wrong_option_is_refused_before_anything_else() -> None:
    """Neither root nor systemd is needed to learn of it, and the exit code is that of a wrong call."""
    came = run_orrery("gateway", "guest", "install", "--unit", "gateway", "--push", "https://ntfy.example.org")
    assert (came.returncode, came.stdout) == (2, "")
    assert "--push needs --topic-file too" in came.stderr


def test_two_units_do_not_share_files(tmp_path: Path) -> None:
    """`gw@eu` and `gw-eu` would have the same names: the second is refused, and the first stays."""
    _ = guest("install", tmp_path, unit="gw@eu")
    before = found(tmp_path)
    for word in ("install", "plan", "verify", "uninstall"):
        code, printed = guest(word, tmp_path, unit="gw-eu")
        assert code == 2
        assert "belongs to gw@eu.service" in printed
    assert found(tmp_path) == before


def test_an_alien_file_of_options_is_refused(tmp_path: Path) -> None:
    """What `install` did not write is not guessed at; uninstalling is possible all the same."""
    _ = guest("install", tmp_path)
    (tmp_path / CONF).write_text("UNIT=gateway.service\n")
    code, printed = guest("install", tmp_path)
    assert code == 2
    assert "is not as `install` writes it" in " ".join(printed.split())
    assert guest("uninstall", tmp_path, "--yes")[0] == 0
    assert found(tmp_path) == {}


def test_verify_finds_an_altered_file(tmp_path: Path) -> None:
    """Below a folder only the files can be judged."""
    _ = guest("install", tmp_path)
    assert guest("verify", tmp_path)[0] == 0
    (tmp_path / "usr/local/sbin/gateway-watch.sh").chmod(0o777)
    code, printed = guest("verify", tmp_path, "--json")
    assert code == 1
    assert "gateway-watch.sh: mode 0777 -> 0755" in json.loads(printed)[0]["why"]


def test_verify_needs_an_installation(tmp_path: Path) -> None:
    """Without one there is nothing to compare with."""
    code, printed = guest("verify", tmp_path)
    assert code == 2
    assert "is not installed here" in printed


def test_uninstall_removes_exactly_what_was_installed(tmp_path: Path) -> None:
    """Another drop-in of the unit, the state and the secrets stay; a second time there is nothing to remove."""
    _ = guest("install", tmp_path)
    own = {"/etc/systemd/system/gateway.service.d/mine.conf", "/var/lib/gateway-recover/fires", "/etc/topic"}
    for path in own:
        (tmp_path / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path[1:]).write_text("mine")
    assert guest("uninstall", tmp_path, "--yes")[0] == 0
    assert {*found(tmp_path)} == own
    code, printed = guest("uninstall", tmp_path, "--yes")
    assert code == 0
    assert "There was nothing to remove." in printed


def test_uninstall_removes_the_folder_that_it_leaves_empty(tmp_path: Path) -> None:
    """The folder of the drop-in goes with it."""
    _ = guest("install", tmp_path)
    _ = guest("uninstall", tmp_path, "--yes")
    assert not (tmp_path / "etc/systemd/system/gateway.service.d").exists()


def test_machines_read_what_was_done(tmp_path: Path) -> None:
    """`--json` of `install` and `uninstall` is one document, with every file and each finding."""
    code, printed = guest("install", tmp_path, "--json")
    done = json.loads(printed.partition("\nThe files are")[0])
    assert code == 0
    assert {one["change"] for one in done["changes"]} == {"new"}
    assert {one["state"] for one in done["findings"]} == {"ok"}
    code, printed = guest("uninstall", tmp_path, "--json", "--yes")
    gone = json.loads(printed)
    assert code == 0
    assert {*gone["removed"]} == {file.path for file in FILES}
    assert gone["kept"] == ["/var/lib/gateway-recover"]


def test_uninstall_asks_first(tmp_path: Path) -> None:
    """Without an answer nothing is removed."""
    _ = guest("install", tmp_path)
    before = found(tmp_path)
    assert guest("uninstall", tmp_path)[0] == 1
    assert found(tmp_path) == before


def bundle(path: Path, *options: str, unit: str = "gateway") -> int:
    return run_orrery("gateway", "guest", "install", "--unit", unit, "--bundle", str(path), *options).returncode


def test_a_bundle_holds_the_files_and_two_scripts(tmp_path: Path) -> None:
    """Everything belongs to root, and has its mode."""
    assert bundle(tmp_path / "guest.tar") == 0
    with tarfile.open(tmp_path / "guest.tar") as tar:
        members = {one.name: (one.mode, one.uid, one.gid, one.uname, one.mtime) for one in tar.getmembers()}
    files = {f"recovery-gateway/files{file.path}": (file.mode, 0, 0, "root", 0) for file in FILES}
    scripts = {f"recovery-gateway/{name}.sh": (0o755, 0, 0, "root", 0) for name in ("install", "uninstall")}
    assert members == files | scripts


def test_a_bundle_is_reproducible(tmp_path: Path) -> None:
    """The same options make the same bytes."""
    assert bundle(tmp_path / "one.tar", "--probe", "true") == bundle(tmp_path / "two.tar", "--probe", "true") == 0
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_no_secret_is_in_a_bundle(tmp_path: Path) -> None:
    """Topic and ping token are asked for on the host."""
    (tmp_path / "topic").write_text("a-topic-that-is-secret")
    (tmp_path / "token").write_text("a-token-that-is-secret")
    push = ("--push", "https://ntfy.example.org", "--topic-file", str(tmp_path / "topic"))
    ping = ("--ping", "https://shop.example.org/ping", "--ping-token-file", str(tmp_path / "token"))
    assert bundle(tmp_path / "guest.tar", *push, *ping) == 0
    assert b"that-is-secret" not in (tmp_path / "guest.tar").read_bytes()


@pytest.mark.parametrize("unit", [r"my\x2dgw", "-gw", "gw@eu"])
def test_the_scripts_of_a_bundle_are_filled_in(tmp_path: Path, unit: str) -> None:
    """They name the unit, and list every file."""
    assert bundle(tmp_path / "guest.tar", unit=unit) == 0
    name = unit_name(unit).name
    with tarfile.open(tmp_path / "guest.tar") as tar:
        text = b"".join(
            one.read()
            for kind in ("install", "uninstall")
            if (one := tar.extractfile(f"recovery-{name}/{kind}.sh"))
        )
    assert text.count(f"unit='{unit}.service' name='{name}'".encode()) == 2
    assert text.count(f"0644 /etc/systemd/system/{name}-recover.timer\n".encode()) == 2
    assert b"@FILES@" not in text


@each_case("text", ["2", "08h", "2 h", "1w", "-1h", "8d"])
def test_a_pause_of_no_duration_is_refused(text: str) -> None:
    """The sentence says how a pause is written, and how long it may be."""
    came = run_orrery("gateway", "guest", "pause", "--unit", "gateway", f"--for={text}")
    assert came.returncode == 2
    assert "A pause is written like 30m, 2h or 1d, and lasts at most 7d." in " ".join(came.stderr.split())


@each_case("words", ["guest plan", "guest install", "guest verify", "guest pause", "drill"])
def test_the_help_shows_what_to_type(words: str) -> None:
    """An example stands on a line of its own, as it is typed."""
    came = run_orrery("gateway", *words.split(), "--help")
    lines = [line.strip().removeprefix("sudo ") for line in came.stdout.splitlines()]
    assert any(line.startswith(f"orrery gateway {words} --unit gateway.service") for line in lines), came.stdout


def test_pausing_needs_an_installation() -> None:
    """No unit has this name; root and any other user are refused with a sentence."""
    came = run_orrery("gateway", "guest", "pause", "--unit", "no-such-gateway-here", "--for", "2h")
    assert came.returncode == 2
    assert "is not installed here" in came.stderr or "needs root" in came.stderr
