"""The chats that an account has from the start."""

from orrery.sandbox.graph import ids
from orrery.sandbox.graph.seed import PEOPLE
from orrery.sandbox.state import Document

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

Said = tuple[str | None, str, int]
"""Who wrote (None: the system), what, and how many seconds ago."""


def first_chats(account: str, opened: int) -> list[Document]:
    """Return the chats of a new account. A member from elsewhere has no address."""
    mira, tomas, ines, jonas, yuki = PEOPLE
    if account.endswith("lab.example"):
        build: list[Said] = [("Bench bot (app)", "<p>Run 13 has <b>failed</b>: see the log.</p>", 50 * _MINUTE)]
        return [
            _chat(
                account,
                opened,
                "oneOnOne",
                None,
                [yuki],
                [("Yuki Tanabe", "Can you look at run 13?", 40 * _MINUTE)],
            ),
            _chat(account, opened, "group", "Bench", [yuki, jonas], build),
        ]
    about_the_offer: list[Said] = [
        ("Mira Solberg", "The offer is in the folder.", 3 * _HOUR),
        ("Ines Okafor", '<p>Thanks. <at id="0">Ann</at>, will you answer them?</p>', 2 * _HOUR),
    ]
    call: list[Said] = [("Tomás Ortega", "I am five minutes late", 25 * _HOUR), (None, "", 24 * _HOUR)]
    lunch: list[Said] = [("Tomás Ortega", "<p>Is the <em>usual place</em> fine?</p>", 15 * _MINUTE)]
    return [
        _chat(account, opened, "oneOnOne", None, [tomas], lunch),
        _chat(account, opened, "group", "Museum offer", [mira, ines], about_the_offer),
        _chat(account, opened, "meeting", "Call with the museum", [mira, ("Guest of the museum", None)], call),
        _chat(account, opened, "oneOnOne", None, [jonas], []),
    ]


def _chat(
    account: str,
    opened: int,
    kind: str,
    topic: str | None,
    members: list[tuple[str, str]] | list[tuple[str, str] | tuple[str, None]],
    said: list[Said],
) -> Document:
    name = ids.guid(account, kind, topic, members)
    ending = {"oneOnOne": f"{ids.guid(account)}_{name}@unq.gbl.spaces", "meeting": f"meeting_{name}@thread.v2"}
    return {
        "id": f"19:{ending.get(kind, f'{name}@thread.v2')}",
        "type": kind,
        "topic": topic,
        "created": opened - 60 * _DAY,
        "members": [(account.partition("@")[0].title(), account), *members],
        "messages": [_said(one, opened) for one in said],
    }


def _said(said: Said, opened: int) -> Document:
    sender, text, ago = said
    at = opened - ago
    return {"id": str(at * 1000), "at": at, "from": sender, "text": text, "set": {}, "drop": []}
