"""A text of a notebook is one text, however its strings cut it."""

import base64
import json
import zlib

from tests.scanner.unpack.carriers import WORD, chunk, png
from tests.scanner.unpack.reading import read
from tests.support.tables import each_case

_PICTURE = base64.encodebytes(png(chunk(b"zTXt", b"k\0\0" + zlib.compress(WORD.encode() * 9)))).decode()


def _cut(text: str, place: int) -> list[str]:
    return [text[:place], text[place:]]


def _notebook(place: int) -> dict[str, object]:
    """Return cells and outputs of each kind."""
    return {
        "markdown": {"cell_type": "markdown", "source": _cut(f"see {WORD}", place)},
        "markdown with tags": {"cell_type": "markdown", "source": _cut(f"see {WORD[:3]}<b>{WORD[3:]}</b>", place)},
        "code": {"cell_type": "code", "source": _cut(f"x = '{WORD}'", place)},
        "a letter each": {"cell_type": "raw", "source": [*f"see {WORD}"]},
        "printed": {
            "cell_type": "code",
            "outputs": [{"output_type": "stream", "text": _cut(f"see {WORD}", place)}],
        },
        "html": {
            "cell_type": "code",
            "outputs": [{"data": {"text/html": _cut(f"<p>{WORD[:2]}<i>{WORD[2:]}", place)}}],
        },
        "picture": {"cell_type": "code", "outputs": [{"data": {"image/png": _PICTURE.splitlines(keepends=True)}}]},
        "attachment": {"cell_type": "markdown", "attachments": {"a.png": {"image/png": _cut(_PICTURE, place)}}},
        "old": {"cell_type": "code", "input": _cut(f"see {WORD}", place)},
    }


@each_case("kind", _notebook(1))
@each_case("name", ["a.ipynb", ""])
@each_case("place", range(3, 14, 2))
def test_a_cut_word_is_whole_in_a_text_that_is_shown(kind: str, name: str, place: int) -> None:
    """In a cell, an output or an attachment of each kind, wherever the cut is, and known by name or beginning."""
    cells = [_notebook(place)[kind]]
    notebook = {"worksheets": [{"cells": cells}]} if kind == "old" else {"cells": cells, "nbformat": 4}
    found, not_read = read(name, json.dumps(notebook, indent=1).encode())
    assert any(WORD.encode() in one.text for one in found)
    assert not_read == []


@each_case("content", [b'{"cells": ', b'{"cells": 1}', b'{"cells": ' + b"[" * 100_000, b"{}", b"[]"])
def test_what_is_no_notebook_is_a_text(content: bytes) -> None:
    """It is searched as it stands."""
    found, not_read = read("a.ipynb", content)
    assert found[0].text == content
    assert not_read == []
