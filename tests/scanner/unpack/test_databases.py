"""A value in a file of SQLite is found whole, however long it is, and wherever the library leaves it."""

import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scanner.unpack.carriers import WORD, chunk, png, zipped
from tests.scanner.unpack.reading import read

PAGE = 512
OVERWRITTEN = 2
"""Names of which the library writes over some letters when it deletes them all."""

_NAME = WORD.encode()


def _planted() -> Iterator[tuple[str, str]]:
    """Yield values that stay in a page, go over to one, and to several, with a name at each of their places."""
    for size in (PAGE - 100, PAGE + 100, 4 * PAGE):
        for place in range(0, size - 30, 11):
            name = f" {WORD}{size}a{place} "
            yield name, "x" * place + name + "y" * (size - place - len(name))


def _written(path: Path, *statements: str, encoding: str = "UTF-8") -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for one in (
        f"PRAGMA page_size={PAGE}",
        f"PRAGMA encoding='{encoding}'",
        "PRAGMA secure_delete=OFF",
        "PRAGMA synchronous=OFF",
    ):
        _ = connection.execute(one)
    _ = connection.execute("CREATE TABLE a (b, c, d)")
    for one in statements:
        _ = connection.execute(one)
    return connection


def _filled(connection: sqlite3.Connection, made: type[bytes] | type[str]) -> None:
    _ = connection.execute("BEGIN")
    for number, (_, text) in enumerate(_planted()):
        rows = (number, text.encode() if made is bytes else text, "behind")
        _ = connection.execute("INSERT INTO a VALUES (?, ?, ?)", rows)
    _ = connection.execute("COMMIT")


def _missed(path: Path) -> list[str]:
    found, not_read = read(path.name, path.read_bytes())
    assert not_read == []
    whole = b"\n".join(one.text for one in found)
    return [name for name, _ in _planted() if name.encode() not in whole]


@pytest.mark.parametrize("made", [bytes, str])
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_a_value_of_any_length_is_found(tmp_path: Path, encoding: str, made: type[bytes] | type[str]) -> None:
    """A text or a blob, in the page, in one that it goes over to, and cut between any two."""
    connection = _written(tmp_path / "a.db", encoding=encoding)
    _filled(connection, made)
    connection.close()
    assert _missed(tmp_path / "a.db") == []


@pytest.mark.parametrize("statement", ["CREATE INDEX i ON a (c)", "CREATE TABLE e (c PRIMARY KEY) WITHOUT ROWID"])
def test_a_value_in_an_index_is_found(tmp_path: Path, statement: str) -> None:
    """Also when it is gone from the table."""
    connection = _written(tmp_path / "a.db", statement)
    _filled(connection, str)
    if "WITHOUT" in statement:
        _ = connection.execute("INSERT INTO e SELECT c FROM a")
        _ = connection.execute("DROP TABLE a")
    connection.close()
    assert _missed(tmp_path / "a.db") == []


def test_a_value_in_the_log_is_found(tmp_path: Path) -> None:
    """The log alone holds what was written last."""
    connection = _written(tmp_path / "a.db", "PRAGMA journal_mode=WAL")
    _filled(connection, bytes)
    assert _missed(tmp_path / "a.db-wal") == []
    connection.close()


@pytest.mark.parametrize("is_done", [False, True])
def test_a_value_in_the_journal_is_found(tmp_path: Path, is_done: bool) -> None:  # noqa: FBT001  pytest's way
    """It holds the pages from before a change, also when that is done and its header is zeroed."""
    connection = _written(tmp_path / "a.db", "PRAGMA journal_mode=PERSIST")
    _filled(connection, bytes)
    _ = connection.execute("PRAGMA cache_size=1")
    _ = connection.execute("BEGIN")
    _ = connection.execute("UPDATE a SET c = zeroblob(length(c))")
    if is_done:
        _ = connection.execute("COMMIT")
    journal = (tmp_path / "a.db-journal").read_bytes()
    assert journal[:1] == (b"\0" if is_done else b"\xd9")
    assert _missed(tmp_path / "a.db-journal") == []
    connection.close()


@pytest.mark.parametrize("statement", ["DROP TABLE a", "DELETE FROM a", "DELETE FROM a WHERE b >= 0"])
def test_a_deleted_value_is_found(tmp_path: Path, statement: str) -> None:
    """Its pages are on the list of free ones, or its room in a page is free; a list writes over some."""
    connection = _written(tmp_path / "a.db")
    _filled(connection, bytes)
    _ = connection.execute(statement)
    connection.close()
    content = (tmp_path / "a.db").read_bytes()
    missed = _missed(tmp_path / "a.db")
    assert len(missed) <= OVERWRITTEN
    assert [name for name in missed if name[8:].encode() in content] == []


FILES = {
    "zip": zipped({"a.txt": _NAME}),
    "zlib": zlib.compress(b"see " + _NAME),
    "picture": png(chunk(b"zTXt", b"k\0\0" + zlib.compress(_NAME))),
    "page": b"<p>Quill<b>feather</b></p>",
    "wide": f"one {WORD} two".encode("utf-16-le"),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("before", [0, 1000])
def test_a_file_in_a_value_is_read(tmp_path: Path, kind: str, before: int) -> None:
    """As one that lies in an archive."""
    connection = _written(tmp_path / "a.db")
    _ = connection.execute("INSERT INTO a VALUES (?, ?, ?)", ("y" * before, FILES[kind], "behind"))
    connection.close()
    found, not_read = read("a.db", (tmp_path / "a.db").read_bytes())
    assert any(_NAME in one.text for one in found)
    assert not_read == []


def test_a_damaged_database_is_searched(tmp_path: Path) -> None:
    """Whatever its pages say: a page that leads to itself, too."""
    connection = _written(tmp_path / "a.db")
    _ = connection.execute("INSERT INTO a VALUES ('x', ?, zeroblob(2000))", (WORD * 99,))
    connection.close()
    whole = (tmp_path / "a.db").read_bytes()
    for place in range(0, len(whole), 53):
        damaged = whole[:place] + b"\0\0\0\2\xff\xff" + whole[place + 6 :]
        found, _ = read("a.db", damaged[: len(damaged) - place % 3 * 100] + b"\n" + _NAME)
        assert any(_NAME in one.text for one in found)
