"""The operations' reference as one page without scripts or outside resources."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def reference_page(openapi: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as HTML."""
    from jinja2 import Environment, PackageLoader, select_autoescape  # noqa: PLC0415  it is needed here only
    from markupsafe import Markup, escape  # noqa: PLC0415  it comes with jinja2

    pages = Environment(loader=PackageLoader("orrery", "web/reference"), autoescape=select_autoescape())
    pages.filters["code"] = lambda text: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  it was escaped
    operations = [
        (method.upper(), path, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    web = files("orrery").joinpath("web")
    style = "".join(web.joinpath(name).read_text(encoding="utf-8") for name in ("tokens.css", "ground.css"))
    page = pages.get_template("reference.html")
    return page.render(title=openapi["info"]["title"], operations=operations, style=style)
