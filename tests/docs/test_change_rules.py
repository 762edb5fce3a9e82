"""Change rule 5 stays written down where those who change the webhook look, and its vectors stay there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "checkout" / "vectors"
AT_LEAST = 36
"""So many vectors were frozen; more may stand beside them."""


def rule() -> str:
    """Return what the page of the change rules says of the webhook handler, on one line."""
    text = (ROOT / "docs/explanation/the-change-rules.md").read_text(encoding="utf-8")
    found = re.search(r"^### The webhook handler\n(.*?)^### ", text, re.DOTALL | re.MULTILINE)
    assert found, "the page says nothing of the webhook handler"
    return " ".join(found[1].split())


def test_the_rule_about_the_vectors() -> None:
    """Anyone who contributes reads that the vectors are never changed, and who is wrong when one fails."""
    assert "the-change-rules.md" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "change rule 5: never change `tests/checkout/vectors/*`" in rule()
    assert "the handler is wrong, not the vector" in rule()


def test_the_rule_about_a_new_event_type() -> None:
    """Anyone who adds an event type reads what to read whole first, and what such a change needs."""
    assert "A new event type needs `checkout/access/fulfilment.py` read whole first" in rule()
    for needed in ("orrery checkout preflight", "orrery checkout verify", "orrery doctor", "tests/guards"):
        assert needed in rule()


def test_the_vectors_are_there() -> None:
    """None of the vectors that were frozen has gone, neither as a file nor from the list of their sums."""
    names = {path.name for path in VECTORS.glob("*.json")}
    listed = {line.split()[1] for line in (VECTORS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    assert len(names) >= AT_LEAST
    assert names <= listed


def test_the_handler_names_the_rule() -> None:
    """Anyone who opens the webhook's module is told of the rule, too."""
    module = (ROOT / "src" / "orrery" / "checkout" / "access" / "fulfilment.py").read_text(encoding="utf-8")
    assert "Change rule 5: before another event type is added" in module
