"""How `orrery fraud` prints: lanes with their five minutes at a terminal, sentences in a pipe."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from orrery.errors import Invalid
from orrery.fraud.clusters import NAMES, Cluster
from orrery.fraud.timeline import (
    LEGEND,
    MARK,
    REST,
    SHADE,
    STOPPED,
    headline,
    lane,
    ruler,
    scale_of,
    summary,
    when,
)
from orrery.fraud.timeline_svg import svg
from orrery.runtime.console.tables import Row, note
from orrery.runtime.console.terminal import new_console, visible

if TYPE_CHECKING:
    from orrery.fraud.incidents import Incident
    from orrery.runtime.operations import Intent

NARROWEST, WIDEST = 40, 100
_STYLES = {
    MARK: Style(color="red", bold=True),
    STOPPED: Style(color="red"),
    SHADE: Style(color="blue", dim=True),
    REST: Style(dim=True),
}
_SEVERAL = Style(color="red", bold=True)


def cluster_row(cluster: Cluster, *, full: bool) -> Row:
    """Return a cluster as a row: with every decline for machines."""
    row: dict[str, object] = {
        "id": cluster.id,
        "share_one": NAMES[cluster.trait],
        "value": cluster.value,
        "declines": len(cluster.declines),
        "stopped": cluster.stopped,
        "first": f"{cluster.first:%d %b %H:%M}",
    }
    if full:
        row |= {"first": cluster.first, "last": cluster.last, "busiest": cluster.busiest()}
        row["charges"] = [asdict(one) for one in cluster.declines]
    return row


def print_pictures(clusters: Sequence[Cluster]) -> None:
    """Draw the clusters at a terminal; write sentences where a picture cannot be shown."""
    if not clusters:
        return
    console = new_console()
    console.print()
    if not sys.stdout.isatty():
        for cluster in clusters:
            console.print(Text(summary(cluster)))
        return
    width, scale = max(NARROWEST, min(console.width, WIDEST)) - 1, scale_of(clusters)
    for cluster in clusters:
        console.print(Text(cluster.id, "bold"), Text(when(cluster), "dim"))
        console.print(Text(headline(cluster)))
        console.print(_coloured(lane(cluster, scale, width)))
    console.print(Text(ruler(scale, width)))
    console.print(Text(LEGEND, "dim"))


def write_svg(path: Path, clusters: Sequence[Cluster]) -> None:
    """Write the picture into a new file that only its owner can read: it holds addresses."""
    try:
        path.touch(mode=0o600, exist_ok=False)
        _ = path.write_text(svg(clusters), encoding="utf-8")
    except FileExistsError:
        raise Invalid(f"{path} exists already; nothing was written.") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from None
    note(f"The picture is in {path}.")


def print_proposed(intent: "Intent") -> None:
    """Print the proposed change, and the steps that are missing until it is made."""
    from orrery.fraud.operations import body_of  # noqa: PLC0415  it loads what reads the store

    console = new_console()
    console.print(Text(intent.summary, "bold"))
    for entry in body_of(intent).entries:
        console.print(Text(f"  list    {entry.list}"))
    console.print(Text(f"  reason  {intent.reason}"))
    console.print(Text("Nothing has been changed yet. To do it, sign:"))
    console.print(Text(visible(f"  orrery approvals sign {intent.id}")))


def print_log(incidents: "Sequence[Incident]") -> None:
    """Print the incident log, the newest first."""
    if not incidents:
        note("Nothing was proposed so far.")
    console = new_console()
    for one in incidents:
        what = " and ".join(f"{entry.value} ({entry.list})" for entry in one.entries)
        console.print(Text(visible(f"{one.at:%Y-%m-%d %H:%M} UTC  {one.action} {what}".rstrip()), "bold"))
        console.print(Text(visible(f"  reason   {one.reason}")))
        console.print(Text(visible(f"  outcome  {one.outcome}{f': {one.note}' if one.note else ''}")))
        console.print(Text(f"  intent   {one.intent_id}, entry {one.number} of the approval log", "dim"))


def incident_row(incident: "Incident") -> Row:
    entries = [entry.model_dump(exclude_none=True) for entry in incident.entries]
    return asdict(incident) | {"entries": entries}


def _coloured(cells: str) -> Text:
    text = Text()
    for cell in cells:
        _ = text.append(cell, _STYLES.get(cell, _SEVERAL))
    return text
