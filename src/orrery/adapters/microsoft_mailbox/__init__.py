"""The mail, chats and meetings of one account at Microsoft Graph, delegated; it has no call that sends."""
