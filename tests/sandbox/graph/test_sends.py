"""A send is answered as the vendor would, and noted: nothing that Orrery does may make one."""

import httpx2
import pytest

from orrery.sandbox.graph.scopes import SENDS
from tests.support.graph import GraphBox

SENDING = ("Mail.Send", "ChatMessage.Send", "ChannelMessage.Send")


@pytest.mark.parametrize("call", sorted(SENDS))
def test_each_send_is_noted(box: GraphBox, ann: httpx2.Client, call: str) -> None:
    """It is refused without its scope, and accepted with it; both are noted."""
    method, path = call.replace("{id}", "1").split()
    with box.client("ann@corp.example", *SENDING) as sender:
        assert [web.request(method, path, json={}).status_code for web in (ann, sender)] == [403, 202]
    sends = box.taken_sends()
    assert [(one["call"], one["refused"]) for one in sends] == [(call, True), (call, False)]
