"""The folder of a site: which paths are practice pages, and where else the same bytes are."""

from pathlib import Path

import pytest

from orrery.checkout.site.folder import SiteFolder
from orrery.checkout.site.practice import PracticePages
from orrery.checkout.sites import Site
from tests.support.checkout import OTHER, PRODUCT

ORIGIN = "https://practise.example"


def test_paths_and_copies(tmp_path: Path) -> None:
    """A copy leaks where no practice page is, and a link to the folder is one; an empty file tells nothing."""
    one, other = (PracticePages(key, Site(origin=ORIGIN), ORIGIN, path) for key, path in PAGES.items())
    texts = {
        "a/index.html": "A",
        "a/b c.js": "B",
        "a/empty.txt": "",
        "c/b.js": "B",
        "old/x.js": "B",
        "home.html": "A!",
    }
    for name, text in {**texts, "empty.txt": ""}.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        _ = file.write_text(text, encoding="utf-8")
    (tmp_path / "again").symlink_to(tmp_path / "a")
    folder = SiteFolder(tmp_path)
    assert {*folder.paths(one)} == {"/a/", "/a/index.html", "/a/b%20c.js", "/a/empty.txt"}
    assert folder.copies(one, [one, other]) == {
        "/old/x.js": "/a/b%20c.js",
        "/again/b%20c.js": "/a/b%20c.js",
        "/again/index.html": "/a/index.html",
    }
    assert folder.copies(other, [one, other]) == {"/old/x.js": "/c/b.js", "/again/b%20c.js": "/c/b.js"}


@pytest.mark.parametrize(
    ("path", "file"),
    [("/pr%C3%BCfung/", "prüfung/x.js"), ("/exam.html", "exam.html"), ("/a%20b/c.js", "a b/c.js")],
)
def test_a_path_that_is_encoded_and_one_of_a_file(path: str, file: str, tmp_path: Path) -> None:
    """Its file is found by the name that it has in the folder, and its copy elsewhere."""
    pages = PracticePages(PRODUCT.key, Site(origin=ORIGIN), ORIGIN, path)
    for name in (file, "copy.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        _ = (tmp_path / name).write_text("A", encoding="utf-8")
    folder = SiteFolder(tmp_path)
    (found,) = folder.paths(pages)
    assert pages.has(found)
    assert folder.copies(pages, [pages]) == {"/copy.txt": found}


PAGES = {PRODUCT.key: "/a/", OTHER.key: "/c"}
