"""The operations' reference as one page without scripts or outside resources."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def reference_page(openapi: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as HTML."""
    from jinja2 import Environment, PackageLoader, select_autoescape  # noqa: PLC0415  it is needed here only

    pages = Environment(loader=PackageLoader("orrery", "web/reference"), autoescape=select_autoescape())
    operations = [
        (method.upper(), path, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    web = files("orrery").joinpath("web")
    style = "".join(web.joinpath(name).read_text(encoding="utf-8") for name in ("tokens.css", "ground.css"))
    page = pages.get_template("reference.html")
    return page.render(title=openapi["info"]["title"], operations=operations, style=style)
