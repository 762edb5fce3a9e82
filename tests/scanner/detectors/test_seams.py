"""What is one text for a reader is one for the search: each way of cutting a name, at each of its letters."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Policy, Term
from tests.support.tables import each_case

NAME = "Northwind"
TERMS = (Term("customer", NAME), Term("customer", "Quasar Net"), Term("domain", "quasarnet.example"))
DETECTOR = detectors(Policy(terms=tuple(TERMS)))[0]

MARKS = ("*", "**", "***", "__", "~", "~~", "`", "``", "^", "==", "++", "||", "*__", "**_", "~~**", "_**", "**`")
EMPHASIS = {
    f"{one} on its {side}": form
    for one in MARKS
    for side, form in (
        ("first half", one + "{0}" + one[::-1] + "{1}"),
        ("second half", "{0}" + one + "{1}" + one[::-1]),
    )
}
LINKS = {
    "inline": "[{0}](https://example.com/x)",
    "title": '[{0}](x "a title")',
    "angle": "[{0}](<x>)",
    "parentheses": "[{0}](x_(y))",
    "picture": "![{0}](x.png)",
    "strong": "[**{0}**](x)",
    "within strong": "**[{0}](x)**",
    "picture in a link": "[![{0}](a)](b)",
    "named": "[{0}][1]",
    "collapsed": "[{0}][]",
    "shortcut": "[{0}]",
}
END = "\n\n[1]: https://example.com\n"
LINKED = {
    f"{name}, {side}": form + END
    for name, link in LINKS.items()
    for side, form in (
        ("first half", link + "{1}"),
        ("second half", "{0}" + link.replace("{0}", "{1}")),
    )
} | {"two links": "[{0}](x)[{1}](y)", "footnote": "{0}[^1]{1}"}
LITERALS = {
    "python": '"{0}" "{1}"',
    "python over lines": '("{0}"\n    "{1}")',
    "python with a prefix": "rb'{0}' rb'{1}'",
    "python with a comment": '"{0}"  # why\n    f"{1}"',
    "python in triple quotes": '"""{0}""" """{1}"""',
    "python with a prefix at once": "'{0}'f'{1}'",
    "python with two prefixes at once": "'{0}'Rb\"{1}\"",
    "python with plus": "'{0}' + '{1}'",
    "python continued": '"{0}" \\\n    "{1}"',
    "javascript": "'{0}' +\n  '{1}'",
    "javascript templates": "`{0}` + `{1}`",
    "javascript method": '"{0}".concat("{1}")',
    "c": 'L"{0}" L"{1}"',
    "c over lines": '"{0}" /* a */\n  u8"{1}" // b',
    "c in a string": '"{0}\\\n{1}"',
    "java": '"{0}"\n    + "{1}"',
    "php": "'{0}' . '{1}'",
    "lua": "'{0}' .. '{1}'",
    "visual basic": '"{0}" & _\n    "{1}"',
    "sql": "'{0}' || '{1}'",
    "haskell": '"{0}" ++ "{1}"',
    "elixir": '"{0}" <> "{1}"',
    "ocaml": '"{0}" ^ "{1}"',
    "shell": "'{0}'\"{1}\"",
    "shell, half quoted": '{0}"{1}"',
    "shell, half in single quotes": "{0}'{1}'",
    "shell, quoted first": '"{0}"{1}',
    "shell continued": "{0}\\\n{1}",
    "powershell continued": "{0}`\r\n  {1}",
    "an empty one between": '"{0}" "" "{1}"',
}
HYPHENS = {
    f"{name} {begin!r}": "{0}" + hyphen + begin + "{1}"
    for name, hyphen in {"hyphen": "-", "soft": "\u00ad", "unicode": "\u2010", "entity": "&shy;"}.items()
    for begin in ("\n", "\r\n", " \n    ", "\n// ", "\n# ", "\n> ", "\n * ")
}
BROKEN = {
    "<br>": "{0}<br>{1}",
    "<br/>": "{0}<br/>{1}",
    "spaces": "{0}  \n{1}",
    "backslash": "{0}\\\n{1}",
    "bold": "**{0}** {1}",
    "both bold": "***{0}*** ***{1}***",
    "link": "[{0}](x) {1}",
    "second link": "{0} [{1}](x)",
    "literals": '"{0}" " {1}"',
    "escaped": "{0}\\_{1}",
    "code": "`{0}` {1}",
}
WAYS = EMPHASIS | LINKED | LITERALS | HYPHENS


def _found(text: str) -> set[tuple[str, int]]:
    """Return what is found, with its line."""
    octets = text.encode()
    return {(one.value, octets.count(b"\n", 0, one.start)) for one in DETECTOR.matches(octets, None)}


@each_case("way", WAYS)
def test_a_cut_name_is_found(way: str) -> None:
    """Wherever it is cut: alone, in a line, and behind a long one; and its line is right."""
    for place, around in itertools.product(range(1, len(NAME)), ("{}", "\n\nsee {} now\n", "x" * 999 + " {}, ")):
        if (way, place) != ("shell, quoted first", 1):  # which is how a literal with a prefix begins
            text = around.format(WAYS[way].format(NAME[:place], NAME[place:]))
            assert (NAME.lower(), around.count("\n", 0, 2)) in _found(text), (place, text)


@each_case("way", BROKEN)
def test_a_name_of_two_words_is_found(way: str) -> None:
    """What stands between its words is what a reader sees as the space there."""
    assert ("quasar net", 1) in _found("\n" + BROKEN[way].format("Quasar", "Net"))


@each_case("way", EMPHASIS)
def test_a_domain_is_found(way: str) -> None:
    """Also when a label of it alone is marked."""
    for one in (EMPHASIS[way].format("quasar", "net") + ".example", EMPHASIS[way].format("quasarnet.", "example")):
        assert ("quasarnet.example", 0) in _found(f"see {one}/x")


NEAR = (
    "North**wind**ow",
    "xnorth**wind**",
    '"North", "wind"',
    '["North"]["wind"]',
    "North\nwind",
    '"North": "wind"',
    "[North](x), [wind](y)",
    "North|wind",
    "**North** or **wind**",
    '"North" if x else "wind"',
    "zzz" * 90 + "North**wind**",
    "xquasar**net**.example",
    '"Quasar"\n\n\n\n\n\n"Netz"',
)


@each_case("text", NEAR)
def test_what_only_stands_near_is_no_name(text: str) -> None:
    """A longer word without its marks, a list of words, a word of each of two cells."""
    assert _found(text) == set()


@given(
    st.lists(
        st.sampled_from([NAME, "see ", "é", "\n", "x" * 200, *"*_`[]()\"'-+ab<&", "\\\n", "-\n"]), max_size=40
    )
)
def test_a_name_is_found_whatever_stands_around_it(parts: list[str]) -> None:
    """Whatever stands around it, a name that stands whole, in a line of its own, is found there."""
    assert (NAME.lower(), len(parts) and "".join(parts).count("\n") + 1) in _found(
        "".join(parts) + f"\n{NAME}\n"
    ) or not parts
