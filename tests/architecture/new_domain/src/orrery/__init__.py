"""The worked example of a domain, which `./run new domain` copies, and modules of other roles."""
