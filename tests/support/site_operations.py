"""Orrery's two public operations as the demo planet sees them: a tiny remote, set up by the test."""

from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

END = "2027-11-21T09:30:00Z"


@dataclass
class OperationsStub:
    """`access` maps session ids to states; `answer`, when set, is given instead of any other.

    `payment_url` is where a checkout leads.
    """

    access: dict[str, str] = field(default_factory=dict[str, str])
    answer: Response | None = None
    payment_url: str = "http://127.0.0.1:1/pay"
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    bodies: list[object] = field(default_factory=list[object])

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/guided/api/checkout", self.check_out, methods=["POST"]),
            Route("/guided/api/access/{session_id}", self.read),
        ]

    async def check_out(self, request: Request) -> Response:
        """Return one session for each idempotency key."""
        await self._take(request)
        key = request.headers["Idempotency-Key"]
        session = self.sessions.setdefault(key, f"cs_test_{len(self.sessions) + 1}")
        return self.answer or JSONResponse({"id": session, "url": f"{self.payment_url}/{session}"})

    async def read(self, request: Request) -> Response:
        """Return the state of an access."""
        await self._take(request)
        state = self.access.get(request.path_params["session_id"])
        missing = {"error": "unknown-session", "message": "No such session."}
        found = {"state": state, "expires_at": END if state in ("granted", "ended") else None}
        return self.answer or (JSONResponse(found) if state else JSONResponse(missing, 404))

    async def _take(self, request: Request) -> dict[str, str]:
        body: dict[str, str] = await request.json() if request.method == "POST" else {}
        self.bodies.append(body)
        return body
