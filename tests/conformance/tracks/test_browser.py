"""Signing in by a browser on this machine."""

import socket
import threading
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from tests.support.tracks import ANN_A, Tracks
from tests.support.waiting import IN_CLEAR, PATIENCE


def test_a_sign_in_in_a_browser(tracks: Tracks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser brings the answer to this machine's own address, and the account is signed in."""
    monkeypatch.setenv("BROWSER", "true")
    threads = list[threading.Thread]()

    def visit(address: str) -> None:
        thread = threading.Thread(target=tracks.box.deliver, args=(address, ANN_A))
        thread.start()
        threads.append(thread)

    assert tracks.sign_ins.in_browser(ANN_A, visit).name == ANN_A
    for thread in threads:
        thread.join()
    assert tracks.sign_ins.token(ANN_A).account.name == ANN_A


def test_another_page_does_not_end_a_sign_in(
    tracks: Tracks, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Any page of the browser may post to this machine: what is not of this sign-in is no answer."""
    monkeypatch.setenv("BROWSER", "true")

    def visit(address: str) -> None:
        redirect = urlsplit(dict(parse_qsl(urlsplit(address).query))["redirect_uri"])
        with socket.create_connection(("127.0.0.1", redirect.port or 0)) as broken:
            broken.sendall(b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n")
            assert broken.recv(1) == b""
        with httpx2.Client(trust_env=False, timeout=PATIENCE, verify=IN_CLEAR) as web:
            web.post(
                f"http://127.0.0.1:{redirect.port}/", data={"state": "foreign", "code": "x"}
            ).raise_for_status()
        threading.Thread(target=tracks.box.deliver, args=(address, ANN_A), daemon=True).start()

    assert tracks.sign_ins.in_browser(ANN_A, visit).name == ANN_A
    assert capfd.readouterr() == ("", "")
