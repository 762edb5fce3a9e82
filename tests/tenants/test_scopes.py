"""Which permissions a token may have (decision 36)."""

import json
from pathlib import Path
from typing import Any

import pytest

from orrery.tenants.scopes import not_allowed
from tests.support.tables import each_case

PERMISSIONS = Path(__file__).resolve().parents[3] / "shared" / "contracts" / "mail.permissions.json"

SENDING = (
    "POST /chats/{id}/messages",
    "POST /me/messages/{id}/reply",
    "POST /me/messages/{id}/send",
    "POST /me/sendmail",
)


@pytest.mark.skipif(not PERMISSIONS.exists(), reason="the vendor's contracts are not beside this checkout")
@pytest.mark.parametrize("operation", SENDING)
def test_every_permission_that_sends_is_refused(operation: str) -> None:
    """Each permission with which the vendor lets mail or a chat message be sent is refused."""
    found: dict[str, Any] = json.loads(PERMISSIONS.read_text())
    scopes = [one.rstrip("*") for one in found[operation]["DelegatedWork"]]
    assert scopes
    assert not_allowed(scopes) == sorted(scopes)


@each_case(
    "scope",
    [
        *("Mail.Send", "Mail.Send.Shared", "SMTP.Send", "ChatMessage.Send", "ChannelMessage.Send"),
        *("Chat.ReadWrite", "Chat.ReadWrite.All", "Group.ReadWrite.All", "Calendars.ReadWrite"),
        *("MailboxSettings.ReadWrite", "Files.ReadWrite", "Sites.ReadWrite.All", "Directory.AccessAsUser.All"),
        *("EWS.AccessAsUser.All", "full_access_as_user", ".default", "https://graph.microsoft.com/Mail.Send"),
        *("Mail.ReadWrite.All", "Mail.Read.Send", "Unheard.Of", "User.ReadX", "mail.send"),
    ],
)
def test_what_sends_shares_or_is_not_known(scope: str) -> None:
    """Unknown ones count as such: a permission is refused until somebody knows that it only reads."""
    assert not_allowed(["User.Read", scope]) == [scope.removeprefix("https://graph.microsoft.com/")]


@each_case(
    "scope",
    [
        *("openid", "profile", "email", "offline_access", "User.Read", "Mail.ReadBasic", "Mail.Read"),
        *("Mail.Read.Shared", "Mail.ReadWrite", "Chat.Read", "Chat.ReadBasic", "Calendars.ReadBasic"),
        *("Tasks.ReadWrite", "User.Read.All", "https://graph.microsoft.com/Mail.Read"),
    ],
)
def test_what_reads_and_what_keeps_drafts(scope: str) -> None:
    """Reading, drafts and tasks are allowed."""
    assert not_allowed([scope]) == []


def test_a_permission_of_another_api_is_not_known() -> None:
    """Only the vendor's own names are known: another API may mean something else by the same word."""
    elsewhere = "https://elsewhere.example/Mail.Read"
    assert not_allowed([elsewhere]) == [elsewhere]
