"""The documentation's links lead somewhere and its examples do what they show."""

from pathlib import Path

import pytest

from tests.docs.documents import ROOT, Example, broken_links, documents, examples, run
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
