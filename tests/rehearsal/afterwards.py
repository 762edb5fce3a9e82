"""The pages that an owner comes back to after going live, typed on the machine that sells."""

import re
from dataclasses import replace
from pathlib import Path

from tests.docs.documents import LINK
from tests.rehearsal import vendors
from tests.rehearsal.going_live import PAGE, PASSWORD, GoingLive, pasted
from tests.rehearsal.page import Seen, Typed, pieces, section, steps
from tests.rehearsal.typist import Answer

HOW_TO = PAGE.parent
ROTATING, ADDING, GATEWAY = "rotate-a-secret.md", "change-the-checkout.md", "watch-the-gateway.md"
ELSEWHERE = {
    "set-up-by-hand.md": "tests/rehearsal/going_live.py",
    "approve-a-change.md": "tests/rehearsal/going_live.py",
    "from-one-machine-to-two.md": "tests/journeys/test_from_one_machine_to_two.py",
    "run-in-a-container.md": "tests/rehearsal/test_container.py",
    "upgrade-and-roll-back.md": "tests/rehearsal/going_live.py",
}
"""The pages that point into going live and are typed by another file."""

NOT_WHOLE = {
    "back-up-and-restore.md": "it is of several machines: tests/journeys/test_restore.py and others do it",
    "schedule-the-refresh.md": "its ways exclude each other: tests/journeys/test_schedules.py does each",
}
"""Those that no owner types from top to bottom, and what has their commands."""


def pointing_pages() -> list[Path]:
    """Return the pages with commands that point into going live."""
    found = [page for page in sorted(HOW_TO.glob("*.md")) if page != PAGE]
    return [page for page in found if _points(page) and any(isinstance(piece, Typed) for piece in pieces(page))]


def _points(page: Path) -> bool:
    links = LINK.finditer(page.read_text(encoding="utf-8"))
    return any(link["target"].partition("#")[0] == PAGE.name for link in links)


def come_back(shop: GoingLive, *, whole: bool) -> None:
    """Rotate the processor's key; in the `whole`, do what each page asks for. Then sell."""
    move_the_private_listener(shop)
    hold_from_elsewhere(shop)
    rotate(shop, "processor_api_key", vendors.next_restricted("live"))
    if whole:
        both = (
            f"{shop.host.run('cat /etc/orrery/secrets/webhook_signing_secret').strip()}\n{shop.endpoint('live')}"
        )
        rotate(shop, "webhook_signing_secret", both)
        rotate(shop, "access_service_token", "of-the-practice-sites-next-year")
        add_a_product(shop)
        expect_pings(shop)
    shop.buy("live", "of.the.new.key")


def set_up_again(shop: GoingLive) -> None:
    """Type setup where nothing is left: the service goes on, and nothing is to be signed."""
    process = shop.host.run("systemctl show --property=MainPID orrery")
    shop.owner(shop.root).follow([Typed(("orrery setup",)), Seen(("ALL GREEN",))])
    assert "Sign that" not in shop.root.shown
    assert shop.host.run("systemctl show --property=MainPID orrery") == process


def move_the_private_listener(shop: GoingLive) -> None:
    """Change its port, and have the service take that as it takes a secret."""
    owner = shop.owner(shop.root)
    owner.edit("[server]\nprivate_port = 8082\n")
    owner.follow([Typed(("orrery secrets reload",)), Seen(("Taken: the settings, which differ",))])


def hold_from_elsewhere(shop: GoingLive) -> None:
    """Have the unit give the service a token of its own: a reload does not pretend that the file's was taken."""
    drop_in = "/etc/systemd/system/orrery.service.d/elsewhere.conf"
    shop.host.run(
        f"mkdir -p {Path(drop_in).parent}; cat >{drop_in} <<'END'\n{_ELSEWHERE}END\nsystemctl daemon-reload"
    )
    owner = shop.owner(shop.root)
    owner.ends = {"orrery secrets reload": 1}
    file = "/etc/orrery/secrets/access_service_token"
    before = shop.host.run(f"cat {file}").strip()
    shop.host.run("sudo -u orrery orrery secrets announce access_service_token --reason 'a new one'")
    shop.host.write(file, "of-the-file-and-of-nothing-else\n")
    owner.follow([Typed(("orrery secrets reload",)), Seen(("does not hold what is there: access_service_token",))])
    shop.host.run(f"rm {drop_in}; systemctl daemon-reload")
    shop.host.write(file, f"{before}\n")
    owner.ends = {}
    owner.follow([Typed(("orrery secrets reload",)), Seen(("Taken: access_service_token.",))])


_ELSEWHERE = """\
[Service]
Environment=ORRERY_ACCESS_SERVICE_TOKEN=of-the-unit-and-of-no-file
"""


def rotate(shop: GoingLive, name: str, value: str) -> None:
    """Do what the page does, with one secret."""
    owner = shop.owner(shop.root)
    owner.values = {"processor_api_key": name}
    owner.answers = {"install -m 0640": pasted(value)}
    page = steps(HOW_TO / ROTATING)[""]
    own = [
        replace(one, texts=tuple(text.replace("processor_api_key", name) for text in one.texts))
        if isinstance(one, Seen)
        else one
        for one in page
    ]
    owner.follow(own)


def expect_pings(shop: GoingLive) -> None:
    """Do what the page does; without a first count, `doctor` would find one that is missing."""
    owner = shop.owner(shop.root)
    owner.answers = {"sudo -u orrery orrery live refresh": (Answer(PASSWORD, "assword"),)}
    owner.follow([Typed(("sudo -u orrery orrery live refresh",))])
    owner.follow(section(HOW_TO / GATEWAY, "Expect pings"))


def add_a_product(shop: GoingLive) -> None:
    """Do what the page does: it is not sold before the owner has signed its trial."""
    setting, first, waits, *rest = section(HOW_TO / ADDING, "A new product")
    owner = shop.owner(shop.root)
    owner.values = {"price_…": vendors.second_price("live")}
    owner.ends = dict.fromkeys(("sudo -u orrery orrery config", "sudo -u orrery orrery checkout"), 1)
    owner.follow([setting, first, waits])
    owner.ends = {}
    intent = re.search(r"orrery approvals sign (in-\w+)", shop.root.shown)
    assert intent
    shop.sign(intent[1])
    owner.follow(rest)
