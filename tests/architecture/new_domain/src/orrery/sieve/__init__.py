"""What a hook runs: a module of another role than the site."""
