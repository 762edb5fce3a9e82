"""The one place where errors become responses (decision 3)."""

import json
from typing import ClassVar

import pytest
from starlette.exceptions import HTTPException

from orrery import errors
from orrery.checkout.errors import EventIdReused, KeyReused, NotPreflighted, SessionMismatch, UnknownProduct
from orrery.cockpit.errors import NotARow, NotInLedger, NotReplyable, WrongDay
from orrery.edge.problem import Problem
from orrery.edge.problems import problem_of, response_of
from orrery.gateway.cloud.provision import CloudNotReady
from orrery.gateway.guest.errors import GuestFailed, OptionsUnreadable
from orrery.ports.analytics import AnalyticsFailed
from orrery.ports.cloud.errors import CloudError, CloudRefused, CloudUnreachable
from orrery.ports.comms.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.delegated import ApiUnreachable
from orrery.ports.domain_records import RecordsNotRead
from orrery.ports.identity import IdentityError, IdentityRefused, IdentityUnreachable
from orrery.ports.notifier import DeliveryFailed
from orrery.ports.private_file import SignInFileUnusable
from orrery.ports.processor.errors import ItemUnreadable, ProcessorError, ProcessorRefused, ProcessorUnreachable
from orrery.ports.publications import PublicationRefused
from orrery.ports.tracker import TrackerFailed
from orrery.ports.web_sites import SiteNotReached
from orrery.tenants.errors import SignInRefused
from tests.support.errors import kinds_of_errors
from tests.support.tables import each_case

INSIDE = "internal: disk sda1"

TABLE: list[tuple[errors.OrreryError, int, str]] = [
    (errors.Invalid("A sentence."), 400, "invalid-request"),
    (errors.NotFound("A sentence."), 404, "not-found"),
    (UnknownProduct("A sentence."), 404, "unknown-product"),
    (KeyReused("A sentence."), 409, "idempotency-key-reused"),
    (EventIdReused("A sentence."), 400, "invalid-request"),
    (errors.ApprovalRefused("A sentence."), 400, "invalid-request"),
    (errors.Overtaken("A sentence."), 400, "invalid-request"),
    (errors.StoreMissing(INSIDE), 503, "store-unavailable"),
    (errors.NoStore(INSIDE), 503, "store-unavailable"),
    (errors.StoreUnavailable(INSIDE), 503, "store-unavailable"),
    (errors.OutcomeUnknown(INSIDE, "id"), 503, "store-unavailable"),
    (errors.RecordUnreadable(INSIDE), 503, "store-unavailable"),
    (ProcessorRefused(INSIDE, status=400), 502, "processor-refused"),
    (errors.OperationRefused(INSIDE), 500, "internal"),
    (errors.OperationUnanswered(INSIDE, may_arrive=True), 500, "internal"),
    (errors.PartlyDone(INSIDE), 500, "internal"),
    (ProcessorUnreachable(INSIDE, same_key=True), 503, "processor-unreachable"),
    (ItemUnreadable("checkout.session", None, ("id",)), 503, "processor-unreachable"),
    (errors.NotConfigured(INSIDE), 503, "not-configured"),
    (errors.DependencyFailed(INSIDE), 503, "not-configured"),
    (NotPreflighted(INSIDE), 503, "not-preflighted"),
    (SessionMismatch(INSIDE), 503, "processor-unreachable"),
    (CloudError(INSIDE), 500, "internal"),
    (CloudRefused(INSIDE, status=403), 500, "internal"),
    (CloudUnreachable(INSIDE), 500, "internal"),
    (CloudNotReady(INSIDE), 500, "internal"),
    (RowGone("A sentence."), 404, "row-gone"),
    (NotARow("A sentence."), 422, "invalid-field"),
    (WrongDay("A sentence."), 422, "invalid-field"),
    (NotReplyable("A sentence."), 422, "not-replyable"),
    (NotInLedger("A sentence."), 422, "not-in-ledger"),
    (MailboxError(INSIDE), 500, "internal"),
    (MailboxRefused(INSIDE), 502, "mailbox-refused"),
    (MailboxUnreachable(INSIDE), 503, "mailbox-unreachable"),
    (SignInNeeded(INSIDE), 503, "sign-in-needed"),
    (IdentityError(INSIDE), 500, "internal"),
    (IdentityRefused(INSIDE), 502, "identity-refused"),
    (IdentityUnreachable(INSIDE), 503, "identity-unreachable"),
    (SignInFileUnusable(INSIDE), 500, "internal"),
    (ApiUnreachable(INSIDE), 500, "internal"),
    (errors.TrackRefused(INSIDE), 500, "internal"),
    (PublicationRefused(INSIDE), 500, "internal"),
    (SignInRefused(INSIDE), 500, "internal"),
    (AnalyticsFailed(INSIDE, cause="server"), 500, "internal"),
    (TrackerFailed(INSIDE), 500, "internal"),
    (DeliveryFailed(INSIDE, permanent=True), 500, "internal"),
    (OptionsUnreadable("A sentence."), 400, "invalid-request"),
    (GuestFailed(INSIDE), 500, "internal"),
    (SiteNotReached(INSIDE), 500, "internal"),
    (RecordsNotRead(INSIDE), 500, "internal"),
    (errors.OrreryError(INSIDE), 500, "internal"),
]


