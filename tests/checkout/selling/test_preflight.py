"""Nothing is sold before the processor has accepted exactly it; no test session stays open (change rule 1)."""

from dataclasses import replace

import pytest

from orrery.checkout.catalogue import session_parameters
from orrery.checkout.selling.receipts import digest_of, parameters_of
from orrery.errors import ApprovalRefused, NotConfigured, NotFound
from orrery.ports.processor import Price
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS
from tests.support.rehearsal import Rehearsal
from tests.support.tables import each_case

LOST = ProcessorUnreachable("No answer within 10.0 s.", same_key=True)
SERVER = ProcessorUnreachable("The processor answered 500.", same_key=False, status=500)
REFUSED = ProcessorRefused("The price specified is inactive.", status=400, param="line_items[0][price]")
BARE = replace(PRODUCT, price_id=None)
DAY = 24 * 3600


async def test_first_the_owners_word(rehearsal: Rehearsal) -> None:
    """Without an approval the processor is asked nothing; an intent waits that names run, products and version."""
    report = await rehearsal.run()
    assert (report.is_well, report.outcomes, rehearsal.till.asked) == (False, [], [])
    intent = (await rehearsal.approvals.proposal(report.to_sign or "")).intent
    assert intent.operation == "expire-preflight-sessions"
    assert intent.target.startswith("run-")
    assert intent.body == {
        "api_version": API_VERSION,
        "products": {
            product.name: digest_of(session_parameters(product, TERMS), API_VERSION)
            for product in (PRODUCT, OTHER)
        },
    }


async def test_the_same_intent_again(rehearsal: Rehearsal) -> None:
    """Asked again before the owner has signed, the same intent waits; other parameters are another one."""
    first = (await rehearsal.run()).to_sign
    assert (await rehearsal.run()).to_sign == first
    dearer = rehearsal.again(products=(replace(PRODUCT, price_id="price_dearer"),))
    assert (await dearer.run()).to_sign not in (None, first)


async def test_a_run(rehearsal: Rehearsal) -> None:
    """Each product's exact parameters are accepted, each session is expired, each receipt is kept."""
    report = await rehearsal.preflighted()
    assert report.is_well
    assert [(one.product, one.result) for one in report.outcomes] == [
        ("isc2/cissp", "accepted"),
        ("isc2/ccsp", "accepted"),
    ]
    assert rehearsal.till.asked == [(session_parameters(one, TERMS), API_VERSION) for one in (PRODUCT, OTHER)]
    assert rehearsal.till.open() == []
    receipt = await rehearsal.receipt()
    assert receipt is not None
    assert parameters_of(receipt) == session_parameters(PRODUCT, TERMS)
    assert (receipt.api_version, receipt.run_id, receipt.session_id) == (API_VERSION, report.run_id, "cs_1")
    assert receipt.digest == digest_of(session_parameters(PRODUCT, TERMS), API_VERSION)
    assert [step for step in await rehearsal.logged() if step[1]] == [
        (kind, session) for session in ("cs_1", "cs_2") for kind in ("started", "done")
    ]


async def test_only_one_product(rehearsal: Rehearsal) -> None:
    """What is named is tried, and nothing else; a name that is no product is refused."""
    report = await rehearsal.preflighted("isc2/ccsp")
    assert [one.product for one in report.outcomes] == ["isc2/ccsp"]
    assert await rehearsal.receipt() is None
    for name in ("isc2/ccs", "ccsp", "isc2/ccsp/", ""):
        with pytest.raises(NotFound):
            await rehearsal.run(name)


async def test_a_finished_run_is_over(rehearsal: Rehearsal) -> None:
    """After a run that came to its end, the next one wants a word of its own."""
    report = await rehearsal.preflighted()
    again = await rehearsal.run()
    assert again.to_sign is not None
    assert again.run_id != report.run_id
    assert len(rehearsal.till.sessions) == 2


@pytest.mark.parametrize("why", ["other parameters", "another version", "a day later", "withdrawn"])
async def test_an_approval_that_does_not_count(why: str, rehearsal: Rehearsal) -> None:
    """A word for other parameters, one of yesterday, and one that was taken back begin no run."""
    intent_id = (await rehearsal.run()).to_sign or ""
    await rehearsal.sign(intent_id)
    after: dict[str, dict[str, object]] = {
        "other parameters": {"products": (replace(PRODUCT, trust_copy="Another year of {CERT}."), OTHER)},
        "another version": {"api_version": "2026-09-30.endive"},
    }
    if why == "a day later":
        rehearsal.clock.advance(DAY + 1)
    elif why == "withdrawn":
        await rehearsal.approvals.withdraw(intent_id)
    assert (await rehearsal.again(**after.get(why, {})).run()).to_sign not in (None, intent_id)
    assert rehearsal.till.asked == []


