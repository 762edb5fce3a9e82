"""How the service and the demo start, what they refuse to start with, and how they end."""

import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import datetime
from functools import partial
from pathlib import Path

import httpx2
import pytest

from orrery.app.cli.demo import DemoPorts
from orrery.runtime.jobs import LEASE
from tests.journeys.conftest import WHOLE_TEXT
from tests.support.demo import PORTS, Demo, running_demo
from tests.support.deployment import Deployment, Product, beside_a_sandbox, running, stop
from tests.support.ports import free_ports
from tests.support.program import run_orrery
from tests.support.sandbox import SESSIONS, Sandbox
from tests.support.soak import SOAKING
from tests.support.ssh_keys import make_key
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import PATIENCE, eventually

SLOW = 5
"""Seconds of the moved clock that the processor takes for an answer."""


def test_twelve_hundred_characters_are_shown(shop: Deployment) -> None:
    """A text of 1200 code points reaches the payment page whole."""
    assert len(WHOLE_TEXT) == 1200
    session = Visitor(shop, "wordy").start()
    found = next(one for one in shop.sandbox.sessions("wordy") if one["id"] == session)
    assert found["custom_text"]["submit"]["message"] == WHOLE_TEXT


def test_a_product_with_a_mistake_stops_itself_only(tmp_path: Path) -> None:
    """It answers 503, is named with its field by readyz, doctor and one push; the others are sold."""
    wrong = Product("wrong", trust_copy="Questions by example.com are best.")
    with running(Deployment(tmp_path, [wrong, Product("sound")])) as shop:
        answer = Visitor(shop, "wrong").check_out()
        assert (answer.status_code, answer.json()["error"]) == (503, "not-configured")
        assert Visitor(shop, "sound").check_out().status_code == 200
        ready = shop.client.get(f"{shop.private}/readyz")
        assert ready.status_code == 200
        (part,) = [one for one in ready.json()["parts"] if one["part"] == "product northwind/wrong"]
        assert "trust_copy holds 'example.com'" in part["why"]
        came = shop.orrery("doctor")
        assert came.returncode == 1
        assert "northwind/wrong" in came.stdout
        shop.sandbox.advance(61)
        eventually(lambda: expect_equal(len(shop.sandbox.pushes_about("product northwind/wrong")), 1))


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told_when_the_service_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, abstract: bool
) -> None:
    """The message comes once, when the first request is answered already; the socket is a file or has no file."""
    deployment = Deployment(tmp_path)
    name = f"orrery-test-{tmp_path.name}-{os.getpid()}" if abstract else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}" if abstract else name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, beside_a_sandbox(deployment):
        manager.bind(f"\0{name}" if abstract else name)
        manager.settimeout(PATIENCE)
        program = deployment.launch_service()
        assert manager.recv(100) == b"READY=1"
        assert deployment.client.get(f"{deployment.public}/healthz").status_code == 200
        stop(program)
        assert manager.recv(100) == b"STOPPING=1\nEXTEND_TIMEOUT_USEC=20000000"
        manager.settimeout(0)
        with pytest.raises(BlockingIOError):
            manager.recv(100)


