"""The faults of the cloud, as the official libraries meet them, and the levers."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, IncompleteReadError, ServiceResponseError

from orrery.sandbox.faults import KINDS
from tests.sandbox.cloud.official import IDENTITY, Official
from tests.sandbox.held import expect_met
from tests.support.waiting import eventually

STATUSES = {"cloud_401": 401, "cloud_403": 403, "cloud_409": 409, "cloud_429": 429, "cloud_500": 500}
STATUSES["cloud_unregistered"] = 409
UNANSWERED = {"cloud_cut", "cloud_hang", "cloud_lost_answer"}
UNREADABLE = {"cloud_html_200", "cloud_html_502", "cloud_empty", "cloud_odd"}
"""What tests/conformance/cloud/test_half_answers.py meets, at each request."""


def put(cloud: Official, name: str = "by-a-fault", **options: Any) -> None:  # noqa: ANN401  options of the library
    """Create an identity, without patience."""
    cloud.identities.create_or_update(cloud.group, name, {"location": "westeurope"}, **options)


def names(cloud: Official) -> set[str]:
    """Return the identities that there are."""
    resources = cloud.box.sandbox.state.newest_first("_cloud_resource")
    return {one["body"]["name"] for one in resources if "Identities" in one["body"]["type"]}


@pytest.mark.parametrize("kind", STATUSES)
def test_a_refusal(cloud: Official, kind: str) -> None:
    """Each refuses with its status, and does nothing."""
    cloud.box.fault(kind, "PUT identity", value=7)
    with pytest.raises(HttpResponseError) as refused:
        put(cloud)
    assert refused.value.status_code == STATUSES[kind]
    assert names(cloud) == {IDENTITY}
    if kind == "cloud_429":
        response: Any = refused.value.response
        assert response.headers["Retry-After"] == "7"


@pytest.mark.parametrize("kind", sorted(UNANSWERED))
def test_no_answer(cloud: Official, kind: str) -> None:
    """The connection ends without a whole answer; only with a lost answer is the request carried out."""
    cloud.box.fault(kind, "PUT identity")
    with pytest.raises((ServiceResponseError, IncompleteReadError)):
        put(cloud, read_timeout=0.2)
    eventually(lambda: expect_met(cloud.box.web))
    assert names(cloud) == ({IDENTITY, "by-a-fault"} if kind == "cloud_lost_answer" else {IDENTITY})
    cloud.identities.delete(cloud.group, "by-a-fault")


def test_each_kind_is_tried() -> None:
    """There is no fault of the cloud that these tests do not meet."""
    assert {*STATUSES, *UNANSWERED, *UNREADABLE} == {kind for kind in KINDS if kind.startswith("cloud_")}


def test_a_fault_can_wait_for_its_request(cloud: Official) -> None:
    """With `skip` it lets requests pass: a test stops its caller at the n-th request of a sequence."""
    cloud.box.fault("cloud_500", "PUT", skip=2)
    for _ in range(2):
        cloud.put_identity()
    with pytest.raises(HttpResponseError):
        cloud.put_identity()
    assert [one["what"] for one in cloud.box.known()["requests"]][-3:] == ["PUT identity"] * 3


def test_a_wrong_lever(cloud: Official) -> None:
    """An unknown lever or delay, and a shutdown of a machine that is down, are refused with a sentence."""
    for wrong in ({"do": "explode"}, {"do": "shutdown", "coffee": 3}, {"do": "shutdown", "alert": "soon"}):
        answer = cloud.box.web.post("/_cloud", json=wrong)
        assert (answer.status_code, bool(answer.json()["error"])) == (400, True)
    for nonsense in ("[]", "{"):
        answer = cloud.box.web.post("/_cloud", content=nonsense, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
    cloud.box.pull("shutdown")
    assert cloud.box.web.post("/_cloud", data={"do": "shutdown"}).status_code == 400