async def test_only_what_the_run_has_recorded(rehearsal: Rehearsal) -> None:
    """The approval expires no other session, be it a visitor's or another run's."""
    report = await rehearsal.preflighted("isc2/ccsp")
    second = await rehearsal.run("isc2/cissp")
    await rehearsal.sign(second.to_sign)
    visitor = await rehearsal.till.create_session(
        session_parameters(PRODUCT, TERMS), idempotency_key="a click", deadline=1
    )
    for session_id in (visitor.id, report.outcomes[0].session_id or ""):
        with pytest.raises(ApprovalRefused, match="does not cover"):
            await rehearsal.approvals.use(second.to_sign or "", session_id)
    assert rehearsal.till.open() == [visitor.id]


async def test_rejected_and_mended(rehearsal: Rehearsal) -> None:
    """The processor's sentence and parameter are told, the others are tried; once mended, the same word counts."""
    rehearsal.till.refusals["price_cissp"] = REFUSED
    report = await rehearsal.preflighted()
    assert [(one.result, one.note) for one in report.outcomes] == [
        ("rejected", "The price specified is inactive. (line_items[0][price])"),
        ("accepted", "The session is expired."),
    ]
    assert (report.is_well, await rehearsal.receipt(PRODUCT), rehearsal.till.open()) == (False, None, [])
    assert await rehearsal.receipt(OTHER) is not None
    rehearsal.till.refusals.clear()
    assert (await rehearsal.run()).is_well
    assert await rehearsal.receipt() is not None
    assert len(rehearsal.till.sessions) == 2


async def test_a_rejection_takes_nothing_away(rehearsal: Rehearsal) -> None:
    """A product that was accepted before keeps its last receipt when newer parameters are rejected."""
    await rehearsal.preflighted()
    kept = await rehearsal.receipt()
    dearer = rehearsal.again(products=(replace(PRODUCT, price_id="price_dearer"),))
    dearer.till.refusals["price_dearer"] = REFUSED
    assert not (await dearer.preflighted()).is_well
    assert await dearer.receipt() == kept


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_lost_answer_of_creation(when: str, rehearsal: Rehearsal) -> None:
    """Asked again under the same key, the same session is found."""
    getattr(rehearsal.till, when)["create"] = [LOST]
    await rehearsal.sign((await rehearsal.run()).to_sign)
    assert (await rehearsal.run()).is_well
    assert len(rehearsal.till.sessions) == 2
    assert rehearsal.till.open() == []


async def test_after_a_server_error() -> None:
    """A 5xx, which the processor would replay, is asked again under another key, which is kept."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.before["create"] = [SERVER]
    assert (await rehearsal.preflighted()).is_well
    (trial,) = await rehearsal.stored_trials()
    assert (trial.attempt, trial.idempotency_key in rehearsal.till.created) == (2, True)


async def test_no_answer_at_all(rehearsal: Rehearsal) -> None:
    """A product that got no answer is said to be, the next is tried, and the same run goes on where it stands."""
    rehearsal.till.after["create"] = [LOST, LOST]
    report = await rehearsal.preflighted()
    assert [one.result for one in report.outcomes] == ["unanswered", "accepted"]
    assert rehearsal.till.open() == ["cs_1"]
    assert [(one.state, one.session_id) for one in await rehearsal.stored_trials()] == [
        ("expired", "cs_2"),
        ("asked", None),
    ]
    again = await rehearsal.run()
    assert (again.is_well, again.run_id, rehearsal.till.open()) == (True, report.run_id, [])
    assert len(rehearsal.till.sessions) == 2


async def test_a_lost_answer_of_expiry() -> None:
    """Reading shows that it happened: nothing is left to do, and the log says so."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.after["expire"] = [LOST]
    assert (await rehearsal.preflighted()).is_well
    assert [kind for kind, target in await rehearsal.logged() if target] == ["started", "happened"]


FAILURES = [
    LOST,
    SERVER,
    ProcessorUnreachable("The processor answered 409.", same_key=True, status=409),
    ProcessorRefused("It cannot be expired.", status=400),
    ProcessorRefused("The key may not.", status=403),
    NotConfigured("The processor has no API key."),
]


