"""While Caddy loads a configuration, no visitor gets an error (issue 40)."""

import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from tests.nginx.gated import AT, SERVERS, GatedSite, caddy_of, gated_site
from tests.support.soak import rounds
from tests.support.waiting import PATIENCE


def asked(site: GatedSite, over: Event) -> Counter[int]:
    """Ask for a practice page again and again; return how often each status came."""
    statuses = Counter[int]()
    while not over.is_set():
        with suppress(ConnectionError):  # Caddy's own port, which a browser asks once more
            statuses[site.ask(f"{AT}/data.json").status] += 1
    return statuses


@pytest.mark.parametrize("kind", [one for one in SERVERS if one.startswith("caddy")])
def test_no_practice_page_is_lost_while_a_configuration_is_loaded(kind: str, tmp_path: Path) -> None:
    """What the former configuration has begun to ask gets its answer."""
    with gated_site(kind, tmp_path) as site, ThreadPoolExecutor() as browsers:
        over = Event()
        asking = [browsers.submit(asked, site, over) for _ in range(4)]
        try:
            command = [
                caddy_of(kind.removeprefix("caddy").strip()) or "caddy",
                "reload",
                "--force",
                "--config",
                "Caddyfile",
            ]
            for _ in range(rounds(2)):
                subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE)  # noqa: S603  our own command
        finally:
            over.set()
        statuses = sum((one.result() for one in asking), Counter[int]())
    assert {*statuses} == {303}
