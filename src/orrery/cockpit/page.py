"""The files of the page, read from the disk at each request: a change is picked up when a tab reloads (spec 3)."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

INDEX = "index.html"

MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""The kinds of file that are served, by their endings."""

_SHARED = ("tokens.css", "ground.css")
_DIGEST = "{page}"


def index() -> bytes:
    """Return the page itself, which knows the digest of the files that it was made of."""
    found = _folder().joinpath(INDEX).read_text(encoding="utf-8")
    return found.replace(_DIGEST, digest()).encode()


def file_of(name: str) -> tuple[bytes, str] | None:
    """Return one of the page's files and its media type, or None when it is none of them."""
    media_type = MEDIA_TYPES.get(name.rpartition(".")[2])
    found = _files().get(name)
    return (found.read_bytes(), media_type) if found and media_type else None


def digest() -> str:
    """Return what changes with any of the files."""
    read = hashlib.sha256()
    for name, file in sorted(_files().items()):
        read.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return read.hexdigest()[:16]


def _files() -> dict[str, Traversable]:
    found = {one.name: one for one in _folder().iterdir() if one.is_file()}
    return found | {name: files("orrery").joinpath("web", name) for name in _SHARED}


def _folder() -> Traversable:
    return files("orrery").joinpath("web", "cockpit")