@each_case("error", FAILURES)
async def test_an_expiry_that_failed(error: Exception) -> None:
    """The session that is still open is named and queued for the owner, who is told; the receipt is kept."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.before["expire"] = [error]
    report = await rehearsal.preflighted()
    (outcome,) = report.outcomes
    assert (report.is_well, outcome.result, outcome.session_id) == (False, "left open", "cs_1")
    assert await rehearsal.receipt() is not None
    intent = (await rehearsal.approvals.proposal(outcome.intent_id or "")).intent
    assert (intent.operation, intent.target, intent.proposed_by) == ("expire-session", "cs_1", "software")
    assert f"queued-{intent.id}" in [row.id for row in await rehearsal.told()]
    await rehearsal.sign(intent.id)
    assert rehearsal.till.open() == []


@pytest.mark.parametrize("said", ["One line.\nAnother \x1b[31m.", "long " * 200])
async def test_whatever_the_processor_says(said: str) -> None:
    """A processor's sentence of several lines, or a very long one, keeps no orphan from being queued."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.before["expire"] = [ProcessorRefused(said, status=403)]
    (outcome,) = (await rehearsal.preflighted()).outcomes
    assert outcome.result == "left open"
    intent = (await rehearsal.approvals.proposal(outcome.intent_id or "")).intent
    assert intent.reason.startswith(f"A preflight could not expire its session: {said[:5].strip()}")


async def test_neither_expired_nor_read() -> None:
    """What can be neither expired nor read is taken for open."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.sign((await rehearsal.run()).to_sign)
    rehearsal.till.before = {"expire": [LOST], "read": [LOST, LOST]}
    (outcome,) = (await rehearsal.run()).outcomes
    assert (outcome.result, outcome.intent_id is None) == ("left open", False)


async def test_without_a_price() -> None:
    """A product without a price is tried with the account's first active price, and gets no receipt."""
    rehearsal = Rehearsal(products=(BARE,))
    rehearsal.till.active_price = Price("price_first", active=True, amount=1, currency="usd", product=None)
    report = await rehearsal.preflighted()
    assert (report.is_well, [one.result for one in report.outcomes]) == (True, ["tried"])
    ((parameters, _),) = rehearsal.till.asked
    assert parameters == session_parameters(replace(BARE, price_id="price_first"), TERMS)
    assert await rehearsal.receipt() is None
    assert rehearsal.till.open() == []


async def test_a_price_that_was_taken_out_for_a_while() -> None:
    """A trial at another price leaves the receipt of the product's own price as it is."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    accepted = await rehearsal.receipt()
    rehearsal.till.active_price = Price("price_first", active=True, amount=1, currency="usd", product=None)
    report = await rehearsal.again(products=(BARE,)).preflighted()
    assert [one.result for one in report.outcomes] == ["tried"]
    assert accepted
    assert await rehearsal.receipt() == accepted


@pytest.mark.parametrize("error", [LOST, ProcessorRefused("The API key may not do this.", status=403)])
async def test_no_answer_about_a_price(error: Exception) -> None:
    """Where no price can be asked for, what became of the other products is told all the same."""
    rehearsal = Rehearsal(products=(OTHER, BARE))
    rehearsal.till.before["price"] = [error]
    report = await rehearsal.preflighted()
    assert [one.result for one in report.outcomes] == ["accepted", "unanswered"]
    assert str(error) in report.outcomes[1].note


async def test_without_any_price() -> None:
    """Without a price at the account there is nothing to try such a product with."""
    rehearsal = Rehearsal(products=(BARE,))
    report = await rehearsal.preflighted()
    assert (report.is_well, report.outcomes[0].result, rehearsal.till.asked) == (False, "rejected", [])


async def test_further_methods_want_the_real_price() -> None:
    """Methods beyond card and link depend on the price's currency: they are tried with the product's own only."""
    terms = replace(TERMS, payment_method_types=("card", "link", "ideal"))
    rehearsal = Rehearsal(products=(BARE, OTHER), terms=terms)
    rehearsal.till.active_price = Price("price_first", active=True, amount=1, currency="usd", product=None)
    report = await rehearsal.preflighted()
    assert [(one.product, one.result) for one in report.outcomes] == [
        ("isc2/cissp", "rejected"),
        ("isc2/ccsp", "accepted"),
    ]
    assert "ideal" in report.outcomes[0].note


async def test_nothing_to_try() -> None:
    """Without products there is no preflight, and without addresses each product is named."""
    nothing, nowhere = Rehearsal(products=()), Rehearsal(terms=None)
    with pytest.raises(NotConfigured):
        await nothing.run()
    report = await nowhere.run()
    assert [(one.result, one.note) for one in report.outcomes] == [
        ("mistake", "success_url or cancel_url is missing.")
    ] * 2
    for rehearsal in (nothing, nowhere):
        assert await rehearsal.memory.scan("") == []


async def test_what_waits(rehearsal: Rehearsal) -> None:
    """Today's parameters are compared with the receipt, name by name, and nobody is asked."""
    await rehearsal.preflighted("isc2/cissp")
    changed = rehearsal.again(
        products=(replace(PRODUCT, trust_copy="Newer: {CERT}."), OTHER, replace(BARE, cert_code="x"))
    )
    asked = len(rehearsal.till.asked)
    pending, never, bare = await changed.selling.statuses(list(changed.selling.catalogue))
    assert [one.state for one in (pending, never, bare)] == ["pending", "never", "no price"]
    (change,) = pending.changes
    assert (change.name, change.becomes) == ("custom_text[submit][message]", "Newer: CISSP.")
    assert change.was == PRODUCT.submit_message
    assert ("line_items[0][price]", None, "price_ccsp") in [
        (one.name, one.was, one.becomes) for one in never.changes
    ]
    assert len(rehearsal.till.asked) == asked


