"""The settings of a deployment, by one reader for every role: where they are, whose they may be, what is in them.

`places`, `ownership` and `variables` import no pydantic: a hook without settings waits for none.
"""
