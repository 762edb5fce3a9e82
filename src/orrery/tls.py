"""Why no encrypted connection was made: a wrong certificate is no network trouble, and waiting does not end it."""

import ssl

from orrery.errors import words_if_any

_PASSING = (
    *(ssl.SSLEOFError, ssl.SSLSyscallError, ssl.SSLZeroReturnError),
    *(ssl.SSLWantReadError, ssl.SSLWantWriteError),
)
"""The connection was cut in the middle of TLS, or while more was waited for: the network's trouble."""

_NOT_YET_VALID = 9
_EXPIRED = 10
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
_OTHER_HOST = (62, 64)
"""OpenSSL's verification results (X509_V_ERR_*, x509_vfy.h)."""

_CERTIFICATES: dict[int, str] = {
    _NOT_YET_VALID: "is not valid yet: check this machine's clock.",
    _EXPIRED: "has expired: check this machine's clock; if it is right, it must be renewed.",
    **dict.fromkeys(
        _UNKNOWN_AUTHORITY,
        "comes from an unknown authority: check whether a proxy or firewall on the way opens the connection. "
        "An authority of your own or your company is named in the settings by tls.ca_file.",
    ),
    **dict.fromkeys(_OTHER_HOST, "names another host: check the address in the settings."),
}


WAITING_DOES_NOT_HELP = "Waiting does not end it: until then nothing is sent there."
"""The advice is in the sentence itself; the text beside it must not name network, key or address as the cause."""


def unreachable(who: str, error: BaseException) -> str:
    """Return a sentence why `who` cannot be reached, with advice when TLS is the reason."""
    return tls_trouble(who, error) or f"{who} cannot be reached: {_words(error)}."


def _words(error: BaseException) -> str:
    """Return the words of the innermost error that has some: a client's own class means nothing to the owner."""
    found = (words_if_any(one) for one in reversed(_causes(error)))
    return next((words for words in found if words), "the connection failed")


def tls_trouble(who: str, error: BaseException) -> str:
    """Return a sentence about the fault in the certificate of `who`, or nothing if TLS is not the reason.

    `error` may be that of any HTTP or mail client: its causes are searched for the TLS error.
    """
    found = _tls_errors(error)
    refused = next((one for one in found if isinstance(one, ssl.SSLCertVerificationError)), None)
    if refused is not None:
        otherwise = f"cannot be verified ({refused.verify_message})."
        return f"{who}'s certificate {_CERTIFICATES.get(refused.verify_code, otherwise)}"
    if found:
        reason = getattr(found[0], "reason", None) or type(found[0]).__name__
        return f"{who} does not speak TLS as expected ({reason}): check the address and the port in the settings."
    return ""


def advice(error: BaseException, otherwise: str) -> str:
    """Return what to add to the sentence of an error: `otherwise`, unless TLS is the reason."""
    return WAITING_DOES_NOT_HELP if _tls_errors(error) else otherwise


def _tls_errors(error: BaseException) -> list[ssl.SSLError]:
    return [one for one in _causes(error) if isinstance(one, ssl.SSLError) and not isinstance(one, _PASSING)]


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error, its causes, and what clients hide in `args` and `reason`."""
    found: list[BaseException] = [error]
    for one in found:
        inner = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        found += [other for other in inner if isinstance(other, BaseException) and other not in found]
    return found
