"""A process that is killed at one of its steps: what it would do from there on, it does not do."""

from dataclasses import dataclass

NEVER = 1_000_000


class Killed(BaseException):
    """The process is gone: nothing after this runs."""


@dataclass(slots=True)
class Fuse:
    """Counts the steps of a process that can be seen from outside, and kills it at one of them."""

    at: int = NEVER
    steps: int = 0

    @property
    def survived(self) -> bool:
        """Tell whether its end came before its kill."""
        return self.steps < self.at

    def burn(self) -> None:
        """Take a step, or be killed here."""
        self.steps += 1
        if self.steps == self.at:
            raise Killed
