"""What `orrery site check` asks the web server of a site, and what the answers show: pure.

Without the cookie of the product nothing but refusals may come, however the request is written. Each answer that
is no refusal shows a fault in the configuration of the web server; `fixes.py` has the lines that fix it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal, get_args
from urllib.parse import urljoin, urlsplit

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.site.practice import PracticePages
from orrery.checkout.sites import LOST
from orrery.ports.web_sites import SiteAnswer, SiteRequest

Leak = Literal[
    "open",
    "extension",
    "method",
    "condition",
    "spelling",
    "another product",
    "second path",
    "other address",
    "cache",
]
"""What lets somebody see practice pages who has no access to them."""

LEAKS = frozenset(get_args(Leak))

Fault = Literal[Leak, "closed", "missing", "gate", "hosted pages", "HSTS", "CSP", "pill"]

Cookie = Literal["none", "own", "other"]
"""Without one, with a probe of the product, with a probe of another one."""

OTHER = ProductKey("cert", "another-product", "orrery-probe")

NOWHERE = SiteRequest("/orrery-probe-of-nothing")
"""What no site has: one that answers it with a page answers everything so."""

EXTENSIONS = ("html", "js", "css", "json", "png", "svg", "webp", "pdf", "woff2", "mp3", "mp4", "txt", "xml", "map")

HOSTED = "/guided/"
"""Where the hosted pages are, to which a refusal leads."""

HOSTED_PAGE = SiteRequest(LOST)

PILL = "/live/pill.js"

_SUCCESS = range(200, 300)
_REDIRECTION = range(300, 400)
_SEEN = {*_SUCCESS, 304, 416}
"""What is answered from the file: 304 shows that it is unchanged, 416 how long it is."""

_NOT_THERE = {404, 410}


@dataclass(frozen=True, slots=True)
class VisitorRequest:
    """One request without the cookie of the product; `fault` is what an answer shows that is no refusal."""

    fault: Fault
    how: str
    request: SiteRequest
    cookie: Cookie = "none"


@dataclass(frozen=True, slots=True)
class Found:
    """A fault, and the request whose answer showed it."""

    fault: Fault
    product: str
    path: str
    how: str
    status: int


def plain(path: str, fault: Fault = "open") -> VisitorRequest:
    """Return the request of a visitor without a cookie."""
    return VisitorRequest(fault, "without a cookie", SiteRequest(path))


def of_second_path(path: str, original: str) -> VisitorRequest:
    """Return the request for a path outside of the practice pages; `original` is the page with the same bytes."""
    how = f"the same as {original}, without a cookie" if original else "without a cookie"
    return VisitorRequest("second path", how, SiteRequest(path))


def of_other_address(path: str, address: str) -> VisitorRequest:
    """Return the request for a page at another address of its site."""
    return VisitorRequest("other address", f"at {address}, without a cookie", SiteRequest(path))


def of_another_product(path: str) -> VisitorRequest:
    """Return the request of a visitor who bought something else."""
    return VisitorRequest("another product", "with the cookie of another product", SiteRequest(path), "other")


def every_way(path: str, opened: SiteAnswer) -> list[VisitorRequest]:
    """Return a path's requests without a cookie that a web server may take for something else."""
    headers = {"Range": "bytes=0-9", "If-None-Match": opened.headers.get("etag", "*")}
    ways: list[tuple[Fault, str, SiteRequest]] = [
        *(("method", f"by {method}", SiteRequest(path, method)) for method in ("HEAD", "POST")),
        *(("condition", f"with {name}", SiteRequest(path, "GET", {name: headers[name]})) for name in headers),
        *(("spelling", f"written with {how}", SiteRequest(one)) for how, one in _spellings(path).items()),
    ]
    return [VisitorRequest(*way) for way in ways]


def _spellings(path: str) -> Mapping[str, str]:
    return {
        "// at the beginning": f"/{path}",
        "// in the middle": path[0] + path[1:].replace("/", "//"),
        "/../": f"/orrery-probe/..{path}",
        "%2f": path[0] + path[1:].replace("/", "%2f"),
        "an encoded letter": f"/%{ord(path[1:2] or '/'):02x}{path[2:]}",
        "capitals": path.upper(),
        "no / at the end": path.rstrip("/") or "/",
    }


def by_extension(pages: PracticePages) -> list[VisitorRequest]:
    """Return requests for files that are not there, which the gate must refuse as it refuses the page itself."""
    names = (f"{pages.folder}orrery-probe.{one}" for one in EXTENSIONS if pages.folder)
    return [VisitorRequest("extension", "without a cookie", SiteRequest(one)) for one in names]


def of_gate(pages: PracticePages) -> list[tuple[VisitorRequest, int]]:
    """Return what the gate is asked through the site, with its only right answer."""
    request = SiteRequest(pages.gate)
    return [
        (VisitorRequest("gate", "without a cookie", request), 401),
        (VisitorRequest("gate", "with the cookie of its product", request, "own"), 204),
        (VisitorRequest("gate", "with the cookie of another product", request, "other"), 403),
    ]


