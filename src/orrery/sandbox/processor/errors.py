"""The processor's refusals, in the vendor's shape."""

from dataclasses import dataclass, field

from orrery.sandbox.state import Document

_DOCS = "https://docs.stripe.com/error-codes/"


@dataclass
class ApiError(ValueError):
    """A refusal: an HTTP status and the fields of the vendor's error object."""

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    stored: bool = True
    """Whether an idempotency key keeps this answer: validation failures are not kept."""
    extra: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.message

    def body(self, request_id: str, base_url: str) -> Document:
        error: Document = {"message": self.message, "type": self.type, **self.extra}
        error["request_log_url"] = f"{base_url}/#{request_id}"
        if self.code:
            error |= {"code": self.code, "doc_url": _DOCS + self.code.replace("_", "-")}
        if self.param:
            error["param"] = self.param
        return {"error": error}


def invalid(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """Return a 400 that validation found before anything was carried out."""
    return ApiError(400, message, code=code, param=param, stored=False)


def unknown_parameter(param: str) -> ApiError:
    """Return the refusal of a parameter that the operation does not have."""
    return invalid(f"Received unknown parameter: {param}", param, "parameter_unknown")


def missing_parameter(param: str) -> ApiError:
    """Return the refusal of a request without a required parameter."""
    return invalid(f"Missing required param: {param}.", param, "parameter_missing")


def no_such(kind: str, key: str, param: str, status: int = 404, hint: str = "") -> ApiError:
    """Return the refusal of an id that names nothing; `hint` goes on with the sentence."""
    return ApiError(status, f"No such {kind}: '{key}'{hint}", code="resource_missing", param=param, stored=False)


def unrecognized_url(method: str, path: str, more: str = "") -> ApiError:
    """Return the answer to a route that does not exist."""
    return ApiError(404, f"Unrecognized request URL ({method}: {path}).{more}", stored=False)
