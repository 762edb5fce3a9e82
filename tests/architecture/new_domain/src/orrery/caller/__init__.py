"""What runs on a guest machine: a module of another role than the site."""
