"""The processor for a peer that asks it for each session: every session is there, paid as its event says.

usage: python -m bench.processor PORT
"""

import json
import sys

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.events import session_of

_HEADERS = [(b"content-type", b"application/json")]


def found(path: str) -> dict[str, object]:
    """Return the object behind an address."""
    name = path.rpartition("/")[2]
    if "/payment_intents/" in path:
        about = {"amount": 4900, "currency": "usd", "status": "succeeded", "created": 0, "livemode": False}
        return {"id": name, "object": "payment_intent", **about}
    if "/sessions/" in path:
        return session_of(name, 0)
    return {"id": "acct_bench", "object": "account", "livemode": False}


async def app(scope: Scope, _receive: Receive, send: Send) -> None:
    """Serve one request."""
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": json.dumps(found(scope["path"])).encode()})


if __name__ == "__main__":
    served: ASGIApp = app
    uvicorn.run(served, port=int(sys.argv[1]), lifespan="off", log_level="error")
