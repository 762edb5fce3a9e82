"""The options of the recovery, and the file that keeps them."""

import subprocess
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import Invalid
from orrery.gateway.guest.options import Options, parsed_options, rendered_options, with_given
from tests.gateway.guest.guests import OPTIONS
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

COMMANDS = st.text(st.characters(codec="utf-8", exclude_characters="'"), max_size=60).filter(str.isprintable)


@given(COMMANDS)
def test_what_was_written_is_read_back(probe: str) -> None:
    """Any command is kept as it was given."""
    options = replace(OPTIONS, probe=probe)
    assert parsed_options(rendered_options(options), "the file") == options


def test_a_shell_reads_the_same() -> None:
    """The scripts read the file as assignments of the shell, in which nothing is expanded."""
    probe = r'printf "%s" "$(date)" `date` \x2d $HOME "a b" | grep -q .'
    text = rendered_options(replace(OPTIONS, probe=probe, unit=r"my\x2dgw.service"))
    shown = "".join(f'printf "%s\\n" "${name.upper()}"\n' for name in asdict(OPTIONS))
    came = subprocess.run(["sh", "-c", text + shown], capture_output=True, text=True, timeout=PATIENCE, check=True)  # noqa: S603, S607  our own text, a shell's
    assert came.stdout.splitlines() == [*asdict(replace(OPTIONS, probe=probe, unit=r"my\x2dgw.service")).values()]


@each_case(
    "line", ["PROBE=x", "PROBE='a'b'", "PROBE='a' PUSH='b'", "EVIL='x'", "reboot", "PROBE='$x", "  PROBE='x'"]
)
def test_another_format_is_refused_by_its_line(line: str) -> None:
    """Nothing is guessed: a line that `install` does not write stops the command."""
    with pytest.raises(Invalid, match=r"Line 2 of the file is not as `install` writes it"):
        _ = parsed_options(f"UNIT='gateway.service'\n{line}\n", "the file")


def test_what_is_not_given_stays() -> None:
    """None keeps a value, and a text replaces it."""
    assert with_given(OPTIONS, {"probe": None, "ping": None}) == OPTIONS
    assert with_given(OPTIONS, {"probe": "true"}) == replace(OPTIONS, probe="true")


def test_an_empty_text_turns_a_part_off() -> None:
    """Its secret file goes with it."""
    assert with_given(OPTIONS, {"push": ""}) == replace(OPTIONS, push="", topic_file="")
    assert with_given(OPTIONS, {"ping": "", "ping_token_file": None}) == replace(
        OPTIONS, ping="", ping_token_file=""
    )


@each_case(
    ("given_", "said"),
    [
        ({"push": "http://ntfy.example.org"}, "--push: The address must begin with https://"),
        ({"ping": "https://shop.example.org/ping?x=1"}, "--ping: The address must be like"),
        ({"topic_file": "topic"}, "--topic-file must be the absolute path"),
        ({"topic_file": "/etc/it's"}, "--topic-file must be the absolute path"),
        ({"ping_token_file": "/etc/a b"}, "--ping-token-file must be the absolute path"),
        ({"token_script": "/etc/x\n"}, "--token-script must be the absolute path"),
        ({"topic_file": ""}, "--push needs --topic-file too"),
        ({"push": "", "topic_file": "/etc/topic"}, "--topic-file needs --push too"),
        ({"probe": "test 'x'"}, "--probe must be one line"),
        ({"probe": "a\nb"}, "--probe must be one line"),
        ({"probe": "https://x.example.org/a b"}, "--probe must be a web address"),
        ({"probe": "ftp://x.example.org"}, "--probe must be a web address"),
        (
            {"start_within": "601s"},
            "--start-within must be whole seconds or minutes, such as 8s or 2m, and at most 600s",
        ),
        ({"start_within": "11m"}, "--start-within must be"),
        ({"answer_within": "21"}, "--answer-within must be .* at most 20s"),
        ({"stop_within": "61s"}, "--stop-within must be .* at most 60s"),
        *(
            ({"stop_within": text}, "--stop-within must be")
            for text in ("0", "0s", "-1s", "1.5s", "1h", "s", "08s", "\u0661s")
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(given_: dict[str, str | None], said: str) -> None:
    """Each refusal names its option."""
    with pytest.raises(Invalid, match=said):
        _ = with_given(OPTIONS, given_)


@each_case(("text", "kept"), [("600s", "600"), ("10m", "600"), ("1s", "1"), ("90", "90"), ("1m", "60"), ("", "")])
def test_the_patience_is_kept_in_seconds(text: str, kept: str) -> None:
    """It is given in seconds or minutes, and what is kept is taken again."""
    options = with_given(OPTIONS, {"start_within": text})
    assert options.start_within == kept
    assert with_given(options, {}) == options


@pytest.mark.parametrize(
    ("probe", "kept"),
    [
        ("https://gw.example.org/healthz?deep=1", "https://gw.example.org/healthz?deep=1"),
        ("HTTP://[::1]:8080/A", "http://[::1]:8080/A"),
        ("nc -z localhost 9", "nc -z localhost 9"),
    ],
)
def test_a_probe_is_an_address_or_a_command(probe: str, kept: str) -> None:
    """A probe may ask any host, and any command may be one; an address is kept as the scripts know it."""
    assert with_given(Options("gateway.service"), {"probe": probe}).probe == kept
