"""The hosted payment page: GET and POST /pay/{session_id}; works without JavaScript."""

from collections.abc import Sequence
from typing import get_args

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.board import Fields, form_of, render
from orrery.sandbox.ground import Document
from orrery.sandbox.processor.account import ACCOUNT_ID
from orrery.sandbox.processor.payments import Payment, Verdict, pay
from orrery.sandbox.processor.sessions import is_email
from orrery.sandbox.processor.world import World, holding

_ALWAYS_CHALLENGED = ("any", "challenge")
_WALLETS = ("apple_pay", "google_pay")
_VERDICTS = (
    ("approved", "Approves the payment"),
    ("declined", "Declines the card"),
    ("challenge", "Asks the buyer to confirm (3-D Secure)"),
    ("delayed", "Accepts now, the money arrives later"),
    ("review", "Approves, but the payment is held for review"),
)


class PayPage:
    """The page of every world's sessions: the session's id names the world."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds

    def routes(self) -> list[Route]:
        return [
            Route("/pay/{session}", self.show, methods=["GET"]),
            Route("/pay/{session}", self.submit, methods=["POST"]),
            Route("/c/pay/{session}", self.show, methods=["GET"]),  # the vendor's own path
        ]

    async def show(self, request: Request) -> Response:
        """Show the page, or the reason why nothing can be paid here."""
        world, session = self._found(request)
        if session is None or session["status"] != "open":
            return _closed(session)
        return _form(world, session, {})

    async def submit(self, request: Request) -> Response:
        """Pay: redirect to the success page after a payment, else back to the form with the fault."""
        world, session = self._found(request)
        if session is None or session["status"] != "open":
            return _closed(session)
        fields = await form_of(request)
        if problems := _problems(session, fields):
            return _form(world, session, fields, problems, 422)
        if _needs_challenge(session, fields):
            return render("challenge.html", session=session, fields=fields)
        refusal = pay(world, session, _payment(session, fields, _client_address(request)))
        if refusal is not None:
            problem = {"verdict": f"{refusal} Try again, or use another card."}
            return _form(world, session, fields, problem, 402)
        return RedirectResponse(session["success_url"].replace("{CHECKOUT_SESSION_ID}", session["id"]), 303)

    def _found(self, request: Request) -> tuple[World, Document | None]:
        key = request.path_params["session"]
        world = holding(self._worlds, "checkout.session", key)
        world.expire_due()
        return world, world.state.get("checkout.session", key)


def _form(
    world: World, session: Document, fields: Fields, problems: dict[str, str] | None = None, status: int = 200
) -> Response:
    items = world.state.get("_line_items", session["id"]) or {"items": []}
    return render(
        "pay.html",
        status,
        session=session,
        items=items["items"],
        seller=world.find("account", ACCOUNT_ID, "account")["business_profile"]["name"],
        message=_message(session),
        methods=[(slug, slug.replace("_", " ").title()) for slug in _methods(session)],
        verdicts=_VERDICTS,
        fields=fields,
        problems=problems or {},
        terms=_terms_required(session),
    )


def _methods(session: Document) -> list[str]:
    methods: list[str] = list(session["payment_method_types"])
    return [methods[0], *_WALLETS, *methods[1:]] if methods[0] == "card" else methods


def _terms_required(session: Document) -> bool:
    consent: Document | None = session["consent_collection"]
    return consent is not None and consent["terms_of_service"] == "required"


def _message(session: Document) -> str | None:
    slot: Document | None = session["custom_text"]["submit"]
    return slot["message"] if slot else None


def _closed(session: Document | None) -> Response:
    status = 404 if session is None else 410 if session["status"] == "expired" else 200
    return render("closed.html", status, session=session)


def _problems(session: Document, fields: Fields) -> dict[str, str]:
    problems: dict[str, str] = {}
    if not is_email(fields.get("email", "")):
        problems["email"] = "Enter your e-mail address, like name@example.org."
    if fields.get("method", "card") not in _methods(session):
        problems["method"] = "Choose how you want to pay."
    if fields.get("verdict", "approved") not in get_args(Verdict):
        problems["verdict"] = "Choose the bank's answer."
    for one in session["custom_fields"]:
        if not one["optional"] and not fields.get(f"field_{one['key']}"):
            problems[f"field_{one['key']}"] = "Please answer this."
    if _terms_required(session) and "terms" not in fields:
        problems["terms"] = "Please accept the terms first."
    return problems


def _needs_challenge(session: Document, fields: Fields) -> bool:
    options = session["payment_method_options"].get("card", {})
    asked_for = options.get("request_three_d_secure") in _ALWAYS_CHALLENGED
    by_bank = fields.get("verdict") == "challenge"
    return "confirmed" not in fields and fields.get("method", "card") != "link" and (asked_for or by_bank)


def _payment(session: Document, fields: Fields, ip: str) -> Payment:
    method = fields.get("method", "card")
    confirmed = fields.get("confirmed")
    verdict: Verdict = next(one for one in get_args(Verdict) if one == fields.get("verdict", "approved"))
    return Payment(
        email=fields["email"],
        verdict="declined" if confirmed == "no" else verdict,
        method="card" if method in _WALLETS else method,
        wallet=method if method in _WALLETS else None,
        ip=ip,
        answers={one["key"]: fields.get(f"field_{one['key']}", "") for one in session["custom_fields"]},
        challenged=confirmed == "yes",
        terms_accepted="terms" in fields,
    )


def _client_address(request: Request) -> str:
    """Return the buyer's address: the peer's, or that in `X-Forwarded-For`, so that any buyer can be simulated."""
    forwarded = request.headers.get("x-forwarded-for", "").partition(",")[0].strip()
    return forwarded or (request.client.host if request.client else "unknown")
