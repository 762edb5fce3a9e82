"""Debian's nginx with the site of `deploy/edge/`, as a normal process on free ports of this machine."""

import os
import shutil
import signal
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_ports, is_taken
from tests.support.waiting import PATIENCE, eventually

SITE = Path(__file__).resolve().parents[2] / "deploy/edge/nginx.conf"

NAME = "shop.example"
"""The site's own name."""

_MAIN = """\
daemon off;
{user}worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log warn;
events {{ worker_connections {connections}; }}
http {{
    types {{ }}
    default_type text/plain;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    # What the site does not limit by itself goes on for an hour.
    client_header_timeout 1h;
    client_body_timeout 1h;
    send_timeout 1h;
    include {folder}/site.conf;
}}
"""
_HTTP_LISTENERS = "    listen 80;\n    listen [::]:80;\n"
_TLS_LISTENERS = "    listen 443 ssl http2;\n    listen [::]:443 ssl http2;\n"
_DEFAULT_LISTENERS = (
    "    listen 80 default_server;\n    listen [::]:80 default_server;\n"
    "    listen 443 ssl http2 default_server;\n    listen [::]:443 ssl http2 default_server;\n"
)
_CERTIFICATE = "/etc/letsencrypt/live/shop.example/"
_CERTIFICATE_LINES = (
    f"    ssl_certificate {_CERTIFICATE}fullchain.pem;\n",
    f"    ssl_certificate_key {_CERTIFICATE}privkey.pem;\n",
    "    ssl_protocols TLSv1.2 TLSv1.3;\n",
)


def find_nginx() -> str | None:
    """Return where nginx is; Debian keeps it out of a normal user's path."""
    return shutil.which("nginx", path=f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin")


def replaced(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with each of the texts replaced; raise ValueError when one is not there exactly once."""
    for old, new in values.items():
        if text.count(old) != 1:
            raise ValueError(f"The site has {old!r} {text.count(old)} times.")
        text = text.replace(old, new)
    return text


@dataclass(frozen=True, slots=True)
class Ports:
    """Where an edge listens, and where its origin does."""

    site: int
    redirect: int
    origin: int

    @classmethod
    def free(cls, origin: int) -> "Ports":
        """Return two free ports in front of `origin`."""
        site, redirect = free_ports(2)
        return cls(site, redirect, origin)


def adapted(folder: Path, ports: Ports, values: Mapping[str, str] | None = None) -> str:
    """Return the site as an owner would adapt it to `folder` and `ports`, its certificate in `folder`."""
    text = SITE.read_text(encoding="utf-8")
    text = text.replace("/var/log/nginx/", f"{folder}/").replace(
        "server 127.0.0.1:8080", f"server 127.0.0.1:{ports.origin}"
    )
    fixed = {
        "/var/cache/nginx-orrery": f"{folder}/cache",
        _DEFAULT_LISTENERS: (
            f"    listen 127.0.0.1:{ports.redirect} default_server;\n"
            f"    listen 127.0.0.1:{ports.site} ssl http2 default_server;\n"
        ),
        _HTTP_LISTENERS: f"    listen 127.0.0.1:{ports.redirect};\n",
        _TLS_LISTENERS: f"    listen 127.0.0.1:{ports.site} ssl http2;\n",
    }
    return replaced(text, fixed | dict(values or {})).replace(_CERTIFICATE, f"{folder}/")


def beside(first: int, other: int) -> dict[str, str]:
    """Return the values with which an adapted site has a second node on this machine."""
    nodes, reads = (f"    server 127.0.0.1:{first} {how};\n" for how in ("fail_timeout=4s", "max_fails=0"))
    backup = nodes.replace("fail_timeout=4s", "max_fails=0 backup")
    lines = {nodes: nodes + backup, reads: reads}
    return {line: those + those.replace(str(first), str(other)) for line, those in lines.items()}


def in_clear(site: str, port: int) -> str:
    """Return an adapted site that speaks HTTP without TLS."""
    folder = site.partition("    ssl_certificate ")[2].partition("fullchain.pem")[0]
    lines = {line.replace(_CERTIFICATE, folder): "" for line in _CERTIFICATE_LINES}
    listen = f"listen 127.0.0.1:{port}"
    clear = {f"{listen} ssl http2;": f"{listen};", f"{listen} ssl http2 default": f"{listen} default"}
    return replaced(site, lines | clear)


def write(folder: Path, site: str, connections: int = 1024) -> Path:
    """Write a main configuration around `site`, for anyone who runs this; return its file."""
    # As root, nginx would hand its workers to a user who may not enter a test's folder.
    user = "user root root;\n" if os.geteuid() == 0 else ""
    (folder / "site.conf").write_text(site, encoding="utf-8")
    main = folder / "nginx.conf"
    main.write_text(_MAIN.format(folder=folder, connections=connections, user=user), encoding="utf-8")
    return main


def command(main: Path, *options: str) -> Sequence[str]:
    """Return how nginx is called with that configuration; raise FileNotFoundError where it is absent."""
    program = find_nginx()
    if program is None:
        raise FileNotFoundError("nginx is not installed; to have it, type: sudo apt-get install -y nginx-light")
    return [program, "-p", str(main.parent), "-e", str(main.parent / "start.log"), "-c", str(main), *options]


@contextmanager
def running(main: Path, port: int, before: Sequence[str] = ()) -> Generator[subprocess.Popen[bytes]]:
    """Run nginx from when it listens on `port` to the end of the block; `before` is put ahead of the command."""
    process = subprocess.Popen([*before, *command(main)], start_new_session=True)  # noqa: S603  our own command
    try:
        eventually(lambda: _expect_listener(process, port, main.parent))
        yield process
    finally:
        _end(process)


@contextmanager
def in_front(
    folder: Path, port: int, origin: int, values: Mapping[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    """Run the site without TLS on `port`, under this machine's address, in front of the origin on that port."""
    folder.mkdir()
    site = in_clear(adapted(folder, Ports(port, free_ports(1)[0], origin), values), port)
    with running(write(folder, site.replace(f"server_name {NAME};", "server_name 127.0.0.1;")), port) as process:
        yield process


def _expect_listener(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    if process.poll() is not None:
        raise RuntimeError(f"nginx ended with {process.returncode}: {said(folder)}")
    assert is_taken(port)


def said(folder: Path) -> str:
    """Return what nginx has written to its error logs."""
    logs = (folder / name for name in ("start.log", "nginx-error.log", "orrery-error.log"))
    return "".join(log.read_text(encoding="utf-8", errors="replace") for log in logs if log.exists())


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