def test_a_socket_of_a_manager_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service sells all the same, and says once that nobody could be told."""
    deployment = Deployment(tmp_path)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    with running(deployment):
        assert deployment.printed().count("systemd did not get the message of the service") == 1


def test_address_in_use(shop: Deployment) -> None:
    """A port that is taken is said in one sentence, and the service that has it goes on."""
    came = run_orrery("serve", "--config", str(shop.config))
    assert came.returncode == 1
    assert len(came.stderr.splitlines()) == 1
    assert "cannot be listened on: Address already in use" in came.stderr
    assert shop.client.get(f"{shop.public}/healthz").status_code == 200


@pytest.mark.parametrize(("how", "closing"), [(signal.SIGTERM, 0), (signal.SIGINT, 300)])
def test_told_to_end(tmp_path: Path, how: signal.Signals, closing: int) -> None:
    """Told to end, the service finishes the request that is under way, ends with 0 and leaves nothing.

    Ctrl-C leaves out what another node would need to take over.
    """
    shop = Deployment(tmp_path, closing=closing)
    try:
        shop.start_sandbox()
        service, visitor = shop.start_service(), Visitor(shop)
        shop.await_reconciled()
        shop.sandbox.fault("latency", value=SLOW, path=SESSIONS)
        with ThreadPoolExecutor(2) as pool:
            answer = pool.submit(visitor.check_out)
            eventually(lambda: expect_equal(shop.sandbox.faults(), []))
            ended = pool.submit(service.end, how)
            eventually(lambda: expect_equal(shop.leaves_a_listener(), wanted=False))
            assert not answer.done()
            shop.sandbox.advance(SLOW)
            assert (ended.result(), answer.result().status_code) == (0, 200)
        assert not service.leaves_a_process()
        assert not shop.leaves_a_listener()
        assert '"stopped"' in service.printed()
        assert f"offer:{answer.result().json()['id']}" in shop.records.keys("offer:")
    finally:
        shop.clear_away()


def test_closing_beside_another_node(tmp_path: Path) -> None:
    """A node that is told to end is not ready, and sells while the other has its jobs; told again, it ends."""
    shop = Deployment(tmp_path, closing=300)
    with beside_a_sandbox(shop):
        service = shop.start_service()
        held = eventually(lambda: delivering(shop))
        other, address = shop.launch_another_service()
        shop.await_answer(other, address)
        os.kill(service.process.pid, signal.SIGTERM)
        eventually(lambda: expect_equal(shop.client.get(f"{shop.public}/readyz").status_code, 503))
        (why,) = (
            one for one in shop.client.get(f"{shop.private}/readyz").json()["parts"] if one["part"] == "service"
        )
        assert "ends in some seconds" in why["why"]
        assert shop.client.get(f"{address}/readyz").status_code == 200
        answer = Visitor(shop).check_out()
        assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        taken = eventually(lambda: delivering(shop, but=held["holder"]))
        # Taken before it would have ended.
        assert moment(taken) < moment(held) + LEASE
        assert service.end(signal.SIGTERM) == 0
        assert not service.leaves_a_process()


def delivering(shop: Deployment, but: str = "") -> dict[str, str]:
    """Return the lease of the job that delivers e-mail; fail, for now, if nobody else holds it than `but`."""
    found = shop.records.objects("lease:deliver by email")
    assert [one for one in found if one["holder"] != but]
    return found[0]


def moment(lease: dict[str, str]) -> datetime:
    """Return when a lease ends."""
    return datetime.fromisoformat(lease["until"])


def test_ctrl_c_of_the_demo(tmp_path: Path) -> None:
    """Ctrl-C of the demo leaves no process and no port, and a second demo finds its records and its buyer."""
    data = tmp_path / "data"
    with running_demo(data, forked=not SOAKING) as demo:
        session = buy(demo)
        assert demo.press_ctrl_c() == 0
        assert not demo.program.leaves_a_process()
        assert not demo.leaves_a_port()
        assert demo.errors() == []
    before = records(data)
    assert [one["email"] for one in before] == ["ada@example.test"]
    with running_demo(data) as demo:
        assert records(data) == before
        expect_open(demo, session)
        assert demo.press_ctrl_c() == 0


def test_each_port_of_the_demo_that_is_taken(tmp_path: Path) -> None:
    """One sentence names it, whichever it is; `orrery demo` has one option for each of its ports."""
    assert len(PORTS) == len(fields(DemoPorts))
    ports = free_ports(len(PORTS))
    options = [word for name, port in zip(PORTS, ports, strict=True) for word in (name, str(port))]
    for port in ports:
        with socket.create_server(("127.0.0.1", port)):
            came = run_orrery("demo", "--data", str(tmp_path / "data"), *options)
        said = f"127.0.0.1:{port} cannot be listened on: Address already in use.\n"
        assert (came.returncode, came.stdout, came.stderr) == (1, "", said)


def test_the_owner_of_the_demo(tmp_path: Path) -> None:
    """They have a key of their own and sign with it at once; their site leaks nothing, however it is tried."""
    data = tmp_path / "data"
    make_key(tmp_path)  # where there is no ssh-keygen this is skipped
    with running_demo(data):
        settings = ("--config", str(data / "orrery.toml"))
        checked = run_orrery("site", "check", *settings)
        proposed = run_orrery("fraud", "block", "--ip", "9.9.9.9", "--reason", "a try", *settings)
        signed = run_orrery("approvals", "sign", proposed.stdout.split()[-1], *settings, given="yes\n")
    assert (checked.returncode, checked.stderr) == (0, "Nothing leaks.\n"), checked.stdout
    assert (signed.returncode, signed.stdout[:6]) == (0, "Done. "), proposed.stderr + signed.stderr
    assert (data / "owner_key").stat().st_mode & 0o077 == 0


def test_the_demo_without_ssh_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenSSH's tool the demo starts, and says what is missing; it names settings that stand elsewhere."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with running_demo(tmp_path / "data") as demo:
        eventually(partial(expect_said, demo, "there is no ssh-keygen (sudo apt-get install openssh-client)"))
        expect_said(demo, f"export ORRERY_CONFIG={tmp_path / 'data' / 'orrery.toml'}")
        assert demo.errors() == []


def expect_said(demo: Demo, sentence: str) -> None:
    """Fail, for now, unless the demo has printed this."""
    assert sentence in " ".join(demo.program.printed().split())


def buy(demo: Demo) -> str:
    """Buy through the operation, as the shop page does, and wait for the access; return the session's id."""
    body = {"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"}
    answer = httpx2.post(f"{demo.shop}/guided/api/checkout", json=body, trust_env=False, timeout=PATIENCE)
    session = answer.json()["id"]
    Sandbox(demo.sandbox, "").pay(session, "ada@example.test")
    eventually(partial(expect_open, demo, session))
    return session


def expect_open(demo: Demo, session: str) -> None:
    """Fail, for now, unless the access is open."""
    answer = httpx2.get(f"{demo.shop}/guided/api/access/{session}", trust_env=False, timeout=PATIENCE).json()
    assert answer["state"] == "granted"


def records(data: Path) -> list[dict[str, object]]:
    """Return what `orrery access list` shows of the demo's records."""
    return json.loads(run_orrery("access", "list", "--json", "--config", str(data / "orrery.toml")).stdout)
