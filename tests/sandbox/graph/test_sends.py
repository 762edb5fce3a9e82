"""A send is answered as the vendor would, and noted: nothing that Orrery does may make one."""

from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from orrery.sandbox.graph.api import SENDS
from tests.support.graph import GraphBox, graph

SENDING = ("Mail.Send", "ChatMessage.Send", "ChannelMessage.Send")


@pytest.mark.parametrize("call", sorted(SENDS))
def test_each_send_is_noted(box: GraphBox, ann: httpx2.Client, call: str) -> None:
    """It is refused without its scope, and accepted with it; both are noted."""
    method, path = call.replace("{id}", "1").split()
    with box.client("ann@corp.example", *SENDING) as sender:
        assert [web.request(method, path, json={}).status_code for web in (ann, sender)] == [403, 202]
    sends = box.taken_sends()
    assert [(one["call"], one["refused"]) for one in sends] == [(call, True), (call, False)]


def test_a_test_that_sends_fails(tmp_path: Path) -> None:
    """A test in which anything is sent fails when its sandbox ends, though the send was refused."""
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(AssertionError, match="POST /me/sendMail"))
        box = stack.enter_context(graph(tmp_path))
        with box.client("ann@corp.example") as web:
            assert web.post("/me/sendMail", json={}).status_code == 403
