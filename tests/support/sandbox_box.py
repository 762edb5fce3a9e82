"""A sandbox that runs in this process, seen from outside."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette

from orrery.adapters.movable_clock import MovableClock
from orrery.sandbox.app import Sandbox, SandboxConfig, create_app
from tests.support.serving import bound, serving
from tests.support.waiting import IN_CLEAR, PATIENCE


@dataclass(frozen=True)
class SandboxBox:
    """A running sandbox: `web` asks it by http, `clock` is its clock."""

    web: httpx2.Client
    app: Starlette
    clock: MovableClock

    @property
    def url(self) -> str:
        """Its address."""
        return str(self.web.base_url).rstrip("/")

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox itself."""
        return self.app.state.sandbox

    def now(self) -> float:
        """Return its time."""
        return self.clock.now().timestamp()

    def asked(self, method: str, path: str, json: object = None) -> Any:  # noqa: ANN401  any JSON
        """Send a request that must succeed; return the JSON of its answer, None where there is none."""
        answer = self.web.request(method, path, json=json)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def fault(self, kind: str, path: str = "", **more: object) -> None:
        """Switch a fault on, for the requests to `path` if it is given."""
        self.asked("POST", "/_faults", {"kind": kind, "path": path, **more})

    def clear_faults(self) -> None:
        """Switch every fault off."""
        self.asked("DELETE", "/_faults")


@contextmanager
def running_box(folder: Path, config: Callable[[str], SandboxConfig]) -> Generator[SandboxBox]:
    """Run a sandbox whose clock is in `folder`, with the settings that `config` returns for its address."""
    clock = MovableClock(folder / "clock")
    listener, url = bound()
    app = create_app(config(url), clock, clock.advance)
    with (
        serving(app, listener, lifespan="on"),
        httpx2.Client(base_url=url, timeout=PATIENCE, verify=IN_CLEAR, trust_env=False) as web,
    ):
        yield SandboxBox(web, app, clock)
