"""Messages of a mailbox, as any client reads and changes them."""

import httpx2

from orrery.sandbox.identity.directory import TENANT_A
from tests.sandbox.graph.reading import DRAFTS, INBOX, listed, named, refused
from tests.support.graph import GraphBox


def test_a_reply_has_one_text(ann: httpx2.Client) -> None:
    """A comment together with a body is refused, and makes no draft."""
    path = f"/me/messages/{named(ann, 'Lunch?')['id']}/createReply"
    both = {"comment": "Yes", "message": {"body": {"contentType": "text", "content": "Yes"}}}
    drafts = listed(ann, DRAFTS)
    assert refused(ann.post(path, json=both)) == (400, "BadRequest")
    assert listed(ann, DRAFTS) == drafts


def test_a_draft_is_changed_and_found_again(ann: httpx2.Client) -> None:
    """By an extended property, which is shown where it is asked for only; its id is kept in lower case."""
    name = "String {66F5A359-4659-4830-9070-00047EC6AC6E} Name Orrery"
    draft = ann.post("/me/messages", json={"subject": "Offer", "toRecipients": []}).json()
    path = f"/me/messages/{draft['id']}"
    marked = {
        "toRecipients": [{"emailAddress": {"address": "mira@northwind.example"}}],
        "singleValueExtendedProperties": [{"id": name, "value": "key-1"}],
    }
    assert ann.patch(path, json=marked).is_success
    condition = f"singleValueExtendedProperties/Any(ep: ep/id eq '{name}' and ep/value eq 'key-1')"
    [found] = listed(ann, DRAFTS, filter=condition)
    assert (found["id"], "singleValueExtendedProperties" in found) == (draft["id"], False)
    assert found["toRecipients"][0]["emailAddress"]["address"] == "mira@northwind.example"
    expanded = ann.get(path, params={"$expand": f"singleValueExtendedProperties($filter=id eq '{name}')"}).json()
    shown = name.replace("66F5A359", "66f5a359").replace("00047EC6AC6E", "00047ec6ac6e")
    assert expanded["singleValueExtendedProperties"] == [{"id": shown, "value": "key-1"}]
    assert refused(ann.get(path, params={"$expand": "attachments"})) == (400, "RequestBroker--ParseUri")


def test_a_guest_has_no_mailbox(box: GraphBox) -> None:
    """Its mail, meetings and tasks are at home; it has no chats here."""
    with box.client("ann@lab.example", tenant=TENANT_A) as web:
        assert refused(web.get(INBOX)) == (404, "MailboxNotEnabledForRESTAPI")
        assert refused(web.get("/me/todo/lists")) == (404, "MailboxNotEnabledForRESTAPI")
        assert listed(web, "/me/chats") == []
