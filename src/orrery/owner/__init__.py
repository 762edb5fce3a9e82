"""What several domains need and no vendor gives: outbox, lease, heartbeat."""
