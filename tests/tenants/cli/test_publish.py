"""`orrery tenants publish`: what is typed, what is printed, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from orrery.errors import Invalid, OrreryError, TrackRefused
from orrery.ports.publications import PublicationRefused
from orrery.tenants.cli.publish import command
from tests.support.destinations import settings_file_in
from tests.support.program import run_orrery
from tests.support.scanners import scanning_runner

APPLICATION = typer.Typer()
APPLICATION.command()(command)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the settings of both tracks, and a note that may be published."""
    (tmp_path / "note.md").write_bytes(b"Hello.\n")
    return settings_file_in(tmp_path)


def typed(config: Path, *words: str, given: bytes = b"") -> Result:
    """Type the command, with a scanner that looks for one word; raise its error."""
    arguments = ["--config", str(config), *words]
    result = CliRunner().invoke(APPLICATION, arguments, obj=scanning_runner, input=given)
    if result.exception:
        assert result.stdout_bytes == b""
        raise result.exception
    return result


def test_a_file_is_published(config: Path) -> None:
    """It lies in the destination, and one sentence says so, apart from the output."""
    result = typed(config, str(config.parent / "note.md"), "blog/posts/")
    assert (config.parent / "blog" / "posts" / "note.md").read_bytes() == b"Hello.\n"
    assert (result.stdout, "Published 1 file, 7 bytes, as blog/posts/note.md." in result.stderr) == ("", True)


def test_what_was_published_as_json(config: Path) -> None:
    """Machines get where it is, of which track, and each file with its digest."""
    (file,) = (found := json.loads(typed(config, str(config.parent / "note.md"), "blog", "--json").stdout))[
        "files"
    ]
    assert (found["destination"], found["kind"], found["track"], found["path"], found["bytes"]) == (
        "blog",
        "blog",
        "B",
        "note.md",
        7,
    )
    assert (file["name"], file["bytes"], len(file["sha256"])) == ("note.md", 7, 64)


@pytest.mark.parametrize("post", ["Grüße\n".encode(), b"no line's end", b"two\r\nlines\x1b\n"])
def test_a_post_is_printed_exactly(config: Path, post: bytes) -> None:
    """What the tool that posts it reads is what came in, byte by byte."""
    assert typed(config, "--stdin", "news", given=post).stdout_bytes == post


def test_standard_input_becomes_a_file(config: Path) -> None:
    """With the path of a file in the destination, it is written there, and not printed."""
    result = typed(config, "--stdin", "blog/a.md", given=b"Hello.")
    assert ((config.parent / "blog" / "a.md").read_bytes(), result.stdout) == (b"Hello.", "")


@pytest.mark.parametrize(
    ("kind", "words", "given"),
    [
        (PublicationRefused, ["--stdin", "news"], b"Contoso"),
        (TrackRefused, ["--stdin", "news"], b'{"track": "A"}'),
        (PublicationRefused, ["--stdin", "news"], b""),
        (TrackRefused, ["--stdin", "team/a.md"], b"Hello."),
        (Invalid, ["--stdin", "news", "--json"], b"Hello."),
        (Invalid, ["--stdin", "note.md", "news"], b"Hello."),
        (Invalid, ["news"], b""),
        (Invalid, ["a.md", "b.md", "blog"], b""),
        (Invalid, ["note.md", "nowhere"], b""),
        (Invalid, ["gone.md", "blog"], b""),
    ],
)
def test_what_is_refused_prints_nothing(
    config: Path, kind: type[OrreryError], words: list[str], given: bytes
) -> None:
    """A pipe gets nothing to post, and no destination anything to show."""
    with pytest.raises(kind):
        typed(config, *words, given=given)
    assert not [*(config.parent / "blog").iterdir()]
    assert not [*(config.parent / "team").iterdir()]


@pytest.mark.parametrize(
    ("to", "code", "said"), [("blog", 1, "canary in note.md"), ("nowhere", 2, "no destination")]
)
def test_the_scanner_reads_what_is_published(config: Path, to: str, code: int, said: str) -> None:
    """What it finds ends the process with 1; a wrong call ends with 2, and needs no store."""
    (config.parent / "note.md").write_text('It was "track": "B", and reference R6R0-Q4W8-Y1P6-E1K5.')
    told = run_orrery("tenants", "publish", "--config", str(config), str(config.parent / "note.md"), to)
    assert (told.returncode, told.stdout, said in told.stderr) == (code, "", True), told.stderr
    assert not [*(config.parent / "blog").iterdir()]
    assert not (config.parent / "own").exists()


def test_a_refused_post_stops_the_pipe(config: Path) -> None:
    """The process that would post it reads nothing, and sees exit code 1."""
    post = ("tenants", "publish", "--config", str(config), "--stdin", "news")
    told = run_orrery(*post, given="Hello R6R0-Q4W8-Y1P6-E1K5.")
    assert (told.returncode, told.stdout) == (1, "")


def test_no_list_is_not_all_clear(config: Path) -> None:
    """Where there is a track A, nothing goes out without a list of its names, unless the journal can keep that."""
    publish = ("tenants", "publish", "--config", str(config), str(config.parent / "note.md"), "blog")
    told = run_orrery(*publish)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "type: orrery tenants watch add --kind customer" in told.stderr
    assert run_orrery(*publish, "--without-watch-list").returncode != 0
    assert not [*(config.parent / "blog").iterdir()]
    assert run_orrery("cockpit", "store", "create", "--config", str(config)).returncode == 0
    told = run_orrery(*publish, "--without-watch-list")
    assert (told.returncode, told.stderr.count("There is no watch-list")) == (0, 1), told.stderr
    assert [one.name for one in (config.parent / "blog").iterdir()] == ["note.md"]
    kept = run_orrery("tenants", "journal", "list", "--json", "--config", str(config)).stdout
    [entry] = json.loads(kept)
    assert (entry["track"], entry["text"]) == (
        "B",
        "Published to blog without a watch-list: no name was searched for.",
    )


@pytest.mark.parametrize("place", ["own/cockpit.db", "own/sign-ins", "own/sign-ins/A.json", "orrery.toml", "own"])
def test_what_orrery_keeps_is_not_published(config: Path, place: str) -> None:
    """Neither the store nor the sign-ins nor the settings, whether named alone or by the folder above."""
    source = config.parent / place
    if place != "orrery.toml":
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(b"") if source.suffix else source.mkdir()
    with pytest.raises(TrackRefused, match="holds what Orrery keeps"):
        typed(config, str(source), "blog")


def test_the_scanner_is_not_taken_from_the_current_folder(config: Path) -> None:
    """A folder of the same name, where the command is typed, is not what searches."""
    here = config.parent / "here"
    (here / "orrery").mkdir(parents=True)
    for name in ("__init__", "__main__"):
        (here / "orrery" / f"{name}.py").write_text("raise SystemExit(7)")
    note = str(config.parent / "note.md")
    program = str(Path(sys.executable).with_name("orrery"))
    command = [program, "tenants", "publish", "--config", str(config), note, "blog"]
    told = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)  # noqa: S603  our own program
    assert (told.returncode, "There is a track A, but no watch-list" in told.stderr) == (2, True), told.stderr
