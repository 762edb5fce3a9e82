"""`orrery tenants watch`: what it keeps, and that no output, error or file holds a term."""

import json
import stat
from collections.abc import Callable, Sequence

import pytest

from tests.support.plain_commands import plain
from tests.support.scan_user import SECRETS, ScanUser, at_a_terminal

TERM = "Northwind"
SUBCOMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "add": plain("watch add"),
    "import": plain("watch import"),
    "remove": plain("watch remove"),
    "list": plain("watch list"),
    "show": plain("watch show"),
    "new-key": plain("watch new-key"),
}


def rows(user: ScanUser) -> list[dict[str, str]]:
    """Return what `list --json` prints."""
    code, out, _ = user.types(plain("watch list"), "--json")
    assert code == 0
    return json.loads(out)


def test_a_key_is_written_once(user: ScanUser) -> None:
    """It goes into its secret file, for the owner only; neither it nor a list is ever overwritten."""
    user.write(SECRETS)
    code, out, err = user.types(plain("watch new-key"))
    key = user.key_file.read_text()
    assert (code, out) == (0, "")
    assert str(user.key_file) in err
    assert key.strip() not in err
    assert stat.S_IMODE(user.key_file.stat().st_mode) == 0o600
    assert user.types(plain("watch new-key"))[0] == 2
    assert user.types(plain("watch add"), "--kind", "person", given="Ann Lee\n")[0] == 0
    user.key_file.rename(user.home / "lost")
    code, _, err = user.types(plain("watch new-key"))
    assert (code, user.key_file.exists()) == (2, False)
    assert "a new key could not open" in err


def test_a_key_without_a_folder(user: ScanUser) -> None:
    """Where no folder of secrets is set, nothing is guessed: the key is printed when that is asked for."""
    code, out, err = user.types(plain("watch new-key"))
    assert (code, out) == (2, "")
    assert "[secrets]" in err
    code, out, _ = user.types(plain("watch new-key"), "--print")
    assert code == 0
    user.set(ORRERY_WATCH_LIST_KEY=out)
    assert user.types(plain("watch new-key"), "--print")[:2] == (2, "")
    assert user.types(plain("watch add"), "--kind", "person", given="Ann Lee\n")[0] == 0


def test_terms_are_added_listed_and_removed(user: ScanUser) -> None:
    """Spellings of one term are one; what is listed are kinds, fingerprints and days."""
    user.with_list()
    code, out, err = user.types(plain("watch add"), "--kind", "customer", given=f"{TERM.upper()}\n Contoso \n\n")
    assert (code, out) == (0, "")
    assert "Added 1 of 2; 1 were there already. The watch-list has 2 now" in err
    found = rows(user)
    assert [set(one) for one in found] == [{"kind", "fingerprint", "added"}] * 2
    assert user.types(plain("watch remove"), given=f"{TERM.lower()}\n")[0] == 0
    assert rows(user) == found[1:]
    assert user.types(plain("watch remove"), given="Contoso\nno such term\n")[0] == 2
    assert rows(user) == found[1:]
    assert user.types(plain("watch remove"), "--fingerprint", found[1]["fingerprint"])[0] == 0
    assert rows(user) == []
    assert user.types(plain("watch remove"), given="Contoso\n")[0] == 2


def test_a_finding_has_the_fingerprint_of_its_entry(user: ScanUser) -> None:
    """The key of the list makes both, so that the owner can look a finding up."""
    user.with_list()
    assert rows(user)[0]["fingerprint"] == user.load().fingerprints.of("customer", TERM.lower())


def test_an_import_is_done_as_a_whole(user: ScanUser) -> None:
    """One bad line, and nothing is added; the lines are named by their numbers only."""
    user.with_list()
    bad = f"person\tAnn Lee\n{TERM}\t{TERM}\nperson\n\nperson\t \nproject\tx\u200by\nproject\tGemini\tnote\tmore\n"
    code, _, err = user.types(plain("watch import"), "-", given=bad)
    assert code == 2
    assert [line.partition(":")[0] for line in err.splitlines()[1:]] == [f"line {n}" for n in (2, 3, 5, 6, 7)]
    assert not [word for word in (TERM, "Ann", "Gemini") if word in err]
    assert len(rows(user)) == 1


