"""What the cockpit lists and does, as ports: messages of mailboxes, drafts of replies, and tasks."""
