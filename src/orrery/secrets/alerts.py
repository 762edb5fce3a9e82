"""What is said about secrets: which secret, what stops working, what to do; never a value or a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from orrery.ports.notifier import Priority
from orrery.runtime.outbox import OutboxDraft
from orrery.runtime.secret import SecretUse
from orrery.runtime.secret_probe import RELOAD
from orrery.secrets.baseline import SecretEventKind, Trouble
from orrery.secrets.fingerprints import DIRECTORY

TRAP = (
    "A partial update of environment variables wipes what it does not name: put it back, and type "
    "`orrery secrets reload`."
)
"""A fault that has happened before (spec 1, Authentication 2)."""

_NEWS: dict[str, tuple[str, Priority]] = {
    "rotated": ("Rotation seen", "default"),
    "removed": ("Secret taken away as announced", "default"),
    "appeared": ("New secret", "low"),
}
"""What is no problem, and is pushed all the same; what is one is pushed as a problem."""

_WHY: dict[Trouble, str] = {
    "vanished": "It is gone from its place.",
    "emptied": "It is there, and empty.",
    "changed": "It is another value than before, and the change was not announced.",
    "unreadable": "It cannot be read any more.",
    "refused": "The next start will be refused.",
    "mode": "More people of this machine may use its file than before.",
    "restart": "The service holds another value than the one that is there now.",
}

_LOOK = "`orrery secrets check` shows what is there."
_ANNOUNCE = 'If it was you: `orrery secrets announce {name} --reason "…"`.'
_REMOVE = 'If you removed it permanently: `orrery secrets announce {name} --removal --reason "…"`.'


@dataclass(frozen=True, slots=True)
class SecretEvent:
    """A change of one secret. `needs_restart`: the service holds another value, a separate problem."""

    name: str
    kind: SecretEventKind
    needs_restart: bool = False


def pushes(events: Sequence[SecretEvent], now: datetime) -> list[OutboxDraft]:
    """Return one push for each kind of news, so that a rotation of five secrets is one message."""
    news: dict[str, list[str]] = {}
    for event in events:
        if event.kind in _NEWS and not event.needs_restart and event.name != DIRECTORY:
            news.setdefault(event.kind, []).append(event.name)
    return [_push(kind, names, now) for kind, names in news.items()]


def _push(kind: str, names: Sequence[str], now: datetime) -> OutboxDraft:
    title, priority = _NEWS[kind]
    return OutboxDraft(
        id=f"secret-{kind}-{now:%Y%m%dT%H%M%S.%f}",
        channel="push",
        title=f"{title}: {', '.join(names)}",
        body="The service knows. There is nothing to do.",
        priority=priority,
    )


def describe(trouble: Trouble, name: str) -> tuple[str, str]:
    """Return why a secret is not well, and what to do."""
    if trouble == "restart":
        return _WHY[trouble], f"{RELOAD} {_LOOK}"
    if trouble == "refused":
        return _WHY[trouble], _LOOK
    first = "Take the rights away (chmod)." if trouble == "mode" else TRAP
    return _WHY[trouble], f"{first} {_LOOK} {_how_to_accept(trouble, name)}".strip()


def loss(trouble: Trouble, use: SecretUse | None, *, held: bool) -> str:
    """Return what a trouble stops; `held` is whether the running process has a value of the secret."""
    if trouble in ("mode", "restart", "refused"):
        return ""
    if use is None:
        return "The running service goes on with what it holds; the next start may be refused."
    if not use.stops:
        return "Nothing that is configured uses it."
    if trouble == "changed":
        return f"If that is wrong: {use.effect}"
    if held:
        return f"The running service still holds it. From its next start on: {use.effect}"
    return f"From now on: {use.effect}"


def _how_to_accept(trouble: Trouble, name: str) -> str:
    if trouble in ("vanished", "emptied"):
        return _REMOVE.format(name=name)
    return _ANNOUNCE.format(name=name) if trouble in ("changed", "mode") else ""
