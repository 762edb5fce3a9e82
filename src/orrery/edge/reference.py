"""The operations' reference as one page without scripts or outside resources."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

_PAGES = Environment(loader=PackageLoader("orrery", "web/reference"), autoescape=select_autoescape())


def reference_page(openapi: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as HTML."""
    operations = [
        (method.upper(), path, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    return _PAGES.get_template("reference.html").render(title=openapi["info"]["title"], operations=operations)
