"""`orrery site`: which sites are printed, and what is refused; `tests/nginx` runs what is printed."""

import json
import re
from pathlib import Path

import pytest

from orrery.checkout.site.practice import PracticePages, as_sent
from orrery.checkout.sites import Site
from tests.support.checkout import PRODUCT
from tests.support.program import typed
from tests.support.tables import each_case

NORTH, SOUTH = "https://north.example", "https://south.example"
FOLDERS = "practice/{certCode}/"


def printed(
    folder: Path, *words: str, north: str = f"{NORTH}/{FOLDERS}", south: str = f"{SOUTH}/{FOLDERS}"
) -> str:
    """Return what `orrery site` prints for two sites of two products each, or why it refuses."""
    lines = ["[server]", "port = 18080"]
    for name, origin, practice in (("North", NORTH, north), ("South", SOUTH, south)):
        lines += [
            "[[sites]]",
            *(
                f"{key} = {json.dumps(value)}"
                for key, value in (("origin", origin), ("name", name), ("practice_url", practice))
            ),
        ]
        for code in ("one", "two"):
            product = {
                "vendor_slug": name.lower(),
                "cert_code": code,
                "title": code,
                "price_id": "p",
                "site": name,
            }
            lines += ["[[checkout.products]]", *(f"{key} = {json.dumps(value)}" for key, value in product.items())]
    (folder / "orrery.toml").write_text("\n".join(lines), encoding="utf-8")
    done = typed("site", *words, "--config", str(folder / "orrery.toml"))
    assert bool(done.stdout) != bool(done.returncode)
    return done.stdout + " ".join(done.stderr.split())


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_each_site_with_its_products(kind: str, tmp_path: Path) -> None:
    """All sites, or the one that is named by its name or origin; the service is where it listens."""
    both = printed(tmp_path, kind)
    assert [both.count(f"Practice pages of {origin}") for origin in (NORTH, SOUTH)] == [1, 1]
    assert all(f"/orrery-gate/{site}/{code}" in both for site in ("north", "south") for code in ("one", "two"))
    north = printed(tmp_path, kind, "--site", "North")
    assert north == printed(tmp_path, kind, "--site", NORTH)
    assert north in both
    assert "http://127.0.0.1:18080" in north
    assert "south" not in north


def test_each_site_asks_at_a_socket_of_its_own(tmp_path: Path) -> None:
    """At the socket of another site, a Caddy that does not know this one would answer, and open its pages."""
    both = printed(tmp_path, "caddy")
    sockets = dict(re.findall(r"^http://(\S+) {\n\tbind (\S+)$", both, re.MULTILINE))
    assert sockets == {f"orrery.{site}": f"unix/@orrery.{site}" for site in ("north.example", "south.example")}
    for site, socket in sockets.items():
        own = both.partition(f"http://{site} ")[2].partition("Practice pages of")[0]
        assert {*re.findall(r"(?:reverse_proxy|forward_auth \S+) (unix\S+)", own)} == {socket}
        assert printed(tmp_path, "caddy", "--site", "https://" + site.removeprefix("orrery.")) in both


@each_case("path", ["/prüfung/größe.html", "/pr%C3%BCfung/gr%c3%b6%c3%9fe.html?a=/b c", "/prüfung/"])
def test_a_path_with_letters_beyond_ascii_is_in_its_folder(path: str) -> None:
    """A path counts by what is asked for, however it was typed."""
    pages = PracticePages(PRODUCT.key, Site(origin=NORTH), NORTH, "/pr%C3%BCfung/")
    assert pages.has(as_sent(path))
    assert as_sent(path).isascii()


def test_the_worker_is_of_one_site(tmp_path: Path) -> None:
    """It asks the service at its public address, and has the folder of each product."""
    one = printed(tmp_path, "worker", "--service", "https://orrery.example", "--site", "South")
    assert 'const SERVICE = "https://orrery.example";' in one
    found = json.loads(one.partition("const PRODUCTS = ")[2].partition(";")[0])
    assert found == {"/practice/one/": "south/one", "/practice/two/": "south/two"}
    assert "North, South" in printed(tmp_path, "worker", "--service", "https://orrery.example")


def test_the_practice_pages_by_option(tmp_path: Path) -> None:
    """The option is for a site whose pages are elsewhere than the settings have them."""
    text = printed(tmp_path, "nginx", "--site", "North", "--practice", "/learn/{vendorSlug}/{certCode}")
    assert "location ^~ /learn/north/one/ {" in text
    assert "practice/" not in text


@each_case(
    ("practice", "why"),
    [
        ("", "Where are the practice pages?"),
        (f"{NORTH}/practice/", "is inside"),
        (f"{NORTH}/practice/", "with {certCode}"),
        (f"{NORTH}/", "is no folder"),
        (f"{NORTH}/practice/{{certCode}}.html", "is no folder"),
        (f"{NORTH}/practice/{{certCode}}/; deny all/", "is no folder"),
        (f"{NORTH}/practice/../{{certCode}}/", "is no folder"),
        (f"{SOUTH}/{FOLDERS}", f"is not at {NORTH}"),
    ],
)
def test_practice_pages_that_cannot_be_closed(practice: str, why: str, tmp_path: Path) -> None:
    """Without a folder for each product, which the cookie of the site reaches, nothing is printed."""
    assert why in printed(tmp_path, "nginx", north=practice)


def test_a_site_without_products(tmp_path: Path) -> None:
    """A name that no product has is a mistake."""
    assert "No product is sold at East" in printed(tmp_path, "nginx", "--site", "East")