@pytest.mark.parametrize(
    "text", ['\ufeffkind,text,note\r\nperson,"Lee, Ann",boss\r\n', "\ufeffperson\tLee, Ann\tboss\n"]
)
def test_the_two_forms_of_an_import(user: ScanUser, text: str) -> None:
    """A table of a spreadsheet, or a line each; the file is to be deleted afterwards."""
    user.with_list()
    file = user.home / "terms.csv"
    file.write_text(text, newline="")
    code, _, err = user.types(plain("watch import"), str(file))
    assert code == 0
    assert f"shred -u {file}" in err
    entry = (user.watch_list().read() or pytest.fail("no list")).entries[-1]
    assert (entry.kind, entry.text, entry.note) == ("person", "Lee, Ann", "boss")


def test_a_file_of_terms_in_a_repository_is_refused(user: ScanUser) -> None:
    """Terms in clear lie there, one `git add` from being public."""
    user.with_list()
    (user.here / ".git").mkdir()
    (user.here / "terms.tsv").write_text("person\tAnn Lee\n")
    code, _, err = user.types(plain("watch import"), "terms.tsv")
    assert (code, len(rows(user))) == (2, 1)
    assert "move it out" in err


@pytest.mark.parametrize("command", SUBCOMMANDS)
@pytest.mark.parametrize(
    "typed", [[TERM], ["--kind", TERM], [f"--kind={TERM}"], [f"--{TERM}"], [f"--show={TERM}"]]
)
def test_a_term_as_an_argument_is_refused(user: ScanUser, command: str, typed: list[str]) -> None:
    """It would stand in the shell's history; the refusal does not repeat it."""
    user.with_list()
    code, out, err = user.types(SUBCOMMANDS[command], *typed, given="Contoso\n")
    assert code == 2
    assert TERM not in out + err
    assert len(rows(user)) == 1


def test_a_mistyped_term_is_explained(user: ScanUser) -> None:
    """Who types a term after `add` learns why not, and what to delete."""
    for option, says_option in (("customer", False), ("customer --name", True)):
        _, _, err = user.types(plain("watch add"), "--kind", *option.split(), TERM)
        assert ("There is no such option" in err) == says_option
        assert "delete it from your shell's history" in err


def test_terms_are_shown_at_a_terminal_only(user: ScanUser) -> None:
    """Into a pipe nothing is printed; at a terminal the owner learns which term a finding was."""
    user.with_list()
    fingerprint = rows(user)[0]["fingerprint"]
    for command, arguments in (
        (plain("watch list"), ["--show"]),
        (plain("watch show"), ["--fingerprint", fingerprint]),
    ):
        code, out, err = user.types(command, *arguments)
        assert (code, out) == (2, "")
        assert "terminal" in err
        code, shown = at_a_terminal(command, *arguments)
        assert (code, TERM in shown, fingerprint in shown) == (0, True, True)


def test_terms_are_asked_for_at_a_terminal(user: ScanUser) -> None:
    """Each with a prompt, until an empty line."""
    user.with_list()
    code, shown = at_a_terminal(plain("watch add"), "--kind", "customer", typed="Contoso\nFabrikam\n\n")
    assert code == 0, shown
    assert shown.count("A customer to watch for") == 3
    assert len(rows(user)) == 3


def test_a_missing_key_is_said_before_a_term_is_typed(user: ScanUser) -> None:
    """Nobody types twenty names for nothing."""
    user.write("")
    code, _, err = user.types(plain("watch add"), "--kind", "customer", given="")
    assert code == 2
    assert "orrery tenants watch new-key" in err


def test_a_group_alone_lists_its_commands(user: ScanUser) -> None:
    """`orrery tenants watch` says what there is, and that something is missing."""
    code, _, err = user.types(plain("watch"))
    assert code == 2
    assert all(f"\n    {name} " in err for name in SUBCOMMANDS)
    assert user.types(plain("watch"), "--help")[0] == 0


def test_no_file_holds_a_term(user: ScanUser) -> None:
    """Nothing in the user's folders has it in clear, also after a change."""
    user.with_list()
    assert user.types(plain("watch add"), "--kind", "person", given="Ann Lee\n")[0] == 0
    written = b"".join(file.read_bytes() for file in user.home.rglob("*") if file.is_file())
    assert not [word for word in (TERM, "Ann Lee") if word.lower().encode() in written.lower()]
