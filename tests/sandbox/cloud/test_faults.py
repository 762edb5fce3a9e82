"""The faults of the cloud, with the official libraries, and the levers."""

import pytest
from azure.core.exceptions import HttpResponseError

from tests.sandbox.cloud.official import Official


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
