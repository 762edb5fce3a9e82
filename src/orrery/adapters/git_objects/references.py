"""The names of branches, tags and other references: a push publishes them."""

from io import BytesIO

from orrery.ports.scanned import Item

_KINDS = {"refs/heads/": "branch", "refs/tags/": "tag", "refs/remotes/": "remote branch", "": "reference"}


def reference_item(reference: str) -> Item:
    """Return the name of a reference, such as `refs/heads/main`, as an item."""
    start = next(one for one in _KINDS if reference.startswith(one))
    text = reference.encode(errors="surrogateescape")
    place = f"the name of the {_KINDS[start]} {reference.removeprefix(start)}"
    return Item(place, "", len(text), BytesIO(text))
