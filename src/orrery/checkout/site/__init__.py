"""What the sites that sell show and ask: the hosted pages, the cookie of a browser, and the access gate."""
