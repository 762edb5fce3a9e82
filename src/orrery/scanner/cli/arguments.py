"""The arguments of plain commands: an error repeats none of them, because a term may be among them."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from orrery.errors import Invalid

_NO_ARGUMENTS = (
    "A term is never typed as an argument: it would be in your shell's history and in the list of processes. "
    "Type the command without it, and the term when you are asked, or hand it over by standard input. "
    "If it was one, delete it from your shell's history now."
)
_REQUIRED = "the following arguments are required"


class QuietParser(ArgumentParser):
    """A parser whose help has examples, and whose errors quote nothing of what was typed."""

    def __init__(self, command: str, text: str, *examples: str) -> None:
        shown = "".join(f"\n    {one}" for one in examples)
        super().__init__(
            prog=f"orrery {command}",
            description=text,
            epilog=f"examples:{shown}" if examples else None,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise Invalid(
            f"{message[0].upper()}{message[1:]}; see `{self.prog} --help`."
            if message.startswith(_REQUIRED)
            else f"This cannot be typed so: see `{self.prog} --help`."
        )

    def parsed(self, arguments: Sequence[str], *, takes_terms: bool = True) -> Namespace:
        """Return the options; raise `Invalid` for what else was typed, of which a word may be a term."""
        options, further = self.parse_known_args(arguments)
        if not further:
            return options
        words = [one for one in further if not one.startswith("-")]
        what = "option" if further[0].startswith("-") else "argument"
        unknown = f"There is no such {what}: see `{self.prog} --help`."
        if takes_terms and words:
            raise Invalid(_NO_ARGUMENTS if words == further else f"{unknown} {_NO_ARGUMENTS}")
        raise Invalid(unknown)

    def with_config(self) -> "QuietParser":
        """Add the option for the settings file."""
        _ = self.add_argument("--config", "-c", type=Path, metavar="FILE", help="the settings file")
        return self


def explain(sentence: str) -> None:
    """Print a sentence for the person, apart from the output."""
    _ = sys.stderr.write(f"{sentence}\n")


def put(text: str) -> None:
    """Print a line of the output."""
    _ = sys.stdout.write(f"{text}\n")
