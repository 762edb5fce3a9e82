"""PostgreSQL's errors as sentences, with what the owner can do; none has a value or a password in it."""

import psycopg

from orrery.errors import OutcomeUnknown, StoreUnavailable

_REACH = "cannot be reached, or only as a standby: see that its primary runs, and that its address is right"
_LOGIN = "refused the login: see the user in the address, and the secret `store_password`"
_NO_DATABASE = "is not there: make it with `createdb`, or correct the address"
_READ_ONLY = "takes no commits, because its server became a standby: the new primary is looked for"
_DENIED = "refused: the user in the address may not write the store's tables"
_FULL = "could not grow, because its disk is full: make room, then try again"
_BUSY = "was locked by another transaction for too long: see who holds it with `pg_stat_activity`"
_SHUTDOWN = "is shutting down or starting: try again when it is up"
_CROWDED = "has no room for another connection: raise `max_connections`, or see who holds them"
_FOREIGN = "has tables that are not this release's store"

_WORDS = {
    "no password supplied": "wants a password: store it as the secret `store_password`",
    "password authentication failed": _LOGIN,
    "FATAL:  role ": _LOGIN,
    "FATAL:  database ": _NO_DATABASE,
    "pg_hba.conf": "admits no such login from this machine: add a line to its pg_hba.conf, and reload it",
    "FATAL:  too many connections": _CROWDED,
    "FATAL:  the database system is": _SHUTDOWN,
    "session is read-only": "is only a standby: see that its primary runs, and that the address names it",
    "Connection refused": "does not listen at the address: start it, or correct the address",
    "failed to resolve host": "is at a host whose name is not known: correct the address, or see the name server",
    "timeout expired": "does not answer: see that its machine and the network between are up",
    "certificate": "shows a certificate that is not trusted: see `ca_file`, and the host in the address",
    "does not support SSL": "offers no TLS: set `ssl = on` and a certificate in its postgresql.conf",
    "definition of service": "was not looked for, because `PGSERVICE` is set and names nothing: unset it",
}
"""Sentences by the words about a connection that failed: the client library gives no other mark of the reason.

Its own words are English, since nothing here sets another locale. The server's are in the language of its
`lc_messages`: those that are not known here are passed on.
"""

_SENTENCES = {
    "28": _LOGIN,
    "3D": _NO_DATABASE,
    "25006": _READ_ONLY,
    "42501": _DENIED,
    "53100": _FULL,
    "53300": _CROWDED,
    "55P03": _BUSY,
    "25P03": _BUSY,
    "57P": _SHUTDOWN,
    "42": _FOREIGN,
}
"""Sentences by the beginning of an SQLSTATE (PostgreSQL's appendix A); the longest that fits counts."""

_REPEATABLE = {"40001", "40P01", "22012"}
"""The last is `statements.TURN`'s: the connection for the repeat learns what became of the store."""

_OF_ONE = ("22", "23", "42", "54")
"""Classes of errors that one commit of a group has brought about: its data, and its size."""


def unavailable(error: Exception) -> StoreUnavailable:
    """Return the error that nothing was stored."""
    if isinstance(error, StoreUnavailable):
        return error
    state = _state(error)
    fitting = [beginning for beginning in _SENTENCES if state.startswith(beginning)]
    if not state:
        return StoreUnavailable(f"The store's database {_unreached(error)}.")
    what = _SENTENCES[max(fitting, key=len)] if fitting else "could not be used"
    return StoreUnavailable(f"The store's database {what} ({state}).")


def lost(error: Exception, commit_id: str) -> OutcomeUnknown:
    """Return the error that a commit may or may not be stored."""
    sentence = "Whether the newest commits are stored is not known: repeat them with the same ids to learn"
    return OutcomeUnknown(f"{unavailable(error)} {sentence}.", commit_id)


def is_repeatable(error: Exception) -> bool:
    """Return whether the server undid the transaction, and it may be sent again over a new connection."""
    return _state(error) in _REPEATABLE


def is_of_server(error: Exception) -> bool:
    """Return whether a server was reached and gave its reason, or was given one by us."""
    return bool(_state(error)) or not isinstance(error, psycopg.Error)


def nothing_is_stored(error: Exception) -> bool:
    """Return whether the server itself refused the statement: an error of a line that broke settles nothing."""
    state = _state(error)
    return bool(state) and not state.startswith(("08", "57P", "40003"))


def is_of_one_request(error: Exception) -> bool:
    """Return whether the others of a group may go through without the one that was refused."""
    return _state(error).startswith(_OF_ONE) or not isinstance(error, (psycopg.Error, StoreUnavailable))


def _unreached(error: Exception) -> str:
    words = str(error).strip() if isinstance(error, psycopg.OperationalError) else ""
    if known := next((sentence for beginning, sentence in _WORDS.items() if beginning in words), None):
        return known
    first = words.partition("\n")[0].strip().rstrip(".")
    if reason := first.partition(":  ")[2]:  # the server's, after its word for FATAL
        return f"refused the connection: {reason}"
    return f"{_REACH} ({first})" if first else _REACH


def _state(error: Exception) -> str:
    return (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""
