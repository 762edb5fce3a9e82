"""What the service is compared with: the same answer from a bare ASGI app, and from a route of the framework.

usage: python -m bench.bare asgi|route PORT FILE      FILE holds the answer, as `Answer.to_json` writes it
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer's headers and its body."""

    headers: dict[str, str]
    body: str

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))


def asgi(answer: Answer) -> ASGIApp:
    """Return an app that does nothing but send the answer."""
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    body = {"type": "http.response.body", "body": answer.body.encode()}

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send(start)
        await send(body)

    return app


def route(answer: Answer) -> ASGIApp:
    """Return an app that has the answer as a route, as one would write it first."""
    app = FastAPI()
    contents = {"1": json.loads(answer.body)}
    headers = {name: value for name, value in answer.headers.items() if not name.lower().startswith("content-")}

    @app.get("/api/stats")
    async def read(realtime: str, response: Response) -> dict[str, object]:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        response.headers.update(headers)
        return contents[realtime]

    return app


def serve(kind: str, port: str, file: str) -> None:
    """Serve one of the two until it is ended."""
    answer = Answer(**json.loads(Path(file).read_text(encoding="utf-8")))
    app = {"asgi": asgi, "route": route}[kind](answer)
    uvicorn.run(
        app,
        port=int(port),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )


if __name__ == "__main__":
    serve(*sys.argv[1:])
