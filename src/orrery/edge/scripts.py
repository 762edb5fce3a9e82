"""What a site's pages load of ours, and a browser keeps for a while: scripts, and the products."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from orrery.edge.public_reads import is_known
from orrery.syntax.script import Script


def script_answer(request: Request, script: Script, headers: Mapping[str, str] | None = None) -> Response:
    """Return the script, or that the browser has it already; it may keep it for five minutes."""
    about = {"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "public, max-age=300"}
    return kept_answer(request, script.text, script.etag, about | {**(headers or {})})


def kept_answer(request: Request, text: str, etag: str, headers: Mapping[str, str]) -> Response:
    """Return an answer with its headers, or that the browser has it already."""
    about = {**headers, "ETag": etag}
    if is_known(request.scope["headers"], etag.encode()):
        del about["Content-Type"]
        return Response(status_code=304, headers=about)
    return Response(text, headers=about)
