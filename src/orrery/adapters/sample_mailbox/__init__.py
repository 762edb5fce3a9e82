"""A made-up mailbox: it needs no account and no network, and its drafts are files of this machine."""
