"""What `orrery secrets check` finds about each secret (issue item 7). It shows no value and no length."""

from dataclasses import dataclass
from typing import Literal, Protocol

from orrery.secrets.baseline import Announcement

ExaminedState = Literal["ok", "broken", "off"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One observation about a secret; with a `todo` the secret is broken."""

    text: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """One examined secret: its state, its fingerprint where it was read from, and the remarks."""

    secret: str
    state: ExaminedState
    fingerprint: str | None
    announced: Announcement | None
    remarks: tuple[Remark, ...]

    def row(self) -> dict[str, object]:
        """Return it as the command prints it."""
        until = self.announced.until if self.announced else None
        return {
            "secret": self.secret,
            "state": self.state,
            "found": "; ".join(remark.text.rstrip(".") for remark in self.remarks),
            "what_to_do": " ".join(dict.fromkeys(remark.todo for remark in self.remarks if remark.todo)),
            "fingerprint": self.fingerprint,
            "announced_until": until.isoformat() if until else None,
            "reason": self.announced.reason if self.announced else None,
        }


class SecretsExamination(Protocol):
    """Examines every secret, and asks the processor and the running service about them."""

    @property
    def compares_password(self) -> bool:
        """Whether there is a hash with which the admin password can be compared."""
        ...

    async def run(self, password: str | None) -> tuple[list[Examined], str]:
        """Return each secret, the folder if there is one, and a sentence about the running service.

        `password` is the admin password, if it was given.
        """
        ...
