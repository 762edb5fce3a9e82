"""A package without its extra `demo`: the service is whole, and the demo says what is missing."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("words", [("demo",), ("sandbox", "--help")], ids=" ".join)
def test_the_demo_says_how_to_install_it(words: tuple[str, ...]) -> None:
    """One sentence with the command that installs it, exit code 2, and nothing is written."""
    asked = "import sys; sys.modules['aiosmtpd'] = None; from orrery.app.main import main; main()"
    command = [sys.executable, "-c", asked, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  fixed words
    assert (done.returncode, done.stdout) == (2, "")
    sentence = f"The sandbox is not installed: type {sys.executable} -m pip install 'orrery[demo]'.\n"
    assert done.stderr.replace("\n", "") == sentence.replace("\n", "")
