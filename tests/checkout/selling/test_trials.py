"""What a trial came to is told of its state alone."""

from typing import get_args

import pytest

from orrery.checkout.records import Trial, TrialState
from orrery.checkout.selling.trials import TrialResult, outcome_of
from tests.support.clock import START

OUTCOMES: dict[TrialState, tuple[TrialResult, bool, bool]] = {
    "asked": ("unanswered", False, False),
    "open": ("unsettled", True, False),
    "expired": ("accepted", True, False),
    "completed": ("completed", True, False),
    "left open": ("left open", True, True),
    "rejected": ("rejected", False, False),
    "gone": ("unreadable", False, False),
}
"""By state: the result, whether its session is named, and whether an approval is."""


def test_each_state_has_an_outcome() -> None:
    """No state is forgotten."""
    assert OUTCOMES.keys() == {*get_args(TrialState)}


def trial(state: TrialState, *, stand_in: bool = False) -> Trial:
    """Return a trial in this state, with all that it may have."""
    return Trial(
        run_id="run-1",
        deployment="d",
        intent_id="in_run",
        vendor_slug="northwind",
        cert_code="cloud-navigator",
        digest="digest",
        parameters={},
        api_version="v",
        stand_in=stand_in,
        idempotency_key="key",
        state=state,
        session_id="cs_1",
        expiry_intent_id="in_expiry",
        note="why",
        asked_at=START,
    )


@pytest.mark.parametrize("state", OUTCOMES)
def test_the_outcome_of_a_trial(state: TrialState) -> None:
    """A session is named once the processor has made it, the approval only while it is waited for."""
    result, has_session, has_intent = OUTCOMES[state]
    found = outcome_of(trial(state))
    assert (found.result, found.note) == (result, "why")
    assert found.session_id == ("cs_1" if has_session else None)
    assert found.intent_id == ("in_expiry" if has_intent else None)


def test_a_stand_in_is_only_tried() -> None:
    """With another's price it has no receipt."""
    assert outcome_of(trial("expired", stand_in=True)).result == "tried"
