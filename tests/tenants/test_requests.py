"""What a direct request makes of the API's answer."""

from orrery.ports.delegated import ApiAnswer
from orrery.tenants.accounts import TrackAccount
from orrery.tenants.requests import Labelled
from tests.support.tables import each_case

ANN = TrackAccount("ann@corp.example", "A", "Corporate")


def test_when_a_request_went_well() -> None:
    """A redirection is not followed, so what was asked for did not come."""
    statuses = (200, 204, 302, 304, 400, 503)
    assert [one for one in statuses if Labelled(ANN, ApiAnswer(one, {}, b"")).is_success] == [200, 204]


@each_case(
    ("body", "content"),
    [
        (b'{"a": 1}', {"body": {"a": 1}}),
        (b"text", {"body": "text"}),
        (b"[" * 100_000, {"body": "[" * 100_000}),
        (b"[" * 300 + b"]" * 300, {"body": "[" * 300 + "]" * 300}),
        (b"\xff", {"base64": "/w=="}),
        (b"", {"body": ""}),
    ],
)
def test_an_answer_has_its_track(body: bytes, content: dict[str, object]) -> None:
    """Whatever came, it stands beside the track and the account."""
    document = Labelled(ANN, ApiAnswer(200, {"content-type": "text/plain"}, body)).document()
    about = {"track": "A", "account": "ann@corp.example", "status": 200, "media_type": "text/plain"}
    assert document == about | content
