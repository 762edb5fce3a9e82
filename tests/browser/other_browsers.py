"""Firefox and WebKit, each by the interface that it has itself: WebDriver, and Marionette, which is Firefox's."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import httpx2

from tests.support.ports import free_ports
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually

WEBKIT = {"binary": "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "args": ["--automation"]}
PROGRAMS = {"Firefox": "/usr/bin/firefox-esr", "WebKit": "/usr/bin/WebKitWebDriver"}
PACKAGES = "firefox-esr webkit2gtk-driver xvfb"

_PREFERENCES = """\
user_pref("marionette.port", {port});
user_pref("services.settings.server", "data:,nothing");
user_pref("app.normandy.enabled", false);
"""

_MARIONETTE = {
    "url": "WebDriver:Navigate",
    "back": "WebDriver:Back",
    "execute/sync": "WebDriver:ExecuteScript",
    "actions": "WebDriver:PerformActions",
}


class Asked(Protocol):
    """Takes a command of WebDriver, by the end of its path."""

    def __call__(self, command: str, /, **fields: object) -> Any: ...  # noqa: ANN401  what a script returns


class OtherBrowser:
    """A running browser with one page."""

    def __init__(self, ask: Asked) -> None:
        self.ask = ask

    def run(self, script: str) -> Any:  # noqa: ANN401  what a script returns
        """Return what a script in the page returns."""
        return self.ask("execute/sync", script=script, args=[])

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        strokes = [{"type": move, "value": key} for key in keys for move in ("keyDown", "keyUp")]
        self.ask("actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])


@contextmanager
def firefox(folder: Path) -> Generator[OtherBrowser]:
    """Run Firefox without windows, with a profile in `folder`."""
    (port,) = free_ports(1)
    (folder / "user.js").write_text(_PREFERENCES.format(port=port), encoding="utf-8")
    options = ("--marionette", "--headless", "--no-remote", "--profile", str(folder))
    with (
        _running([PROGRAMS["Firefox"], *options], {"HOME": str(folder)}),
        closing(eventually(partial(_connected, port))) as wire,
        wire.makefile("rb") as answers,
    ):
        _ = _read(answers)

        def ask(command: str, /, **fields: object) -> Any:  # noqa: ANN401  what a script returns
            message = json.dumps([0, 1, _MARIONETTE.get(command, command), fields]).encode()
            wire.sendall(b"%d:%b" % (len(message), message))
            _, _, error, result = _read(answers)
            assert error is None, error
            return result.get("value")

        ask("WebDriver:NewSession")
        yield OtherBrowser(ask)


def _connected(port: int) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", port), PATIENCE)
    except ConnectionRefusedError as error:
        raise AssertionError from error


def _read(answers: Any) -> Any:  # noqa: ANN401  a file, and JSON
    length = b""
    while (digit := answers.read(1)) != b":":
        length += digit
    return json.loads(answers.read(int(length)))


@contextmanager
def webkit(folder: Path) -> Generator[OtherBrowser]:
    """Run WebKit's small browser on a screen of its own, with what it keeps in `folder`."""
    (port,) = free_ports(1)
    with _screen() as screen:
        # The sandbox of its processes needs rights that a container does not give.
        more = {"HOME": str(folder), "DISPLAY": screen, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
        with (
            _running([PROGRAMS["WebKit"], f"--port={port}", "--host=127.0.0.1"], more),
            httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE, verify=IN_CLEAR
            ) as web,
        ):

            def ask(command: str, /, **fields: object) -> Any:  # noqa: ANN401  what a script returns
                answer = web.post(command, json=fields)
                assert answer.is_success, answer.text
                return answer.json()["value"]

            wanted = {"alwaysMatch": {"webkitgtk:browserOptions": WEBKIT}}
            session = eventually(partial(ask, "/session", capabilities=wanted))["sessionId"]
            web.base_url = httpx2.URL(f"http://127.0.0.1:{port}/session/{session}/")
            try:
                yield OtherBrowser(ask)
            finally:
                web.delete("")


@contextmanager
def _screen() -> Generator[str]:
    command = ["/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with _running(command, {}, subprocess.PIPE) as server:
        assert server.stdout
        yield f":{server.stdout.readline().decode().strip()}"


@contextmanager
def _running(
    command: Sequence[str], variables: Mapping[str, str], stdout: int = subprocess.DEVNULL
) -> Generator[subprocess.Popen[bytes]]:
    """Run a program and all that it starts until the end of the block."""
    process = subprocess.Popen(  # noqa: S603  our own command
        command,
        env={"PATH": os.defpath, **variables},
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
