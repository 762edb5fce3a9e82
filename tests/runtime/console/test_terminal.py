"""What is stored, or came from the processor, cannot steer the terminal that it is printed on."""

import pytest
import typer

from orrery.checkout.cli.checkout import show_verified
from orrery.checkout.selling.receipts import SessionCondition
from orrery.checkout.selling.verification import VerificationReport
from orrery.errors import RecordUnreadable
from orrery.runtime.console.tables import left_out, note, show
from orrery.runtime.console.terminal import marked, visible

ADDRESS = "2606:4700:a:b:1234:100:0:1"
HOSTILE = "\x1b[31m\x07 [bold]x[/bold] \u202e\\"


def test_an_address_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """The parts of an address are not taken for names of pictures, in a table or in a sentence."""
    show([{"value": ADDRESS}], ("value",), as_json=False, empty="")
    note(f"It is {ADDRESS}.")
    printed = capsys.readouterr()
    assert ADDRESS in printed.out
    assert printed.err == f"It is {ADDRESS}.\n"


def test_nothing_steers() -> None:
    """Control characters are shown, and what looks like rich's marks is text."""
    assert visible(HOSTILE) == "\\x1b[31m\\x07 [bold]x[/bold] \\u202e\\"
    assert "\\[bold]" in marked(HOSTILE)


def test_what_a_session_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """What a verification reads from the processor is printed as text."""
    condition = SessionCondition("metadata", wanted=HOSTILE, found=HOSTILE, holds=False)
    show_verified(VerificationReport("northwind/exam", "cs_1", catalogue=(condition,), why=HOSTILE))
    printed = capsys.readouterr().out
    assert printed.count("\\x1b[31m\\x07 [bold]x[/bold] \\u202e") == 3
    assert "\x1b[31m\x07" not in printed


def test_what_a_list_had_to_leave_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Each record that cannot be read is named after the list, as text, and the command ends with 1."""
    left_out([])
    with pytest.raises(typer.Exit) as ended:
        left_out([RecordUnreadable("access:cs_1"), RecordUnreadable(HOSTILE)])
    first, second = capsys.readouterr().err.splitlines()
    assert ended.value.exit_code == 1
    assert first.startswith("The record access:cs_1 cannot be read")
    assert "\\x1b[31m\\x07 [bold]x[/bold]" in second
