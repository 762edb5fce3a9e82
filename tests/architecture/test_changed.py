"""Which tests and types are looked at after which change."""

from tests.support.tables import each_case
from tools.changed import picked

TESTS = {
    "tests/live/test_reads.py": "from orrery.live import keys\n",
    "tests/live/cli/test_refresh.py": "def test_x():\n    import orrery.live.refresh\n",
    "tests/journeys/test_monitor.py": "import orrery.live.monitor\nimport tests.support.shop\n",
    "tests/support/shop.py": "import orrery.live.keys\nimport tests.support.prices\n",
    "tests/live/test_visit.py": 'VISIT = Path(__file__).with_name("visit.py")\n',
    "tests/live/visit.py": "import tests.support.prices\n",
    "tests/cockpit/conftest.py": "from tests.support.desk import Desk\n",
    "tests/architecture/test_records.py": 'SHAPES = "record_shapes.json"\n',
}
HELPED = {"tests/support/shop.py", "tests/live/visit.py", "tests/live/test_visit.py"}
ALL = {"tests/architecture/test_house_rules.py", "tests/docs/test_glossary.py"}


@each_case(
    ("changed", "tests"),
    [
        ("src/orrery/live/keys.py", {"tests/live", "tests/live/test_reads.py", "tests/support/shop.py", *ALL}),
        ("src/orrery/live/cli/refresh.py", {"tests/live/cli", *ALL}),
        ("src/orrery/live/refresh.py", {"tests/live", "tests/live/cli/test_refresh.py", *ALL}),
        ("src/orrery/live/web/pill.js", {"tests/live"}),
        ("src/orrery/trust.py", ALL),
        ("tests/support/shop.py", {"tests/journeys/test_monitor.py", *ALL}),
        ("tests/support/prices.py", {*HELPED, "tests/journeys/test_monitor.py", *ALL}),
        ("tests/support/desk.py", {"tests/cockpit/conftest.py", "tests/cockpit", *ALL}),
        ("tests/live/test_reads.py", {"tests/live/test_reads.py", *ALL}),
        ("tests/architecture/record_shapes.json", {"tests/architecture/test_records.py"}),
        ("docs/how-to/go-live.md", {"tests/docs"}),
        ("run", {"tests/architecture/test_run_script.py"}),
        ("LICENSE", set[str]()),
    ],
)
def test_what_is_picked(changed: str, tests: set[str]) -> None:
    """What mirrors it, imports it or names it, and after code what looks at all code."""
    assert {test for test, _ in picked([changed], TESTS)} == tests
