"""The hosted pages: one message each, in the name, colour and language of a site. None needs a script."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from html import escape

from orrery.checkout.sites import Site
from orrery.checkout.words import date_in, words_of
from orrery.syntax.web_file import web_file, web_template

RENEWED = {"open": 10, "pending": 4, "delayed": 300, "away": 10}
"""Seconds after which a page that waits for something asks again, by its name."""

PATIENCE = 60
"""A page asks again after a sixtieth of its session's age at the earliest: a tab may stay open for a day."""

_STYLES = ("tokens.css", "ground.css", "message.css", "guided/guided.css")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedPage:
    """One page, with the words of its name. `links` are addresses by their names in the words' table.

    A page that has a form sends its hidden `fields` to `action`, or to its own address. `age` is that of the
    session that it waits for.
    """

    name: str
    site: Site
    product: str | None = None
    until: datetime | None = None
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    action: str = ""
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    age: timedelta = timedelta(0)

    def html(self) -> str:
        """Return the page."""
        words = words_of(self.site.language)
        page = words["pages"][self.name]
        filled = {
            "product": self.product or words["product"],
            "until": date_in(words, self.until).replace(" ", "\N{NO-BREAK SPACE}") if self.until else "",
        }
        return web_template("guided/page.html").render(
            language=self.site.language,
            name=self.site.name,
            home=words["home"],
            style=_style(self.site.colour),
            title=page["title"].format(**filled),
            text=[one.format(**filled) for one in page["text"]],
            label=page.get("label"),
            button=page.get("button"),
            action=self.action,
            fields=self.fields,
            links=[(self.links[to], said) for to, said in page.get("links", {}).items() if self.links.get(to)],
        )

    def headers(self) -> Mapping[str, str]:
        """Return the page's own headers, beside those that every answer has."""
        policy = {"Content-Security-Policy": _policy(_style(self.site.colour))}
        if (seconds := RENEWED.get(self.name)) is None:
            return policy
        return policy | {"Refresh": str(max(seconds, int(self.age.total_seconds() / PATIENCE)))}


def page_without_service(site: Site) -> str:
    """Return what a site's web server shows by itself while the service is away: one line of ASCII, unstyled."""
    page = words_of(site.language)["pages"]["away"]
    title, text = escape(page["title"]), escape(" ".join(page["text"]))
    html = f"<!doctype html><html lang={site.language}><title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
    return html.encode("ascii", "xmlcharrefreplace").decode()


@lru_cache(maxsize=64)
def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


@lru_cache(maxsize=64)
def _style(colour: str) -> str:
    """Return the style of all pages, with a site's colour: in the dark a light one is mixed of it and white."""
    style = "".join(web_file(name) for name in _STYLES)
    if not colour:
        return style
    mixed = {"accent": 40, "accent-strong": 25}
    shades = "".join(
        f"--o-{name}:light-dark({colour},color-mix(in srgb,{colour} {share}%,white));"
        for name, share in mixed.items()
    )
    return f"{style}:root{{{shades}}}"
