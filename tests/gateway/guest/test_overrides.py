"""Which line of which file sets a setting last."""

from orrery.gateway.guest.overrides import assignments, last_assignment


def test_assignments_are_read_as_systemd_reads_them() -> None:
    """Comments are left out, a backslash continues a line, and each keeps the number of its first line."""
    text = "[Unit]\n# A=1\n; A=2\n A = 3 \nB=1 \\\n# between\n2\n[Service]\nA=\nno assignment\n"
    found = assignments([("/a", text), ("/gone", None)])
    assert [(one.line, one.section, one.key, one.value) for one in found] == [
        (4, "Unit", "A", "3"),
        (5, "Unit", "B", "1  2"),
        (9, "Service", "A", ""),
    ]


def test_the_last_file_counts() -> None:
    """The later file is the one that is named; another section does not count."""
    found = assignments([("/a", "[Unit]\nA=1\n"), ("/b", "[Unit]\nA=2\nA=3\n"), ("/c", "[Service]\nA=4\n")])
    last = last_assignment(found, {"Unit"}, {"A"})
    assert last is not None
    assert (last.place, last.value) == ("/b, line 3", "3")
