"""`orrery gateway pings`: what came of the pings of the gateway's guest."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import left_out, note, show, show_json
from orrery.runtime.console.windows import parse_window

if TYPE_CHECKING:
    from orrery.gateway.ping_log import PingLog
    from orrery.gateway.reports import CloudReport

_COLUMNS = ("from", "until", "minutes", "what", "content", "probe", "pings")


def command(
    since: Annotated[str, typer.Option(help="How far back: 12h, 7d; 90d are kept.", metavar="<duration>")] = "7d",
    *,
    as_json: AsJson = False,
    runner: Handed,
) -> None:
    """List the pings by their content, the silences between them, and the pushes about the gateway.

    \b
    orrery gateway pings
    orrery gateway pings --since 90d --json
    """
    from orrery.gateway.ping_log import PingLogs  # noqa: PLC0415  it loads the store's records

    back = parse_window(since)
    log = runner.run(lambda services: services[PingLogs].read(back))
    if as_json:
        show_json(
            {
                "stretches": log.stretches,
                "silences": log.silences,
                "pushes": log.pushes,
                "last_ping": log.last_ping,
                "cloud_report": log.cloud_report,
            }
        )
        left_out(log.unreadable)
        return
    rows = sorted(_rows(log), key=lambda row: str(row["from"]))
    show(rows, _COLUMNS, as_json=False, empty=f"No ping in {since}.")
    if log.cloud_report:
        note(_report_line(log.cloud_report))
    left_out(log.unreadable)


def _rows(log: "PingLog") -> Iterator[dict[str, object]]:
    for one in log.stretches:
        state = f"{one.state} ({one.result})" if one.result not in {"", "success"} else one.state
        yield {
            **_times(one.first_at, one.last_at),
            "what": "mixed" if one.mixed else one.kind,
            "content": state,
            "probe": one.probe or None,
            "pings": one.count,
        }
    for silence in log.silences:
        yield {**_times(silence.since, silence.until), "what": "silence", "minutes": _minutes(silence.seconds)}
    for push in log.pushes:
        yield {"from": push.at, "what": "push", "content": f"{push.title} ({push.priority}, {push.state})"}


def _times(begin: datetime, end: datetime | None) -> dict[str, object]:
    minutes = _minutes((end - begin).total_seconds()) if end else None
    return {"from": begin, "until": end, "minutes": minutes}


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def _report_line(report: "CloudReport") -> str:
    expires = f"{report.webhook_expires_at:%Y-%m-%d}" if report.webhook_expires_at else "-"
    return (
        f"Last report of the cloud, of {report.at:%Y-%m-%d %H:%M} UTC: the machine was {report.power}; alerts: "
        f"health {report.health_alert}, deallocate {report.deallocate_alert}; the webhook expires on {expires}."
    )
