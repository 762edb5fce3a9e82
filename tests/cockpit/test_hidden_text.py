"""What a sender's style hides is named with its size, and what only looks so in the source is shown."""

from orrery.cockpit.plain_text import SUSPECTED, plain_text
from orrery.cockpit.plain_text.hiding import LONGEST_PREHEADER
from orrery.ports.comms.mailboxes import MessageBody
from tests.support.tables import each_case

HIDES = {
    "display": "display:none",
    "in capitals": "DISPLAY : None !important",
    "behind a comment": "/* display:block */display:/**/none",
    "visibility": "visibility:hidden",
    "collapsed": "visibility: collapse",
    "no size": "font-size:0",
    "no size in pixels": "font-size: 0.0px",
    "one pixel": "font-size:1px",
    "no size in the short form": "font:0/0 a",
    "no opacity": "opacity:0",
    "no opacity in percent": "opacity: 0%",
    "white on white": "color:#fff",
    "white on white by name": "color:white",
    "white on white by numbers": "color: rgb(255, 255, 255)",
    "almost white": "color:#FDFDFD",
    "black on black": "color:black;background:#000",
    "one colour": "background-color:#123456;color:#123456",
    "transparent": "color:transparent",
    "beyond the left edge": "position:absolute;left:-9999px",
    "above the screen": "position: fixed; top: -10000px",
    "indented away": "text-indent:-9999px",
    "moved away": "margin-left:-5000px",
    "no height": "max-height:0;overflow:hidden",
    "no width": "width:0px; overflow:hidden",
    "clipped": "position:absolute;clip:rect(0 0 0 0)",
    "scaled away": "transform:scale(0)",
}

SHOWN = {
    "display": "display:block",
    "its last word": "display:none;display:block",
    "a name that contains it": "x-display:none",
    "a size": "font-size:11px",
    "a size in relation to none": "font-size:0.8em",
    "a size by name": "font-size:small",
    "some opacity": "opacity:0.4",
    "grey on white": "color:#999",
    "white on a colour": "color:#fff;background:#123",
    "white on a picture": "color:#fff;background:url(https://x.example/a.png)",
    "a little to the left": "position:absolute;left:-10px",
    "a far edge without a place": "left:-9999px",
    "no height that cuts nothing": "max-height:0",
    "an edge": "margin:0;padding:0;border:0;line-height:0",
}


def text_of(html: str) -> str:
    return plain_text(MessageBody("text/html", html))


@each_case("element", ["div", "p", "span", "font", "td"])
@each_case("name", HIDES)
def test_hidden(name: str, element: str) -> None:
    """Each way to hide is seen on blocks, in lines and in tables; what stands around it is shown."""
    hidden = f'<{element} style="{HIDES[name]}">three</{element}>'
    html = f"before {f'<table><tr>{hidden}</tr></table>' if element == 'td' else hidden} after"
    text = text_of(html)
    shown, _, named = text.partition("\n\n[")
    assert (" ".join(shown.split()), named) == (
        "before after",
        "Not shown: 5 characters that the sender's style hides.]",
    )


@each_case("name", SHOWN)
def test_shown(name: str) -> None:
    """A style that hides nothing leaves the text as it is."""
    assert text_of(f'<p>before <span style="{SHOWN[name]}">three</span> after</p>') == "before three after"


BY_COLOUR = {"white on white", "white on white by name", "white on white by numbers", "almost white"}


@each_case("name", sorted(HIDES.keys() - BY_COLOUR - {"black on black", "one colour"}))
def test_a_style_sheet(name: str) -> None:
    """What only a style sheet hides is shown, and named."""
    sheet = f"p {{color: red}} @media screen {{ .a, #b {{ {HIDES[name]} }} }}"
    assert text_of(f"<style>{sheet}</style><p class=a>Text.") == f"Text.\n\n{SUSPECTED}"


