"""A word is in a view of every file that holds it, whatever carries it."""

import io

import pytest

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.views import OVERLAP, WINDOW, View, views
from tests.scanner.unpack.carriers import UMLAUT, WORD
from tests.scanner.unpack.table import CARRIERS, UMLAUTS


def read(name: str, content: bytes) -> tuple[list[View], list[NotRead]]:
    """Return the views of a file, and what could not be read."""
    found = list(views(name, io.BytesIO(content)))
    return [one for one in found if isinstance(one, View)], [one for one in found if isinstance(one, NotRead)]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_word_is_found_in_every_carrier(carrier: str) -> None:
    """The planted word stands whole in some view, nothing is left unread, and no view is too large."""
    name, content = CARRIERS[carrier]
    found, not_read = read(name, content)
    assert any(WORD.encode() in view.text for view in found)
    assert not_read == []
    assert max(len(view.text) for view in found) <= WINDOW + OVERLAP


@pytest.mark.parametrize("carrier", UMLAUTS)
def test_a_name_with_umlauts_becomes_utf_8(carrier: str) -> None:
    """A name that is not English stands in some view as UTF-8."""
    name, content = UMLAUTS[carrier]
    found, not_read = read(name, content)
    assert any(UMLAUT.encode() in view.text for view in found)
    assert not_read == []
