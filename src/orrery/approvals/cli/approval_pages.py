"""The output about intents, the approval log and its check: stored text cannot forge a printed line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import JsonValue
from rich.text import Text

from orrery.approvals.intents import NAMESPACE
from orrery.runtime.console.tables import Row
from orrery.runtime.console.terminal import new_console, visible

if TYPE_CHECKING:
    from orrery.approvals.approvals import IntentProgress, KnownIntent
    from orrery.approvals.audit import AuditResult, PushedHead
    from orrery.approvals.chain import LogEntry

_STYLES = {"+": "green", "-": "red"}


def intent_row(found: "KnownIntent", now: datetime) -> Row:
    """Return an intent as a row: with every field for machines."""
    progress = found.progress.model_dump(exclude={"v", "intent_id", "digest"}) if not found.is_void else None
    return found.intent.model_dump(exclude={"v"}) | {
        "state": found.in_words(now),
        "digest": found.intent.digest(),
        "progress": progress,
    }


def print_intent(found: "KnownIntent", now: datetime, *, for_signing: bool = False) -> None:
    """Print everything about an intent, and how to sign it; to standard error when it is about to be signed."""
    console, intent, state = (
        new_console(stderr=for_signing),
        found.intent,
        found.in_words(now),
    )
    console.print(Text(visible(intent.summary), "bold"))
    by = "you" if intent.proposed_by == "owner" else "the software"
    for name, value in {
        "intent": f"{intent.id}, {state}",
        "operation": intent.operation,
        "target": intent.target,
        "reason": intent.reason,
        "proposed": f"{intent.proposed_at:%Y-%m-%d %H:%M:%S} UTC by {by}",
        "digest": f"sha256:{intent.digest()}",
    }.items():
        console.print(Text.assemble((f"  {name:<10} ", "dim"), visible(value)))
    console.print(Text("\nWhat is sent (+), and the value when it was proposed (-):", "bold"))
    for line in changes(intent.body, intent.before or {}):
        console.print(Text(f"  {line}", _STYLES.get(line[0], "")))
    for line in _outcome(found.progress) if not found.is_void else ():
        console.print(Text(line))
    if state == "waiting" and not for_signing:
        for line in _how_to_sign(intent.id).splitlines():
            console.print(Text(visible(line)))


def changes(body: Mapping[str, JsonValue], before: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield a line for each value that is sent (`+ a.b[0]: 1`), was there before (`-`), or stays."""
    sent, stood = dict(_flat("", dict(body))), dict(_flat("", dict(before)))
    if not sent:
        yield "  nothing but the target"
    for name in dict.fromkeys([*sent, *stood]):
        label = visible(name)
        if name not in sent:
            yield f"  {label}: {_json(stood[name])} (as seen then; not sent)"
        elif name in stood and stood[name] == sent[name]:
            yield f"  {label}: {_json(sent[name])} (sent unchanged)"
        else:
            if name in stood:
                yield f"- {label}: {_json(stood[name])}"
            yield f"+ {label}: {_json(sent[name])}"


def print_outcome(progress: "IntentProgress", *, goes_on: bool = False) -> None:
    """Print how far an intent has come; `goes_on`: the command that prints it uses the approval itself."""
    console = new_console()
    for line in _outcome(progress, goes_on=goes_on):
        console.print(Text(line))
    if progress.open_targets():
        console.print(Text(visible(f"In two minutes, type `orrery approvals settle {progress.intent_id}`.")))


def log_row(
    entry: "LogEntry | None", found: "Mapping[str, KnownIntent]", erased: AbstractSet[str] = frozenset()
) -> Row:
    """Return an entry of the log as a row, with the reason that its intent gives unless it is `erased`."""
    if entry is None:
        return {"kind": "cannot be read"}
    proposal = found.get(entry.intent_id)
    intact = proposal is not None and proposal.intent.digest() == entry.digest
    gone = "(erased)" if entry.intent_id in erased and proposal is None else "(the intent is gone or altered)"
    reason = proposal.intent.reason if proposal and intact else gone
    return entry.model_dump(exclude={"v"}) | {"intent": entry.intent_id, "reason": reason}


def verdict(verified: "AuditResult", remembered: "PushedHead | None") -> Iterator[str]:
    """Yield the results of the log's check, one sentence each."""
    if verified.head and verified.broken_at is None:
        whole = ", and signatures and intents agree with it" if verified.holds else ""
        yield f"{verified.entries} entries: each follows the one before{whole}. The head is {verified.head}."
    elif verified.broken_at is None:
        yield "The log is empty."
    else:
        yield (
            f"The log does not hold from entry {verified.broken_at} on: "
            "an entry there is missing, altered, or not where it belongs."
        )
    yield from _wrong(verified)
    if verified.erased:
        yield f"Erased, with only the log left of them: {', '.join(map(visible, verified.erased))}."
    if remembered and verified.remembered:
        yield f"The head that you remember is in it; {verified.entries - remembered.number} entries follow."
    elif remembered:
        yield (
            "The head that you remember is not in this log: entries are lost or exchanged. After a restore, what "
            "was done since the backup is not in it: compare with the processor's own pages."
        )


def _wrong(verified: "AuditResult") -> Iterator[str]:
    if verified.unchecked:
        yield f"The signatures were not checked: {verified.unchecked}"
    for named, sentence in (
        (
            _numbers(verified.unproven),
            "Without the owner's signature: {}. What an earlier key has signed shows with --old-key.",
        ),
        (
            _numbers(verified.repeated),
            "Begun a second time, or after the end: {}. A signature counts once.",
        ),
        (", ".join(map(visible, verified.altered)), "Not as in the log: {}."),
        (", ".join(map(visible, verified.missing)), "In the log, but gone or not to be read: {}."),
    ):
        if named:
            yield sentence.format(named)


def _outcome(progress: "IntentProgress", *, goes_on: bool = False) -> Iterator[str]:
    if progress.state == "approved":
        yield "Approved, for 24 hours from your signature."
        if not progress.uses and not goes_on:
            yield "Nothing is done yet: type the command again that asked for this approval."
    elif progress.state != "proposed":
        yield visible(f"{progress.state.capitalize()}. {progress.note}".rstrip())
    for target, use in progress.uses.items():
        yield visible(f"  {target}: {use.state}. {use.note}".rstrip())


def _how_to_sign(intent_id: str) -> str:
    return (
        f"\nTo approve it, with the key of [approvals] signing_key:\n"
        f"  orrery approvals sign {intent_id}\n"
        f"Or sign on another machine, within ten minutes:\n"
        f"  orrery approvals show {intent_id} --statement >approval\n"
        f"  ssh-keygen -Y sign -n {NAMESPACE} -f KEY approval\n"
        f"  orrery approvals sign {intent_id} --statement approval --signature approval.sig"
    )


def _flat(name: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield each value inside a JSON value, with its path."""
    if isinstance(value, dict) and (value or not name):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _flat(f"{name}[{number}]", inner)
    else:
        yield name, value


def _json(value: JsonValue) -> str:
    return visible(json.dumps(value, ensure_ascii=False))


def _numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of entries as a text, empty for none."""
    return f"{'entry' if len(numbers) == 1 else 'entries'} {', '.join(map(str, numbers))}" if numbers else ""
