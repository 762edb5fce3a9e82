"""An answer of JSON that is made once and sent often, in one write where the server allows it."""

from http import HTTPStatus

from starlette.types import Message, Send

from orrery.edge.uvicorn_protocol import STATUS_LINE, Headers, written_at_once


class WholeAnswer:
    """An answer with its headers and its body: a body is JSON, and a 204 has none."""

    __slots__ = ("_above", "_whole", "body", "start")

    def __init__(self, body: bytes, about: Headers, status: int = 200) -> None:
        content = [(b"content-type", b"application/json")] if body else []
        content += [(b"content-length", str(len(body)).encode())] if status != HTTPStatus.NO_CONTENT else []
        self.start: Message = {"type": "http.response.start", "status": status, "headers": content + about}
        self.body: Message = {"type": "http.response.body", "body": body}
        self._above: Headers | None = None
        self._whole = b""

    async def send(self, send: Send) -> None:
        """Send it, in one write if the server is uvicorn and nothing is in the way."""
        if not written_at_once(send, self._joined):
            await self.send_in_parts(send)

    async def send_in_parts(self, send: Send) -> None:
        """Send it as messages, of which the server leaves out what the method does not want."""
        await send(self.start)
        await send(self.body)

    def _joined(self, above: Headers) -> bytes:
        """Return it as it goes over the wire, the server's own headers above; joined when those change."""
        if above is not self._above:
            lines = [b"%b: %b\r\n" % header for header in (*above, *self.start["headers"])]
            self._whole = b"".join([STATUS_LINE[self.start["status"]], *lines, b"\r\n", self.body["body"]])
            self._above = above
        return self._whole
