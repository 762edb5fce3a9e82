"""Mail of an IMAP server: lists and reads it without a trace, makes drafts, cannot send (0070)."""
