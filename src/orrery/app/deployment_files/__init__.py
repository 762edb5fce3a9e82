"""The files of a deployment, by the same rules for every role: where they are, whose they may be, what is in them.

Nothing here imports pydantic-settings, and `places` and `variables` not even pydantic: a hook waits for neither.
"""