@each_case(("error", "status", "tag"), TABLE)
def test_each_error_has_its_answer(error: errors.OrreryError, status: int, tag: str) -> None:
    """Every error of the tree has its status and tag; a caller's own mistake is told, what is inside is not."""
    problem = problem_of(error)
    assert (problem.status, problem.tag) == (status, tag)
    assert (problem.message == "A sentence.") is (status < 500)
    assert INSIDE not in problem.message


def test_no_error_is_forgotten() -> None:
    """The table above names every error that there is, but for the abstract ones."""
    named = {type(error) for error, _, _ in TABLE}
    assert kinds_of_errors() - named == {errors.StoreError, ProcessorError, errors.OperationFailed}


def test_each_error_has_its_exit_code() -> None:
    """A wrong call and wrong settings end a command with 2, and all else that fails with 1 (decision 54)."""
    kinds = kinds_of_errors()
    of_the_caller = {kind for kind in kinds if issubclass(kind, errors.Invalid)}
    assert {kind for kind in kinds if kind.exit_code == 2} == of_the_caller | {errors.NotConfigured}
    assert {kind.exit_code for kind in kinds} == {1, 2}


@pytest.mark.parametrize(("answered", "says"), [(418, INSIDE), (507, "Something went wrong on our side.")])
def test_an_error_that_a_domain_adds(answered: int, says: str) -> None:
    """Its class says how it is answered, and no more than a caller's own mistake is told."""

    class Added(errors.OrreryError):
        """An error of a domain."""

        http_status: ClassVar[int] = answered
        tag: ClassVar[str] = "added"

    problem = problem_of(Added(INSIDE))
    assert (problem.status, problem.tag, problem.message) == (answered, "added", says)


@each_case(("error", "status", "tag"), TABLE)
def test_an_answer_is_a_tag_and_a_sentence(error: errors.OrreryError, status: int, tag: str) -> None:
    """The body is `{"error": tag, "message": sentence}` and nothing else, and is kept by nobody."""
    response = response_of(problem_of(error))
    body = json.loads(bytes(response.body))
    assert (response.status_code, body["error"]) == (status, tag)
    assert set(body) == {"error", "message"}
    assert body["message"].endswith((".", "!"))
    assert response.headers["cache-control"] == "no-store"


def test_a_problem_brings_its_headers() -> None:
    """A refusal at the edge is shown with its own headers."""
    response = response_of(problem_of(Problem(429, "too-many-requests", "Wait.", {"Retry-After": "7"})))
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")


@pytest.mark.parametrize(
    ("status", "tag"), [(404, "not-found"), (405, "method-not-allowed"), (400, "refused"), (421, "refused")]
)
def test_what_the_framework_refuses(status: int, tag: str) -> None:
    """The framework's own refusals are shown in our form, without its words."""
    response = response_of(problem_of(HTTPException(status, "framework words")))
    assert response.status_code == status
    assert json.loads(bytes(response.body))["error"] == tag
    assert b"framework words" not in bytes(response.body)


def test_a_bug_says_nothing_of_itself() -> None:
    """An exception that is none of ours is a fault of ours, without details."""
    problem = problem_of(ZeroDivisionError(INSIDE))
    assert (problem.status, problem.tag, problem.message) == (500, "internal", "Something went wrong on our side.")