async def test_a_newer_version_waits() -> None:
    """Another API version alone wants a preflight, too."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    newer = rehearsal.again(api_version="2026-09-30.endive")
    (status,) = await newer.selling.statuses(list(newer.selling.catalogue))
    assert [(one.name, one.was, one.becomes) for one in status.changes] == [
        ("api_version", API_VERSION, "2026-09-30.endive")
    ]


async def test_the_panel(rehearsal: Rehearsal) -> None:
    """The owner's page shows each product's receipt with its age, and what waits."""
    assert (await rehearsal.preflight.panel()).tone == "bad"
    await rehearsal.preflighted()
    rehearsal.clock.advance(3 * DAY)
    panel = await rehearsal.preflight.panel()
    assert panel.tone == "good"
    assert panel.rows[0] == ("isc2/cissp", "accepted", "2026-03-01T12:00:00Z", "3 d", API_VERSION)
    changed = rehearsal.again(products=(replace(PRODUCT, trust_copy="Newer."), OTHER))
    panel = await changed.preflight.panel()
    assert (panel.tone, panel.headline) == ("attention", "1 of 2 wait for a preflight.")
    assert (await changed.again(livemode=False).preflight.panel()).tone == "plain"
    assert (await Rehearsal(products=()).preflight.panel()).rows == ()


async def test_the_age_of_a_receipt(rehearsal: Rehearsal) -> None:
    """On its first day a receipt's age is told in minutes, then in hours."""
    await rehearsal.preflighted()
    ages: list[str] = []
    for seconds in (0, 3599, 1, DAY - 3601, 1):
        rehearsal.clock.advance(seconds)
        ages.append(str((await rehearsal.preflight.panel()).rows[0][3]))
    assert ages == ["0 min", "59 min", "1 h", "23 h", "1 d"]


@pytest.mark.parametrize("other", [{"amount_total": 0}, {"metadata": {}}, {"price_ids": ("price_ccsp",)}], ids=str)
async def test_a_session_of_something_else(other: dict[str, object]) -> None:
    """What was not asked for is not accepted: no receipt, no session left open; the same approval tries again."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.makes = other
    (outcome,) = (await rehearsal.preflighted()).outcomes
    assert (outcome.result, outcome.is_well, rehearsal.till.open()) == ("rejected", False, [])
    assert outcome.note.startswith("The processor made a session of something else: ")
    assert await rehearsal.receipt() is None
    rehearsal.till.makes = {}
    (outcome,) = (await rehearsal.run()).outcomes
    assert (outcome.result, rehearsal.till.open()) == ("accepted", [])


async def test_what_a_later_run_cleans_up_is_no_acceptance() -> None:
    """A trial that an earlier run left without an answer is closed by the next one, and leaves no receipt."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.preflighted()
    report = await rehearsal.again(products=(replace(PRODUCT, price_id="price_dearer"),)).run()
    assert [one.result for one in report.cleaned] == ["cleaned up"]
    assert rehearsal.till.open() == []
    assert await rehearsal.receipt() is None
