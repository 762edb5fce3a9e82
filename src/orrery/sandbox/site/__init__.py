"""The demo planet: a shop front and a protected practice site that use Orrery from outside.

It knows three public operations and nothing else of Orrery: it starts a checkout, reads the state of an access
for the success page, and asks whether an access is good before it shows a practice page (decisions 3 and 11).
"""

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from orrery.sandbox.site.config import SiteConfig, SiteProduct
from orrery.sandbox.site.operations import Operations
from orrery.sandbox.site.pages import Pages
from orrery.sandbox.site.rendering import Renderer

__all__ = ["SiteConfig", "SiteProduct", "create_site"]


def create_site(config: SiteConfig, transport: httpx2.AsyncBaseTransport | None = None) -> Starlette:
    """Return the site as an application to be mounted at `/`, behind the routes of the operations.

    `transport` is how the site reaches the operations: the network, unless one is given.
    """
    pages = Pages(config, Operations(config, transport), Renderer(config))
    return Starlette(routes=pages.routes(), exception_handlers={HTTPException: pages.http_error})
