"""The operations' reference as one page without scripts or outside resources."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orrery.syntax.web_file import web_file, web_template

if TYPE_CHECKING:
    from markupsafe import Markup


def reference_page(openapi: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as HTML."""
    operations = [
        (method.upper(), path, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    style = web_file("tokens.css") + web_file("ground.css")
    page = web_template("reference/reference.html")
    return page.render(title=openapi["info"]["title"], operations=operations, style=style, code=_code)


def _code(text: str) -> "Markup":
    from markupsafe import Markup, escape  # noqa: PLC0415  it comes with jinja2

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  it was escaped
