"""Somebody who types lines at a terminal, pastes what is asked for, and looks at what comes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pexpect

_PROMPT = re.compile(r"\r?(?:<<(?P<status>\d+)>> |<<more>> )$")
END = "\x04"
"""Ctrl-D, on a line of its own."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is typed once `asked` (a part of the prompt, or nothing) is shown; Enter is pressed after it.

    `text` may be found in what the terminal has shown before.
    """

    text: str | Callable[[str], str]
    asked: str = ""


@dataclass
class Typist:
    """Somebody at a terminal; `shown` is what it showed since `clear`."""

    terminal: "pexpect.spawn[str]"
    shown: str = ""
    log: list[str] = field(default_factory=list[str])
    patience: int = 5
    """How often the terminal's time-out may pass: one line installs every package."""

    def __post_init__(self) -> None:
        """Wait for the shell, and give it a prompt that tells how the last command ended."""
        self.terminal.sendline("PS1='<<$?>> ' PS2='<<mo''re>> '; unset PROMPT_COMMAND; stty -echo")
        self._until_prompt()

    def type(self, line: str, answers: Sequence[Answer] = ()) -> int | None:
        """Type a line and return the exit status; None while the shell waits for more of the command."""
        self.log.append(f"$ {line}")
        self.terminal.sendline(line)
        for answer in answers:
            if answer.asked:
                found = self._wait_for(re.compile(f"(?P<asked>{re.escape(answer.asked)})|{_PROMPT.pattern}"))
                assert found["asked"], "\n".join([*self.log, f"{answer.asked!r} was not asked for"])
            text = answer.text if isinstance(answer.text, str) else answer.text("\n".join(self.log))
            self.terminal.send(text if text == END else f"{text}\n")
        return self._until_prompt()

    def clear(self) -> None:
        """Look only at what is shown from now on."""
        self.shown = ""

    def _until_prompt(self) -> int | None:
        status = self._wait_for(_PROMPT)["status"]
        return None if status is None else int(status)

    def _wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        try:
            while self.terminal.expect([pattern, pexpect.TIMEOUT]):
                self.patience -= 1
                assert self.patience, "\n".join(
                    [*self.log, f"nothing of {pattern.pattern} in {self.terminal.before}"]
                )
        except pexpect.EOF as error:
            raise AssertionError("\n".join([*self.log, str(self.terminal.before)])) from error
        found, before = self.terminal.match, str(self.terminal.before)
        assert isinstance(found, re.Match)
        self.shown += before
        self.log.append(before)
        return found
