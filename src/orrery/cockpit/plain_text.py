"""Stub."""

from orrery.ports.comms.mailboxes import MessageBody


def plain_text(body: MessageBody) -> str:
    """Stub."""
    return body.content
