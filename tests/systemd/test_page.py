"""docs/how-to/install-the-gateway-guest.md, typed from top to bottom on a real systemd, without its drill."""

from collections.abc import Sequence

from tests.rehearsal.owner import Owner
from tests.rehearsal.page import Piece, Typed, pieces
from tests.rehearsal.typist import END, Answer, Typist
from tests.systemd.gateway import ORRERY, PUSHES, Gateway, Machine
from tests.systemd.host import ROOT

PAGE = ROOT / "docs/how-to/install-the-gateway-guest.md"

NOT_TYPED = ("sudo orrery gateway drill", "scp ")
"""A drill takes a minute and has its own tests; the bundle is installed where it was written."""

ANSWERS = {
    "sh -c 'umask 077; cat > /etc/gateway-guest/topic'": [Answer("the-topic"), Answer(END)],
    "sh -c 'umask 077; cat > /etc/gateway-guest/ping_token'": [Answer("the-token"), Answer(END)],
    "orrery gateway guest uninstall": [Answer("y", asked="[y/N]")],
    "sh recovery-gateway/install.sh": [
        Answer("the-topic", asked="The topic of pushes: "),
        Answer("the-token", asked="The token of pings: "),
    ],
}


def test_the_page_does_what_it_says(machine: Machine) -> None:
    """Every command works as it stands there, and shows what the page says; the bundle's guest recovers."""
    gateway = machine.gateway("gateway")
    machine.run(f"ln -s {ORRERY} /usr/local/bin/orrery")
    gateway.await_answer()
    with machine.host.terminal("root") as shown:
        typist = Typist(shown)
        owner = Owner(machine.host, typist, _own(gateway), ANSWERS, NOT_TYPED, {"orrery gateway guest plan": 1})
        owner.follow(_whole_commands(list(pieces(PAGE))))
    (pushed,) = [push.message for push in machine.pushes("") if "A test" in push.message]
    assert pushed == "A test from the gateway"
    gateway.systemctl("stop")
    gateway.await_answer()


def _own(gateway: Gateway) -> dict[str, str]:
    """Return what the owner has in place of the page's addresses, by the page's; they type as root."""
    return {
        "sudo ": "",
        "http://127.0.0.1:8443/healthz": gateway.address,
        "https://ntfy.example.org": PUSHES,
        "https://shop.example.org/ping": f"{PUSHES}/pings",  # which takes any request
    }


def _whole_commands(page: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with each command on one line, so that it has one exit status."""
    return [
        Typed(tuple("\n".join(piece.lines).replace("\\\n", " ").split("\n")))
        if isinstance(piece, Typed)
        else piece
        for piece in page
    ]
