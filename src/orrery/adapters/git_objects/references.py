"""The names of branches, tags and other references: a push publishes them."""

from io import BytesIO

from orrery.ports.scanned import Item

_KINDS = {"refs/heads/": "branch", "refs/tags/": "tag", "refs/remotes/": "remote branch"}


def reference_item(reference: str) -> Item:
    """Return the name of a reference, such as `refs/heads/main`, as an item."""
    for start, kind in _KINDS.items():
        if reference.startswith(start):
            return _item(f"the name of the {kind} {reference.removeprefix(start)}", reference)
    return _item(f"the name of the reference {reference}", reference)


def _item(place: str, reference: str) -> Item:
    text = reference.encode(errors="surrogateescape")
    return Item(place, "", len(text), BytesIO(text))
