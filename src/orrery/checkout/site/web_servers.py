"""What the web server of a site needs, to ask the access gate before it hands out a practice page: pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from orrery.checkout.catalogue import Catalogue
from orrery.checkout.site.pages import page_without_service
from orrery.checkout.site.practice import PracticePages, name_of_questions, practice_pages
from orrery.checkout.sites import ENDED, GATE, LOST, Site
from orrery.errors import Invalid
from orrery.syntax.web_file import web_file

WebServer = Literal["nginx", "caddy", "worker"]

_TEMPLATES = {"nginx": ("nginx.conf", "nginx-product.conf"), "caddy": ("Caddyfile", "Caddyfile-product")}

_TLS = """
    # nginx believes every certificate, unless it has to prove it.
    proxy_ssl_verify on;
    proxy_ssl_verify_depth 3;
    proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;
    proxy_ssl_server_name on;"""
"""For an Orrery that nginx reaches by https."""

_FOLDER = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+/")
"""Letters that no web server's configuration reads as anything else."""


@dataclass(frozen=True, slots=True)
class GatedSite:
    """A site, and the folder of each of its products' practice pages, which begins and ends with a slash."""

    site: Site
    folders: Mapping[str, str]


def gated_sites(
    catalogue: Catalogue, practice: str | None = None, named: str | None = None
) -> Sequence[GatedSite]:
    """Return the sites that have products, or the named one; raise `Invalid` where a folder is missing or unfit.

    `practice` is the address or path of the practice pages of all, before those of the sites.
    """
    sold: dict[Site, list[PracticePages]] = {}
    for one in practice_pages(catalogue, practice):
        if named in (None, one.site.name, one.site.origin):
            sold.setdefault(one.site, []).append(one)
    if not sold:
        raise Invalid(f"No product is sold at {named}." if named else "There are no products.")
    return [GatedSite(site, _folders(pages)) for site, pages in sold.items()]


def _folders(pages: Sequence[PracticePages]) -> Mapping[str, str]:
    found = {one.product.name: _folder(one) for one in pages}
    for shorter, longer in pairwise(sorted(found.values())):
        if longer.startswith(shorter):
            raise Invalid(f"{longer} is inside {shorter}: give each product its own folder, with {{certCode}}.")
    return found


def _folder(pages: PracticePages) -> str:
    """Return the folder of practice pages; raise `Invalid` for one that the cookie of the site does not reach."""
    if not pages.path:
        raise Invalid("Where are the practice pages? Set practice_url, or name their path with --practice.")
    address = f"{pages.origin}{pages.path}"
    if pages.site.origin and pages.origin not in ("", pages.site.origin):
        raise Invalid(f"{address} is not at {pages.site.origin}: the browser's cookie does not get there.")
    if not _FOLDER.fullmatch(pages.folder):
        raise Invalid(f"{address} is no folder such as /practice/cissp/, in plain letters and digits.")
    return pages.folder


def configuration(server: WebServer, gated: GatedSite, service: str) -> str:
    """Return the configuration of a site's web server; `service` is where that server reaches Orrery."""
    filled = {
        "NAME": gated.site.origin or "the site",
        "SITE": name_of_questions(gated.site),
        "SERVICE": service,
        "TLS": _TLS if service.startswith("https:") else "",
        "GATE": GATE,
        "LOST": LOST,
        "ENDED": ENDED,
        "AWAY": page_without_service(gated.site),
    }
    if server == "worker":
        by_folder = {folder: product for product, folder in gated.folders.items()}
        return _filled("worker.mjs", {**filled, "PRODUCTS": json.dumps(by_folder, indent=2)})
    whole, each = _TEMPLATES[server]
    products = [_filled(each, filled | _of_product(name, at)) for name, at in gated.folders.items()]
    return _filled(whole, {**filled, "PRODUCTS": "".join(products)})


def _of_product(name: str, folder: str) -> dict[str, str]:
    path = folder.rstrip("/")
    return {
        "PRODUCT": name,
        "ID": name.replace("/", "_"),
        "FOLDER": folder,
        "PATH": path,
        "SLASHED": path.replace("/", "/+"),
    }


def _filled(name: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], web_file(f"servers/{name}"))
