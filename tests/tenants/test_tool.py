"""What is passed to the tool of `orrery tenants run` (spec 3, Authentication 4)."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.errors import Invalid
from orrery.tenants.settings import ToolSettings
from orrery.tenants.tool import arguments
from tests.support.recording_tool import used
from tests.support.tables import each_case

TOOL = ToolSettings(account_aliases=("--user", "-a"))
ANN, BO, JOANN = "ann@corp.example", "bo@lab.example", "joann@corp.example"
ACCOUNTS = (ANN, BO, JOANN)


@each_case(
    "accepted",
    [
        ["mail", "list", "--top", "5"],
        ["mail", "send-draft", "--to=cy@corp.example", "--subject", "Server: restart at 5"],
        ["mail", "--from", ANN, f"--cc={ANN.upper()}"],
        ["files", "get", "/account/serve", "--output=server", "--accounts", "-x", "--", "-"],
        ["search", "servers", "100%40", "a = b", ""],
    ],
)
def test_the_account_goes_in_front(accepted: list[str]) -> None:
    """What names no account, or the same one, is passed on as it is."""
    assert arguments(TOOL, ANN, ACCOUNTS, accepted) == ["--account", ANN, *accepted]


def test_a_tool_that_takes_the_account_behind_its_command() -> None:
    """The flag stands behind as many words as the settings say; and none of them is an option."""
    tool = TOOL.model_copy(update={"words_ahead": 2})
    given = ["mail", "list", "--top", "5"]
    assert arguments(tool, ANN, ACCOUNTS, given) == ["mail", "list", "--account", ANN, "--top", "5"]
    for wrong in (["mail"], ["mail", "--top", "5"], ["--top", "mail", "list"], ["--", "mail", "list"]):
        with pytest.raises(Invalid, match=r"^ARGS must begin with 2 words .*words_ahead"):
            _ = arguments(tool, ANN, ACCOUNTS, wrong)


@each_case(
    "word",
    [
        *("--account", "--account=x", "--account:x", "-account", "--ACCOUNT", "--Account=x", "---account"),
        *("--acc", "--acc=x", "--a", "-a", "-A", "-ax", "-a=x", "-xa", "-xAy", "--user", "--us", "-user=x", "-u"),
        *("\u2013\u2013account", "\u2014account", "--acc_ount", " --account"),
    ],
)
@each_case("before", [[], ["list"], ["list", "--"]])
def test_the_account_flag_is_refused(before: list[str], word: str) -> None:
    """In each form that some parser reads as the flag, behind `--` too; the sentence has the argument's place."""
    with pytest.raises(Invalid, match=rf"^Argument {len(before) + 1}\b.* may be read as the flag -"):
        _ = arguments(TOOL, ANN, ACCOUNTS, [*before, word, "y"])


@each_case(
    "word",
    [
        *(BO, BO.upper(), f"--as={BO}", f"-i{BO}", f"https://api.example/users/{BO}/mail", "bo%40lab.example"),
        *("bo%2540lab.example", "b%6f%40lab.example", f"{ANN},{BO}", f"x{JOANN}"),
    ],
)
def test_another_account_is_refused(word: str) -> None:
    """Anywhere in an argument, in any case, and with its @ encoded; the sentence does not repeat the argument."""
    with pytest.raises(Invalid, match=r"^Argument 2 names another account of the settings\.$"):
        _ = arguments(TOOL, ANN, ACCOUNTS, ["get", word])


def test_an_account_within_another_is_told_apart() -> None:
    """One account's address may be the end or the beginning of another's."""
    assert arguments(TOOL, JOANN, ACCOUNTS, ["get", JOANN])[2:] == ["get", JOANN]
    with pytest.raises(Invalid):
        _ = arguments(TOOL, ANN, ACCOUNTS, ["get", JOANN])
    longer = f"{ANN}.org"
    with pytest.raises(Invalid):
        _ = arguments(TOOL, ANN, (*ACCOUNTS, longer), ["get", longer])


@each_case("word", ["@more", "--args=@more", "--args:@more", "-f@more", " @more"])
def test_a_response_file_is_refused(word: str) -> None:
    """What is in it is unknown: it may name another account."""
    with pytest.raises(Invalid, match=r"^Argument 1 begins with @ .*response file"):
        _ = arguments(TOOL, ANN, ACCOUNTS, [word])


@each_case(
    "word", ["mcp", "MCP", "serve", "server", "serve=8080", "--server", "--serve", "--ser=8080", "--s", "--mcp"]
)
def test_server_mode_is_refused(word: str) -> None:
    """It ignores flag and variable; the sentence leads to the direct request."""
    with pytest.raises(Invalid, match=r"server mode.*`orrery tenants request --account NAME METHOD URL`"):
        _ = arguments(TOOL, ANN, ACCOUNTS, ["--quiet", word])


@pytest.mark.parametrize("word", ["a\nb", "a\rb", "a\0b", "a\u2028b"])
def test_an_argument_is_one_line(word: str) -> None:
    """A line break could begin another command where a tool reads its arguments as lines."""
    with pytest.raises(Invalid, match=r"^Argument 1 has a line break or a NUL in it\.$"):
        _ = arguments(TOOL, ANN, ACCOUNTS, [word])


def test_without_arguments_nothing_is_run() -> None:
    """Many tools open a shell then, in which the account can be changed."""
    with pytest.raises(Invalid, match=r"^ARGS is missing"):
        _ = arguments(TOOL, ANN, ACCOUNTS, [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tool that used Bo's account last."""
    made = tmp_path_factory.mktemp("tool")
    (made / "cached").write_text(BO)
    return made


WORDS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "--", "---", "@", "\u2013"]),
    st.sampled_from(
        [
            "",
            "a",
            "A",
            "ac",
            "account",
            "Account",
            "xa",
            "ax",
            "oa",
            "x",
            "o",
            "us",
            "user",
            "server",
            "mcp",
            "mail",
        ]
    ),
    st.sampled_from(["", "=", ":", " ", "%3d"]),
    st.sampled_from(["", "y", "a", "@more", "server", *ACCOUNTS]),
)


@settings(max_examples=1000)
@given(st.lists(WORDS | st.text(max_size=8), min_size=1, max_size=4))
def test_whatever_is_accepted_is_for_the_named_account(folder: Path, words: list[str]) -> None:
    """A parser that takes abbreviations, joined short flags and response files uses the named account, or none."""
    try:
        accepted = arguments(TOOL, ANN, ACCOUNTS, words)
    except Invalid:
        return
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        try:
            outcome = used(accepted, {}, folder)
        except SystemExit:
            return
    assert outcome == (ANN, False)