@each_case("name", SHOWN)
def test_a_style_sheet_that_hides_nothing(name: str) -> None:
    """Nearly every message has one."""
    assert text_of(f"<style>p {{ {SHOWN[name]} }} /* q {{display:none}} */</style><p>Text.") == "Text."


NESTED = {
    "a table of no size, as newsletters lay out": (
        '<table style="font-size:0"><tr><td style="font-size:0px"><div style="font-size:14px">a</div></table>b',
        "a\n\nb",
    ),
    "a size in relation to none stays none": (
        'b<div style="font-size:0"><p style="font-size:2em">a</div>',
        "b",
        1,
    ),
    "another style in what has no size": ('b<div style="font-size:0"><p style="color:#f00">a</div>', "b", 1),
    "seen inside of what is unseen": (
        'c<div style="visibility:hidden">a<p style="visibility:visible">b</div>',
        "c\n\nb",
        1,
    ),
    "nothing is seen inside of what is gone": (
        'c<div style="display:none">a<p style="display:block;visibility:visible">b</div>',
        "c",
        2,
    ),
    "a colour from outside": ('<div style="background:#222"><p style="color:#fff">a</p></div>', "a"),
    "a background from outside": ('b<td><div style="background:#222"><p style="color:#222">a</p></div>', "b", 1),
    "attributes of before": ('b<table bgcolor="#222222"><tr><td><font color="#222222">a</font></table>', "b", 1),
    "white where a style sheet may colour": ("<style>td{background:red}</style><p style='color:#fff'>a", "a"),
    "white where a picture may be": ('<body background="a.png"><p style="color:#fff">a', "a"),
    "a part of a line ends with its own end": (
        'x<p><span style="font-size:0">a<span>b</span>c</span>d <span>e</span></p>f',
        "x\n\nd e\n\nf",
        3,
    ),
    "a part of a line ends with its block": ('d<div><span style="color:#fff">a</div>b', "d\nb", 1),
    "an element without an end hides nothing": (
        '<input style="font-size:0">a<img style="opacity:0" alt=b>c',
        "ac",
    ),
    "formatting across paragraphs": ('d<font color="white"><p>a<p>b</font>c', "d\n\nc", 2),
}


@each_case("name", NESTED)
def test_nested(name: str) -> None:
    """What holds around an element holds in it, unless the element says otherwise."""
    html, shown, *hidden = NESTED[name]
    line = f"\n\n[Not shown: {_characters(*hidden)} that the sender's style hides.]" if hidden else ""
    assert text_of(html) == f"{shown}{line}"


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count} characters"


def test_a_preheader() -> None:
    """A hidden beginning is named quietly; one that is too long for that, or stands further down, is not."""
    quiet = "[The mail begins with a hidden preview of 11 characters, as newsletters do.]"
    hidden = '<div style="display:none;max-height:0">Save today!&zwnj;&nbsp;&#847;&nbsp;</div>'
    assert text_of(f"{hidden}<p>Dear Ann</p>") == f"Dear Ann\n\n{quiet}"
    assert "[Not shown: 11 characters" in text_of(f"<p>Dear Ann</p>{hidden}")
    assert "[Not shown: 11 characters" in text_of(hidden)
    long = "a" * (LONGEST_PREHEADER + 1)
    assert f"[Not shown: {LONGEST_PREHEADER + 1} characters" in text_of(f"<p hidden>{long}</p><p>Dear Ann</p>")


@each_case(
    "html",
    [
        '<span style="font-size:0">' * 25_000,
        f'<p style="{"a:b;" * 100_000}display:none">a',
        f'<p style="{"/*" * 125_000}">a',
        f'<p style="color:{"(" * 125_000}">a',
        '<p style="font-size:0">' * 25_000 + "a",
        '<div style="font-size:0"><b style="color:red">' * 40_000,
        f"<style>{'{top:1}' * 50_000}",
        f"<style>{'{' * 250_000}</style>",
    ],
)
def test_endless_styles(html: str) -> None:
    """Styles without an end are read in time, and end in a text."""
    assert text_of(f"<p>Hello</p>{html}").startswith("Hello")
