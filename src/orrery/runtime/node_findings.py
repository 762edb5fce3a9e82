"""What the nodes show: whether one is silent, has a wrong clock, or differs from the others."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from orrery.ports.health import ACT_TODAY, URGENT, Finding, Severity
from orrery.runtime.nodes import RELEASE, Node, Nodes, ordered, silence_of
from orrery.runtime.store_probe import STORE

CLOCK, DATABASE_CLOCK, NODES = "clock", "database clock", "nodes"
"""Parts. A difference is a separate part, with its name after `nodes: `."""

ROTATES, UPGRADES = timedelta(minutes=10), timedelta(hours=1)
"""How long after the start of the newest node a difference is part of a rotation, or of an upgrade."""

_LISTED = "`orrery nodes` lists them."
_SET_CLOCK = (
    "Set it by NTP: `timedatectl set-ntp true`, or at once by `chronyc makestep` where chrony runs. "
    "`orrery doctor` looks again."
)


def named(found: Sequence[Finding], nodes: Nodes) -> list[Finding]:
    """Return findings of which those about this machine name this node."""
    own = {
        one.part: one.on(nodes.name, several=nodes.are_several) for one in found if one.of_machine and not one.node
    }
    parts = {part: one.part for part, one in own.items()}
    return [replace(own.get(one.part, one), cause=parts.get(one.cause, one.cause)) for one in found]


def of_store(found: Sequence[Finding], nodes: Nodes) -> list[Finding]:
    """Return findings of which a broken store tells which node cannot use it, where there are several."""
    seen = f" Seen by {nodes.name}." if nodes.are_several else ""
    return [replace(one, why=f"{one.why}{seen}") if _is_lost(one) else one for one in found]


def _is_lost(finding: Finding) -> bool:
    return finding.part == STORE and finding.state == "broken"


def of_clock(nodes: Nodes) -> list[Finding]:
    """Return a finding where this machine's clock and the store's are apart.

    Only a node with another one beside it whose clock is right is not ready (decision record 94).
    """
    if not nodes.is_apart:
        return []
    ahead = f"{abs(nodes.ahead).total_seconds():.0f} s {'ahead of' if nodes.ahead > timedelta(0) else 'behind'}"
    if nodes.gives_way():
        others = nodes.as_wrong()
        agree = f" So is that of {ordered(others)}: see which ones are right." if others else ""
        why, todo = f"The clock of this machine is {ahead} the store's.{agree}", _SET_CLOCK
    elif agreeing := nodes.agreeing():
        why = f"The clock of the database is wrong: those of {ordered(agreeing)} agree, {ahead} it."
        todo = f"On the machine of the database: {_SET_CLOCK}"
        return [Finding(DATABASE_CLOCK, "broken", why, todo, essential=False, severity=URGENT)]
    else:
        why = f"The clock of this machine is {ahead} the database's, and no other node shows which one is right."
        todo = f"On the one that is wrong: {_SET_CLOCK}"
    return [
        Finding(CLOCK, "broken", why, todo, essential=nodes.can_be_replaced(), of_machine=True, severity=URGENT)
    ]


def of_nodes(nodes: Nodes) -> Iterator[Finding]:
    """Yield what is known of the others, the same on each node."""
    if nodes.namesake:
        why = f"Another service on this store is called {nodes.name}, and began earlier."
        todo = f"Give this one another name in [server] node, and restart it. {_LISTED}"
        yield Finding("node name", "broken", why, todo, essential=True)
    if not nodes.others:
        return
    yield Finding(NODES, "ok", "; ".join(_line(one, nodes) for one in nodes.all()), essential=False)
    for node in nodes.others:
        if node.is_silent(nodes.now()):
            yield from [_silent(node)] if nodes.is_steady() else []
        elif not node.stopped:
            yield from _found_by(node)
    yield from _differences(nodes)


def _line(node: Node, nodes: Nodes) -> str:
    return f"{node.name} {node.release} since {node.began:%Y-%m-%d %H:%M} UTC, {node.state(nodes.now())}"


def _silent(node: Node) -> Finding:
    why = f"It has not been heard of since {node.heard:%Y-%m-%d %H:%M} UTC, and did not stop by a signal."
    todo = f"{_LISTED} Look at its machine and its network; if it was retired, `orrery nodes forget {node.name}`."
    return Finding(silence_of(node.name), "broken", why, todo, essential=False, node=node.name)


def _found_by(node: Node) -> Iterator[Finding]:
    """Yield what is broken on the machine of another node: it stops none but that.

    It is not settled: the record may be older than the end of the outage, which that node has pushed.
    """
    for one in node.findings:
        finding = Finding(
            one.part,
            "broken",
            one.why,
            one.todo,
            essential=False,
            severity=one.severity,
            early=one.early,
            items=one.items,
            cause=one.cause,
        )
        yield finding.on(node.name, several=True)


def _differences(nodes: Nodes) -> Iterator[Finding]:
    live = nodes.live()
    if not live:
        return
    runs = nodes.now() - max(one.began for one in live)
    for name in sorted({name for one in live for name in one.common}):
        by_value = defaultdict[str, list[Node]](list)
        for one in live:
            if name in one.common:
                by_value[one.common[name]].append(one)
        usual, *odd = sorted(by_value.values(), key=len, reverse=True)
        quiet = UPGRADES if name == RELEASE else ROTATES
        if odd and runs >= quiet:
            yield _difference(name, [one for some in odd for one in some], usual)


def _difference(name: str, odd: Sequence[Node], usual: Sequence[Node]) -> Finding:
    is_secret = name != RELEASE and not name.startswith("[")
    severity: Severity = ACT_TODAY if is_secret else 3
    why = f"{name} on {ordered(odd)} differs from {ordered(usual)}."
    taken = "type `orrery secrets reload`" if is_secret else "restart the service"
    todo = f"{_LISTED} Make them the same, and {taken} on the node that was changed."
    cause = f"secret {name}" if is_secret else ""
    return Finding(
        f"{NODES}: {name}", "broken", why, todo, essential=False, settled=True, severity=severity, cause=cause
    )
