"""What each fault of a web server means, and the line of its configuration that fixes it: pure."""

from dataclasses import dataclass

from orrery.checkout.site.practice import PracticePages, name_of_questions
from orrery.checkout.site.proving import Fault


@dataclass(frozen=True, slots=True)
class Fix:
    """A fault in a sentence, and what to write in the configuration of each web server."""

    meaning: str
    nginx: str
    caddy: str

    @classmethod
    def of(cls, fault: Fault, pages: PracticePages, service: str) -> "Fix":
        """Return the words for a fault; `service` is the address of Orrery for the site's web server."""
        return _of_gate(pages, service).get(fault) or _of_headers(pages, service)[fault]


def _of_gate(pages: PracticePages, service: str) -> dict[Fault, Fix]:
    at, path = pages.folder or pages.path, pages.path.rstrip("/")
    block = f"location ^~ {at} {{ auth_request … }}"
    at_socket, product = f"unix/@{name_of_questions(pages.site)}", pages.product.name
    asks = f"forward_auth {at}* {at_socket} {{ uri /orrery-gate/{product} … }}"
    asked = f"proxy_pass {service}{pages.gate};"
    return {
        "open": Fix("Anybody can see it: the web server does not ask the access gate.", block, asks),
        "extension": Fix(
            "Anybody can see files by their extension: in nginx a regular expression, such as location ~ \\.js$, "
            "beats location without ^~; in Caddy another handle comes first.",
            f"{block}   (with ^~, and each location for extensions outside it)",
            f"{asks}   (outside every handle)",
        ),
        "method": Fix(
            "Anybody can see it by another method: the access gate is asked for some methods only.",
            "auth_request /orrery-gate;   (not inside limit_except, and not behind an if on $request_method)",
            f"{asks}   (without a method in its matcher)",
        ),
        "condition": Fix(
            "Anybody can see it by a header of the request: it is answered before the access gate is asked.",
            "proxy_cache off;   (in the location of the practice pages; no cache before auth_request)",
            f"{asks}   (before any cache)",
        ),
        "spelling": Fix(
            "Anybody can see it by another way of writing its path, which the location does not match.",
            "merge_slashes on;   (no proxy_pass or rewrite that decodes the path once more; for capitals: "
            f"location ~* ^{at} before all others; for no /: location = {path} {{ return 301 {at}; }})",
            f"path {path} {at}*   (as the matcher: no path_regexp, no expression, no rewrite before it)",
        ),
        "another product": Fix(
            "Who bought another product can see it: the web server asks the access gate for the wrong product.",
            asked,
            asks,
        ),
        "closed": Fix(
            "It stays closed to a buyer: the access gate gets no cookie, or is asked for another product. Or the "
            "web server itself may not read the file, or the folder has no index.",
            f"{asked}   (without proxy_set_header Cookie in its location)",
            f"{asks}   (without header_up Cookie)",
        ),
        "gate": Fix(
            "What answers is not the access gate: anything but 204, 401 and 403 closes the pages to all.",
            f"{asked}   (straight to Orrery: no redirection, no login, no rate limit on the way)",
            f"{asks}   (the same)",
        ),
    }


def _of_headers(pages: PracticePages, service: str) -> dict[Fault, Fix]:
    upstream = service.removeprefix("http://")
    policy, pill = "Content-Security-Policy", "of the page: script-src 'self'; connect-src 'self'"
    private, year = '"private, no-cache"', '"max-age=31536000"'
    return {
        "second path": Fix(
            "Anybody can see practice pages at a second path, which is not in their folder.",
            "no alias, root, rewrite or copy that leads to them by another path   (or gate that path, too)",
            "no handle_path, uri, root or copy that leads to them by another path   (or gate that path, too)",
        ),
        "other address": Fix(
            "Anybody can see practice pages at another address of the site: its server block does not ask the "
            "access gate.",
            f"return 301 {pages.origin}$request_uri;   (and nothing else in the server block of that address)",
            f"redir {pages.origin}{{uri}}   (and nothing else in the block of that address)",
        ),
        "missing": Fix(
            "It is not there for a buyer either.",
            "root /path/of/your/site;   (or leave the file out of --root)",
            "root * /path/of/your/site   (or leave the file out of --root)",
        ),
        "cache": Fix(
            "A cache may give it to anybody, or go on refusing it to a buyer: it is kept without asking again.",
            f"add_header Cache-Control {private} always;   (in the location; and no expires)",
            f"header Cache-Control {private}",
        ),
        "HSTS": Fix(
            "A browser may be led to the site without encryption.",
            f"add_header Strict-Transport-Security {year} always;",
            f"header Strict-Transport-Security {year}",
        ),
        "hosted pages": Fix(
            "The hosted pages are not there: no browser can get the cookie that opens practice pages.",
            f"location ^~ /guided/ {{ proxy_pass {service}; }}",
            f"handle /guided/* {{ reverse_proxy {upstream} }}",
        ),
        "CSP": Fix(
            "The hosted pages come without Orrery's Content-Security-Policy: other sites can frame them. Or a "
            "page has one that keeps out the live count, which it loads.",
            f"proxy_pass_header {policy};   (in location /guided/; no proxy_hide_header; {pill})",
            f"handle /guided/* {{ reverse_proxy {upstream} }}   (without header_down -{policy}; {pill})",
        ),
        "pill": Fix(
            "The page loads the live count, and the site does not answer at its path.",
            f"location /live/ {{ proxy_pass {service}; }}   (and location /api/stats)",
            f"handle /live/* {{ reverse_proxy {upstream} }}   (and handle /api/stats)",
        ),
    }
