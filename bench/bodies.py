"""A message's mark-up as text: ours beside other libraries, each body in a separate process.

Ours reads 2 MB of a body and marks where it was cut. A peer that raises, or gives nothing, has no figure.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.measurement import Figure, Measurement, Round

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


OURS = "orrery"
CONVERTERS: dict[str, Callable[[str], str]] = {
    OURS: _ours,
    "html2text": lambda html: _peer("html2text").html2text(html),
    "inscriptis": lambda html: _peer("inscriptis").get_text(html),
    "bs4": lambda html: _peer("bs4").BeautifulSoup(html, "lxml").get_text("\n"),
}
"""By the name of the module."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a conversion took: seconds of the processor, the process's peak in MB, and whether text came of it."""

    seconds: float
    peak: float
    has_text: bool


def convert(converter: str, body: str) -> Outcome:
    """Convert a body in this process; the first, short conversion loads what is loaded once."""
    html, conversion = BODIES[body](), CONVERTERS[converter]
    conversion("<p>x</p>")
    began = time.process_time()
    try:
        text = conversion(html)
    except Exception:  # noqa: BLE001  a peer's failure is its result
        text = ""
    return Outcome(time.process_time() - began, _peak(), bool(text.strip()))


def _peak() -> float:
    """Return this process's own peak: rusage's may be the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(kilobytes) / 1000


def _measured(converter: str, body: str) -> Outcome | None:
    """Return the outcome in a separate process; None when it took too long."""
    command = [sys.executable, "-m", "bench.bodies", converter, body]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)  # noqa: S603  our own command
    except subprocess.TimeoutExpired:
        return None
    return Outcome(**json.loads(done.stdout))


def of_body(body: str) -> Round:
    """Return what each converter that is installed takes; one that is ended took all its time."""
    found = list[Figure]()
    for converter in [name for name in CONVERTERS if find_spec(name)]:
        outcome, ours = _measured(converter, body) or Outcome(PATIENCE, 0, has_text=True), converter == OURS
        if outcome.has_text or ours:
            beside, limit = ("", LIMIT) if ours else (f"{body}: {OURS}", None)
            found.append(Figure(f"{body}: {converter}", outcome.seconds, "s", beside, limit=limit))
        if ours:
            found.append(Figure(f"{body}: {converter}, memory at most", outcome.peak, "MB"))
    return found


def measure(bodies: Sequence[str] = tuple(BODIES)) -> Round:
    """Measure every converter with every body."""
    return [figure for body in bodies for figure in of_body(body)]


MEASUREMENT = Measurement(measure, short={"bodies": ("newsletter",)}, rounds=3)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(convert(*sys.argv[1:]))))