def gate_is_wrong(answer: SiteAnswer, right: int) -> bool:
    """Return whether the gate's answer is another; where the site does not show the gate, none is."""
    return answer.status not in {right, *_NOT_THERE, 0}


def first_of_each_extension(paths: Iterable[str]) -> set[str]:
    """Return one path of each kind: web servers treat files by their extension."""
    return {*{PurePosixPath(one).suffix: one for one in reversed([*paths])}.values()}


def is_refused(answer: SiteAnswer) -> bool:
    """Return whether an answer shows nothing of what is asked for."""
    return answer.status not in _SEEN


def is_leak(visitor: VisitorRequest, answer: SiteAnswer, opened: SiteAnswer, elsewhere: SiteAnswer) -> bool:
    """Return whether an answer shows the page `opened`; `elsewhere` answers a path that is not there."""
    if opened.status in _SUCCESS and answer.body == opened.body != b"":
        return True  # of any status: a web server's own answer to an error may be the page
    if visitor.fault in ("second path", "other address") and answer.body == elsewhere.body:
        return False
    return not is_refused(answer) and (visitor.fault != "spelling" or is_refused(elsewhere))


def by_its_extension(found: Found) -> Found:
    """Return the finding about a file that everybody sees, though the page itself is refused."""
    by_name = found.fault == "open" and PurePosixPath(found.path).suffix
    return replace(found, fault="extension") if by_name else found


def is_unguarded(answer: SiteAnswer, refusal: SiteAnswer) -> bool:
    """Return whether a file that is not there was looked for, though the page itself is refused."""
    looked_for = answer.status in _NOT_THERE or not is_refused(answer)
    return looked_for and answer.status != refusal.status


def faults_of_opened(pages: PracticePages, path: str, answer: SiteAnswer) -> list[Fault]:
    """Return what is wrong with the answer to a browser that has access."""
    if answer.status in _REDIRECTION:
        target = urlsplit(urljoin(path, answer.headers.get("location", ""))).path
        if pages.has(target):
            return []
        return ["closed"] if target.startswith(HOSTED) else ["gate"]
    if answer.status in _NOT_THERE:
        return ["missing"]
    if answer.status not in _SUCCESS:
        return ["gate"] if answer.status >= 500 else ["closed"]  # noqa: PLR2004  a server's own fault
    faults: dict[Fault, bool] = {
        "cache": _may_be_kept(answer),
        "HSTS": pages.origin.startswith("https:") and not _asks_for_tls(answer),
        "CSP": shows_pill(pages, answer) and _keeps_out(pages, answer),
    }
    return [fault for fault, is_there in faults.items() if is_there]


def fault_of_hosted(answer: SiteAnswer) -> Fault | None:
    """Return what is wrong with a hosted page as the site shows it."""
    if answer.status not in _SUCCESS:
        return "hosted pages"
    return None if "frame-ancestors" in answer.headers.get("content-security-policy", "") else "CSP"


def refusal_is_kept(answer: SiteAnswer) -> bool:
    """Return whether a cache may keep a refusal: a browser would get it again after its purchase."""
    said = _cache_control(answer)
    kept = {one for one in said if one.startswith(("max-age=", "s-maxage=")) and not one.endswith("=0")}
    return bool(kept) and not said & {"no-store", "no-cache"}


def _may_be_kept(answer: SiteAnswer) -> bool:
    """Return whether a cache may give an answer to somebody else, or without asking again."""
    said = {one.partition("=")[0] for one in _cache_control(answer)}
    return bool(said & {"public", "s-maxage"}) or not ("no-store" in said or {"private", "no-cache"} <= said)


def _cache_control(answer: SiteAnswer) -> set[str]:
    return {one.strip() for one in answer.headers.get("cache-control", "").lower().split(",")}


def _asks_for_tls(answer: SiteAnswer) -> bool:
    said = answer.headers.get("strict-transport-security", "").lower().replace(" ", "").replace('"', "")
    return any(one.startswith("max-age=") and one != "max-age=0" for one in said.split(";"))


def shows_pill(pages: PracticePages, answer: SiteAnswer) -> bool:
    """Return whether a page loads the live count from its own site."""
    addresses = (f"{quote}{origin}{PILL}" for quote in "\"'" for origin in ("", pages.origin))
    return any(one.encode() in answer.body for one in addresses)


def _keeps_out(pages: PracticePages, answer: SiteAnswer) -> bool:
    """Return whether a page's own policy keeps out a script of its site, or what that script asks the site for."""
    policies = answer.headers.get("content-security-policy", "").lower().split(",")
    return any(not _allows_own(pages.origin, one) for one in policies)


def _allows_own(origin: str, policy: str) -> bool:
    said = {words[0]: words[1:] for words in map(str.split, policy.split(";")) if words}
    own = {"*", "'self'", f"{urlsplit(origin).scheme}:", origin, urlsplit(origin).netloc}
    wanted = (said.get(name, said.get("default-src", ["*"])) for name in ("script-src", "connect-src"))
    return all(any(one in own or one.startswith(("'nonce-", "'sha")) for one in sources) for sources in wanted)
