"""The scripts that a site embeds, as a browser takes them."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from orrery.edge.public_reads import is_known
from orrery.syntax.script import Script


def script_answer(request: Request, script: Script, headers: Mapping[str, str] | None = None) -> Response:
    """Return the script, or that the browser has it already; it may keep it for five minutes."""
    about = {"Cache-Control": "public, max-age=300", "ETag": script.etag, **(headers or {})}
    if is_known(request.scope["headers"], script.etag.encode()):
        return Response(status_code=304, headers=about)
    return Response(script.text, media_type="text/javascript", headers=about)
