"""Mail of a server that speaks IMAP: lists and reads it without a trace, makes drafts, cannot send (0070)."""
