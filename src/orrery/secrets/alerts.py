"""The pushes about secrets: which secret, what stops working, what to do; never a value or a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orrery.ports.notifier import Priority
from orrery.runtime.outbox import OutboxDraft
from orrery.runtime.secret import SecretUse
from orrery.secrets.baseline import SecretEventKind, Trouble
from orrery.secrets.fingerprints import DIRECTORY

TRAP = "A partial update of environment variables wipes what it does not name: put it back and restart."
"""A fault that has happened before (spec 1, Authentication 2)."""

_TITLES: dict[SecretEventKind, str] = {
    "vanished": "Secret gone",
    "emptied": "Secret emptied",
    "changed": "Secret changed unannounced",
    "unreadable": "Secret cannot be read",
    "refused": "The next start will be refused",
    "mode": "Secret open to more people",
    "rotated": "Rotation seen",
    "removed": "Secret taken away as announced",
    "appeared": "New secret",
    "back": "Secret is back",
}

_PRIORITIES: dict[SecretEventKind, Priority] = {
    "vanished": "urgent",
    "emptied": "urgent",
    "changed": "urgent",
    "unreadable": "urgent",
    "refused": "urgent",
    "mode": "high",
    "rotated": "default",
    "removed": "default",
    "appeared": "low",
    "back": "low",
}

_WHY: dict[Trouble, str] = {
    "vanished": "It is gone from its place.",
    "emptied": "It is there, and empty.",
    "changed": "It is another value than before, and the change was not announced.",
    "unreadable": "It cannot be read any more.",
    "refused": "The next start will be refused.",
    "mode": "More people of this machine may use its file than before.",
    "restart": "The service holds another value than the one that is there now.",
}

_ANNOUNCE = 'If it was you: `orrery secrets announce {name} --reason "…"`.'
_REMOVE = 'If you removed it permanently: `orrery secrets announce {name} --removal --reason "…"`.'


@dataclass(frozen=True, slots=True)
class SecretEvent:
    """A change of one secret to report; `held` is whether the running process has a value of it."""

    name: str
    kind: SecretEventKind
    held: bool
    needs_restart: bool = False


def pushes(
    events: Sequence[SecretEvent], uses: Mapping[str, SecretUse], now: datetime, after_restore: str
) -> list[OutboxDraft]:
    """Return one push for each kind of event, so that a wipe of five variables is one message.

    `after_restore` is a sentence for changes, when the store was restored since it last knew the secrets.
    """
    grouped: dict[SecretEventKind, list[SecretEvent]] = {}
    for event in events:
        if (event.name, event.kind) != (DIRECTORY, "appeared"):
            grouped.setdefault(event.kind, []).append(event)
    return [_push(kind, found, uses, now, after_restore) for kind, found in grouped.items()]


def describe(trouble: Trouble, name: str) -> tuple[str, str]:
    """Return why a secret is not well, and what to do."""
    if trouble == "restart":
        return _WHY[trouble], "Restart the service."
    if trouble == "refused":
        return _WHY[trouble], "Type `orrery secrets check`: it shows the reason."
    if trouble == "mode":
        return _WHY[trouble], f"Take the rights away (chmod). {_ANNOUNCE.format(name=name)}"
    return _WHY[trouble], f"{TRAP} {_how_to_accept(trouble, name)}".strip()


def _push(
    kind: SecretEventKind,
    events: Sequence[SecretEvent],
    uses: Mapping[str, SecretUse],
    now: datetime,
    restored: str,
) -> OutboxDraft:
    names = [event.name for event in events]
    lines = [f"{_called(event.name)}: {_sentence(event, uses)}" for event in events]
    more = [TRAP] if kind in ("vanished", "emptied", "changed", "unreadable") else []
    more += [_how_to_accept(kind, "NAME" if len(names) > 1 else names[0])]
    more += [restored] if kind == "changed" else []
    priority = _PRIORITIES[kind]
    return OutboxDraft(
        id=f"secret-{kind}-{now:%Y%m%dT%H%M%S.%f}",
        channel="push",
        title=f"{_TITLES[kind]}: {', '.join(map(_called, names))}",
        body="\n".join([*lines, *filter(None, more)]),
        priority=priority,
        tags=("rotating_light",) if priority == "urgent" else (),
    )


def _called(name: str) -> str:
    return "the folder of secrets" if name == DIRECTORY else name


def _sentence(event: SecretEvent, uses: Mapping[str, SecretUse]) -> str:
    match event.kind:
        case "rotated" | "back":
            return "Restart the service, so that it uses it." if event.needs_restart else "There is nothing to do."
        case "removed" | "appeared":
            return "Restart the service, so that it knows." if event.needs_restart else "The service knows."
        case "refused":
            return "Something in it stops the next start. Type `orrery secrets check`: it shows the reason."
        case "mode":
            return "More people of this machine may use the file than before. Take the rights away (chmod)."
        case _:
            return _loss(event, uses)


def _loss(event: SecretEvent, uses: Mapping[str, SecretUse]) -> str:
    use = uses.get(event.name)
    if use is None:
        return "The running service goes on with what it holds; the next start may be refused."
    if not use.stops:
        return "Nothing that is configured uses it."
    if event.kind == "changed":
        return f"It has another value than before. If that is wrong: {use.effect}"
    if event.held:
        return f"The running service still holds it. From its next start on: {use.effect}"
    return f"From now on: {use.effect}"


def _how_to_accept(kind: SecretEventKind | Trouble, name: str) -> str:
    if kind in ("vanished", "emptied"):
        return _REMOVE.format(name=name)
    return _ANNOUNCE.format(name=name) if kind in ("changed", "mode") else ""
