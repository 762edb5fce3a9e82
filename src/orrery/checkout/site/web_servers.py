"""What the web server of a site needs, to ask the access gate before it hands out a practice page: pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from orrery.checkout.catalogue import Catalogue, Product
from orrery.checkout.site.pages import page_without_service
from orrery.checkout.sites import ENDED, GATE, LOST, Site, origin_of
from orrery.errors import Invalid

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
    catalogue: Catalogue, default: str, practice: str | None = None, named: str | None = None
) -> Sequence[GatedSite]:
    """Return the sites that have products, or the named one; raise `Invalid` where a folder is missing or unfit.

    `practice` is the address or path of the practice pages of all, before those of the site and `default`.
    """
    sold: dict[Site, list[Product]] = {}
    for product in catalogue.listed:
        if product.site and named in (None, product.site.name, product.site.origin):
            sold.setdefault(product.site, []).append(product)
    if not sold:
        raise Invalid(f"No product is sold at {named}." if named else "There are no products.")
    return [
        GatedSite(site, _folders(site, practice or site.practice_url or default, products))
        for site, products in sold.items()
    ]


def _folders(site: Site, practice: str, products: Sequence[Product]) -> Mapping[str, str]:
    found = {one.name: _folder(site, one.key.within(practice)) for one in products}
    for shorter, longer in pairwise(sorted(found.values())):
        if longer.startswith(shorter):
            raise Invalid(f"{longer} is inside {shorter}: give each product its own folder, with {{certCode}}.")
    return found


def _folder(site: Site, address: str) -> str:
    """Return the folder at an address; raise `Invalid` for one that the cookie of the site does not reach."""
    if not address:
        raise Invalid("Where are the practice pages? Set practice_url, or name their path with --practice.")
    if site.origin and origin_of(address) not in ("", site.origin):
        raise Invalid(f"{address} is not at {site.origin}: the browser's cookie does not get there.")
    path = urlsplit(address).path
    folder = path.rstrip("/") + "/"
    if not _FOLDER.fullmatch(folder) or (PurePosixPath(path).suffix and path != folder):
        raise Invalid(f"{address} is no folder such as /practice/cissp/, in plain letters and digits.")
    return folder


def configuration(server: WebServer, gated: GatedSite, service: str) -> str:
    """Return the configuration of a site's web server; `service` is where that server reaches Orrery."""
    filled = {
        "NAME": gated.site.origin or "the site",
        "SITE": f"orrery.{re.sub('[^a-z0-9.-]+', '-', urlsplit(gated.site.origin).netloc) or 'site'}",
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
    return {
        "PRODUCT": name,
        "ID": name.replace("/", "_"),
        "FOLDER": folder,
        "SLASHED": folder.replace("/", "/+"),
    }


def _filled(name: str, values: Mapping[str, str]) -> str:
    template = files("orrery").joinpath("web", "servers", name).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], template)
