"""What headers say of mailing lists and machines."""

from orrery.syntax.bulk_mail import is_bulk, lists_of
from tests.support.tables import each_case


@each_case(
    ("headers", "bulk"),
    [
        ({}, False),
        ({"list-id": "<course.lab.example>"}, True),
        ({"list-unsubscribe": "<https://list.example/leave>"}, True),
        ({"list-post": "<mailto:all@lab.example>"}, False),
        ({"precedence": "Bulk"}, True),
        ({"precedence": " list "}, True),
        ({"precedence": "junk"}, True),
        ({"precedence": "first-class"}, False),
        ({"auto-submitted": "auto-generated"}, True),
        ({"auto-submitted": "Auto-Replied; owner-email=ann@lab.example"}, True),
        ({"auto-submitted": "no"}, False),
        ({"auto-submitted": "No; because"}, False),
        ({"auto-submitted": ""}, False),
        ({"subject": "bulk"}, False),
        ({"precedence": "x" * 100_000}, False),
    ],
)
def test_what_is_bulk(headers: dict[str, str], bulk: bool) -> None:  # noqa: FBT001  a column of the table
    """Lists by RFC 2919 and 2369, machines by RFC 3834, and what is older than these."""
    assert is_bulk(headers) is bulk


@each_case(
    ("name", "post", "lists"),
    [
        ("", "", ()),
        ("The course <Course.Lab.example>", "", ("course.lab.example",)),
        ("<a.lab.example>", "<mailto:A@lab.example?subject=x>", ("a.lab.example", "a@lab.example")),
        ("bare.lab.example", "", ("bare.lab.example",)),
        ("", "NO (posting not allowed)", ()),
        ('"quoted <not this>" <this.lab.example>', "", ("this.lab.example",)),
        ("<" * 100_000, "<mailto:" * 100_000, ("<" * 1000,)),
    ],
)
def test_which_lists(name: str, post: str, lists: tuple[str, ...]) -> None:
    """The id of a list, and the address to which one writes; hostile ones take no time."""
    assert lists_of({"list-id": name, "list-post": post}) == lists
