"""What is well and what is not: for `readyz` and `doctor`."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "broken", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it is, why, and what to do. `off` is a part that nobody configured.

    `essential` parts are those without which the service must not be asked: they decide about `readyz`.
    """

    part: str
    state: State
    why: str = ""
    todo: str = ""
    essential: bool = True
