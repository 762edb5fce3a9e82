"""Microsoft Graph, as far as the cockpit asks it for a signed-in person: mail, chats, meetings, tasks."""
