"""Hostile bodies: what turns each into text, in a separate process, and what that took."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.table import Table

LIMIT = 1.0
"""Seconds for a body (spec 3, Limits)."""

PATIENCE = 60
"""Seconds after which a converter is ended."""

_PARAGRAPH = """
<p class="MsoNormal" style="margin:0"><span lang="EN" style="font:11pt Calibri">Dear all, this is paragraph {0}
of a mail that goes on and on, with a <a href="https://x.example/read/{0}">link</a> and a <b>word</b>.</span></p>
"""
_STORY = """
<table width="600"><tr><td style="padding:8px"><a href="https://news.example/{0}"><img src="{0}.png" alt="{0}"></a>
</td><td valign="top"><h2 style="font:16px sans-serif">Story {0} &amp; more</h2><p>What moved <i>this</i>
week.<br>More below.</p><table><tr><td bgcolor="#039"><a href="https://news.example/read/{0}">Read on</a></td></tr>
</table></td></tr></table>
"""


def _mail(size: int) -> str:
    paragraphs = (_PARAGRAPH.format(number) for number in range(size // (len(_PARAGRAPH) - 6)))
    return "".join(paragraphs)[:size]


BODIES: dict[str, Callable[[], str]] = {
    "mail, 5 MB": lambda: _mail(5_000_000),
    "mail, 1.9 MB": lambda: _mail(1_900_000),
    "100,000 deep": lambda: "<p>Hello</p>" + "<div>" * 100_000 + "deep",
    "comment bomb": lambda: "<p>Hello</p>" + "<!--" * 200_000,
    "newsletter": lambda: (
        "<html><body>" + "".join(_STORY.format(number) for number in range(40)) + "</body></html>"
    ),
}


def _ours(html: str) -> str:
    from orrery.cockpit.plain_text import plain_text  # noqa: PLC0415  a peer's process does not pay for it
    from orrery.ports.comms.mailboxes import MessageBody  # noqa: PLC0415  the same

    return plain_text(MessageBody("text/html", html))


def _peer(module: str) -> Any:  # noqa: ANN401  the peers are there only where something is measured
    return import_module(module)


CONVERTERS: dict[str, Callable[[str], str]] = {
    "ours": _ours,
    "html2text": lambda html: _peer("html2text").html2text(html),
    "inscriptis": lambda html: _peer("inscriptis").get_text(html),
    "bs4 (lxml)": lambda html: _peer("bs4").BeautifulSoup(html, "lxml").get_text("\n"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a conversion took: seconds of the processor, the process's peak in MB, and what came of it."""

    seconds: float
    peak: float
    ending: str


def convert(converter: str, body: str) -> Outcome:
    """Convert a body in this process; the first, short conversion loads what is loaded once."""
    html, conversion = BODIES[body](), CONVERTERS[converter]
    conversion("<p>x</p>")
    began = time.process_time()
    try:
        text = conversion(html)
        ending = _ending(text)
    except Exception as error:  # noqa: BLE001  a peer's failure is its result
        ending = f"raises {type(error).__name__}"
    return Outcome(time.process_time() - began, _peak(), ending)


def _ending(text: str) -> str:
    if not text.strip():
        return "empty, silently"
    last = text.rstrip().rsplit("\n", 1)[-1]
    return (
        "cut, with a notice"
        if last.startswith("[Cut here")
        else "whole"
        if len(text) > len("Hello\n")
        else "cut, silently"
    )


def _peak() -> float:
    """Return this process's own peak: rusage's may be the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(kilobytes) / 1000


def _measured(converter: str, body: str) -> Outcome | None:
    """Return the outcome in a separate process; None when it took too long."""
    command = [sys.executable, "-m", "bench.cockpit_bodies", converter, body]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)  # noqa: S603  our own command
    except subprocess.TimeoutExpired:
        return None
    return Outcome(**json.loads(done.stdout))


def hostile_bodies() -> Table:
    """Measure every converter with every body."""
    made = Table(
        title="mark-up to text",
        caption=f"Seconds of the processor and peak in MB, each in its own process, ended after {PATIENCE} s. "
        "The comment bomb is 200,000 times <!--. Ours reads 2 MB of a body.",
    )
    for heading in ("body", "by", "seconds", "ratio", f"{LIMIT:g} s", "MB", "text"):
        made.add_column(heading, justify="left" if heading in {"body", "by", "text"} else "right")
    for body in BODIES:
        found = {converter: _measured(converter, body) for converter in CONVERTERS}
        ours = found["ours"]
        if ours is None:
            raise RuntimeError(f"Ours did not convert the {body} within {PATIENCE} s.")
        for converter, outcome in found.items():
            made.add_row(body if outcome is ours else "", converter, *_printed(outcome, ours))
        made.add_section()
    return made


def _printed(outcome: Outcome | None, ours: Outcome) -> tuple[str, ...]:
    if outcome is None:
        return f"> {PATIENCE}", f"> {PATIENCE / ours.seconds:.0f}", "no", "-", "-"
    return (
        f"{outcome.seconds:.3f}",
        f"{outcome.seconds / ours.seconds:.2f}",
        "yes" if outcome.seconds <= LIMIT else "no",
        f"{outcome.peak:.0f}",
        outcome.ending,
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(convert(*sys.argv[1:]))))
