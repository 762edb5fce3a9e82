"""The documentation's links lead somewhere and its examples do what they show."""

from pathlib import Path

import pytest

from tests.docs.documents import ROOT, Example, anchors, broken_links, commands, documents, examples, run
from tests.support.tables import each_case

EXAMPLES = [example for page in documents() for example in examples(page)]


@each_case("page", documents())
def test_links_lead_somewhere(page: Path) -> None:
    """Every link of a page to a file or heading of this project exists."""
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.path.relative_to(ROOT)}:{each.line}")
def test_examples_do_what_they_show(example: Example, tmp_path: Path) -> None:
    """Every example that is marked to run succeeds and prints what it shows."""
    run(example, tmp_path)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A link to a missing file, a missing heading and a missing heading of the same page are found."""
    (tmp_path / "there.md").write_text("# A heading: here\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#a-heading-here) [b](gone.md) [c](there.md#gone) [d](#gone) [e](https://e.test/x)\n"
    )
    assert len(list(broken_links(page))) == 3


def test_links_inside_code_are_left_alone(tmp_path: Path) -> None:
    """What looks like a link or a heading inside a fenced block is neither."""
    page = tmp_path / "page.md"
    page.write_text("```python\n# no heading\nx = [a](gone.md)\n```\n")
    assert list(broken_links(page)) == []
    assert anchors(page) == set()


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("python", "assert 1 + 1 == 3"),
        ("console", "$ false"),
        ("console", "$ echo one\ntwo"),
        ("console", "$ true\n$ python -c 'import missing_module'"),
    ],
)
def test_an_example_that_does_not_hold_is_found(language: str, body: str, tmp_path: Path) -> None:
    """A failing example, a failing command and output that is not printed are found."""
    with pytest.raises(AssertionError):
        run(Example(tmp_path / "page.md", 1, language, body), tmp_path)


def test_only_marked_blocks_are_examples(tmp_path: Path) -> None:
    """A block runs only when its first line says so, and knows on which line it starts."""
    page = tmp_path / "page.md"
    page.write_text("```python\n1 / 0\n```\n\n```python run\nprint(1)\n```\n")
    assert list(examples(page)) == [Example(page, 5, "python", "print(1)\n")]


def test_a_console_example_is_commands_with_their_output() -> None:
    """A line after a dollar sign is a command; the lines after it are what it must print, `…` stands for more."""
    body = "$ one\nprinted\n…\n$ two\n"
    assert list(commands(body)) == [("one", ["printed"]), ("two", [])]
