"""What the tests of the gateway share."""

from orrery.gateway.causes import Ping
from orrery.gateway.routes import PingBody


def ping_of(body: PingBody) -> Ping:
    """Return the ping in a body."""
    return Ping(**body.model_dump())
