"""The tests that guard money and the live count: without any of these checks one turns red (change rule 5)."""

from pathlib import Path

import pytest

from tests.guards.mutations import Mutation, Runs, see_fit, see_pass, see_red, tried
from tests.support.soak import SOAKING
from tests.support.tables import each_case

PREFLIGHT, FORGED = (f"tests/checkout/selling/test_preflight{one}.py" for one in ("", "_kills"))
WEBHOOK = "tests/checkout/access/test_webhook.py"

GUARDS = {
    "checkout/signature.py": ["tests/checkout/test_signature.py"],
    "checkout/access/rules.py": ["tests/checkout/access/test_rules.py"],
    "checkout/access/fulfilment.py": [WEBHOOK, "tests/checkout/access/test_erasure_reach.py"],
    "checkout/access/events.py": ["tests/checkout/access/test_events.py"],
    "checkout/access/outages.py": ["tests/checkout/access/test_refusals.py"],
    "checkout/selling/sessions.py": [PREFLIGHT, FORGED],
    "checkout/selling/preflight.py": [PREFLIGHT],
    "checkout/selling/receipts.py": ["tests/checkout/selling/test_products.py"],
    "checkout/selling/products.py": ["tests/checkout/selling/test_products.py"],
    "checkout/selling/trials.py": [PREFLIGHT, FORGED],
    "edge/auth.py": ["tests/edge/test_admin_bearer.py"],
    "owner_page/page.py": ["tests/owner_page/test_page.py"],
    "fraud/clusters.py": ["tests/fraud/test_clusters.py::test_three_within_five_minutes_are_flagged"],
    "fraud/entries.py": ["tests/fraud/test_entries.py"],
    "fraud/screening.py": ["tests/fraud/test_screening.py"],
    "fraud/watch.py": ["tests/fraud/test_watch.py"],
    "live/build.py": ["tests/live/test_routes.py::test_public_reads_show_the_refresh_at_once"],
    "live/freshness.py": ["tests/live/test_answers.py"],
    "live/plan.py": ["tests/live/test_quota.py"],
    "live/refresh.py": ["tests/live/test_refresh.py"],
    "secrets/baseline.py": ["tests/secrets/test_baseline.py"],
    "secrets/check.py": ["tests/secrets/test_check.py"],
}
"""Which tests guard which file."""

MUTATIONS = [
    Mutation(
        "the webhook checks no signature",
        "checkout/access/fulfilment.py",
        "            verify(body, signature, self._secrets, *self._stored.times())\n",
        "            pass\n",
    ),
    Mutation(
        "any signature matches",
        "checkout/signature.py",
        "    return any(matches)\n",
        "    return any(matches) or True\n",
    ),
    Mutation(
        "the signing time may lie anywhere",
        "checkout/signature.py",
        "    if not any(abs(int(one.timestamp()) - int(signed_at)) <=",
        "    if not any(True or abs(int(one.timestamp()) - int(signed_at)) <=",
    ),
    Mutation(
        "the signing time may lie in the future",
        "checkout/signature.py",
        "abs(int(one.timestamp()) - int(signed_at))",
        "int(one.timestamp()) - int(signed_at)",
    ),
    Mutation(
        "an empty secret checks",
        "checkout/signature.py",
        "    if not secrets or not all(secrets):\n",
        "    if not secrets:\n",
    ),
    Mutation(
        "the offer is not compared",
        "checkout/access/rules.py",
        "    if mismatch := _mismatch(session, product, offer):\n",
        '    if mismatch := "":\n',
    ),
    Mutation(
        "the offered product is not compared",
        "checkout/access/rules.py",
        "    if product != offer.product:\n",
        "    if False:\n",
    ),
    Mutation(
        "the offered price is not compared",
        "checkout/access/rules.py",
        "    if session.price_ids is not None and session.price_ids != (offer.price_id,):\n",
        "    if False:\n",
    ),
    Mutation(
        "live and test are not told apart",
        "checkout/access/rules.py",
        "    if session.livemode != livemode or of_event not in (None, livemode):\n",
        "    if of_event not in (None, livemode):\n",
    ),
    Mutation(
        "an event of the other mode counts",
        "checkout/access/rules.py",
        "    if session.livemode != livemode or of_event not in (None, livemode):\n",
        "    if session.livemode != livemode:\n",
    ),
    Mutation(
        "unpaid is granted",
        "checkout/access/rules.py",
        '    if session.payment_status == "unpaid":\n',
        "    if False:\n",
    ),
    Mutation(
        "a session is granted again",
        "checkout/access/fulfilment.py",
        "self._stored.access.changes(session.id, None, record) + Changes(writes, checks)\n",
        "Changes(self._stored.access.changes(session.id, None, record).writes) + Changes(writes, checks)\n",
    ),
    Mutation(
        "two purchases at once extend the same end",
        "checkout/access/fulfilment.py",
        " + Changes(writes, checks)\n",
        " + Changes(writes)\n",
    ),
    Mutation(
        "another event under a known id is taken for the first",
        "checkout/access/events.py",
        "    return first.livemode == second.livemode and _decisive(first.session) == _decisive(second.session)\n",
        "    return True\n",
    ),
    Mutation(
        "the raw event under a known id is written over",
        "checkout/access/events.py",
        "        return self._stored.events.added(event.id, event.body) if event else Changes()\n",
        "        return Changes([self._stored.events.put(event.id, event.body)]) if event else Changes()\n",
    ),
    Mutation(
        "junk at the webhook is told as a wrong secret",
        "checkout/access/outages.py",
        '            return "no signature"\n',
        '            return "wrong signature"\n',
    ),
    Mutation(
        "a changed setting is sold before it was accepted",
        "checkout/selling/products.py",
        "        if not self.livemode:\n",
        "        if not self.livemode or await self.receipt(product):\n",
    ),
    Mutation(
        "a product is sold that was never accepted",
        "checkout/selling/products.py",
        "        if not self.livemode:\n",
        "        if not self.livemode or not await self.receipt(product):\n",
    ),
    Mutation(
        "an altered receipt proves something",
        "checkout/selling/receipts.py",
        "    return digest_of(parameters_of(receipt), receipt.api_version) == receipt.digest\n",
        "    return True\n",
    ),
    Mutation(
        "a preflight begins without the owner's word",
        "checkout/selling/preflight.py",
        "or not await self._approvals.is_in_force(intent.id):\n",
        "or False:\n",
    ),
    Mutation(
        "a preflight begins with a word for other parameters",
        "checkout/selling/preflight.py",
        "            if not self._is_for(intent, plans) or",
        "            if False or",
    ),
    Mutation(
        "an approval covers what was not recorded under its run",
        "checkout/selling/sessions.py",
        "        return found is not None and",
        "        return found is None or",
    ),
    Mutation(
        "an approval covers another run's sessions",
        "checkout/selling/sessions.py",
        " and found.record.run_id == run_id\n",
        "\n",
    ),
    Mutation(
        "an erased one is granted again", "checkout/access/fulfilment.py", 'return AccessVerdict("erased")', "pass"
    ),
    Mutation("an approval covers a visitor's", "checkout/selling/sessions.py", "entry(session_id)", 'entry("")'),
    Mutation(
        "a preflight asks under the key in its record",
        "checkout/selling/trials.py",
        "        key = trial_key(trial.run_id, trial.product, trial.attempt)\n",
        "        key = trial.idempotency_key\n",
    ),
    Mutation(
        "a session is expired without the owner's word",
        "checkout/selling/trials.py",
        "            note = await self._approvals.use(trial.intent_id, session_id)\n",
        "            intent = (await self._approvals.proposal(trial.intent_id)).intent\n"
        "            note = await self._expiry.perform(intent, session_id)\n",
    ),
    Mutation(
        "a session is not recorded under its run",
        "checkout/selling/trials.py",
        "        await self._keep(trial, [self._stored.own_sessions.put(own, session.id)])\n",
        "        await self._keep(trial)\n",
    ),
    Mutation(
        "a preflight asks before it has written down what",
        "checkout/selling/trials.py",
        "asked_at=self._stored.clock.now())\n        await self._keep(trial)\n",
        "asked_at=self._stored.clock.now())\n",
    ),
    Mutation(
        "a public read of an empty cache asks the provider",
        "live/build.py",
        "        self.monitor = CounterMonitor(",
        "        cache.loaded = self.refresh.run\n        self.monitor = CounterMonitor(",
    ),
    Mutation(
        "failed pages keep the total from being written",
        "live/refresh.py",
        "[*self._values(settled), *self._errors(settled, term.began)]",
        "self._errors(settled, term.began) or self._values(settled)",
    ),
    Mutation(
        "a failure takes away the last good count",
        "live/refresh.py",
        "        return [self._last_error.put(found)]",
        '        return [Delete("realtime:active"), self._last_error.put(found)]',
    ),
    Mutation(
        "whoever was overtaken writes all the same",
        "live/refresh.py",
        "Changes([Delete(term.fence.key)], [term.fence.check])",
        "Changes([Delete(term.fence.key)])",
    ),
    Mutation(
        "the second refresh of a minute asks again",
        "live/refresh.py",
        "        return outcome if outcome and outcome.window - self._window() in {0, 1} else None\n",
        "        return None\n",
    ),
    Mutation(
        "three minutes are still fresh",
        "live/freshness.py",
        "    if found < FRESH_BELOW:\n",
        "    if found <= FRESH_BELOW:\n",
    ),
    Mutation(
        "thirty minutes are too old already",
        "live/freshness.py",
        "found <= TOO_OLD_ABOVE",
        "found < TOO_OLD_ABOVE",
    ),
    Mutation(
        "any time in the future is believed",
        "live/freshness.py",
        "    return None if found < -AHEAD_AT_MOST else max(found, timedelta(0))\n",
        "    return max(found, timedelta(0))\n",
    ),
    Mutation(
        "the hash itself is admitted, too",
        "edge/auth.py",
        "        admitted = self.is_password(given)",
        "        admitted = given == self._hash.encode() or self.is_password(given)",
    ),
    Mutation(
        "without a hash everybody is the admin",
        "edge/auth.py",
        "        if not given or not self.usable:\n            return False\n",
        "        if not given or not self.usable:\n            return not self.usable\n",
    ),
    Mutation(
        "two declines are a cluster",
        "fraud/clusters.py",
        "THRESHOLD = 3\n",
        "THRESHOLD = 2\n",
    ),
    Mutation(
        "three declines are no cluster",
        "fraud/clusters.py",
        "THRESHOLD = 3\n",
        "THRESHOLD = 4\n",
    ),
    Mutation(
        "the last second of the five minutes does not count",
        "fraud/clusters.py",
        "        if ordered[last].at - ordered[first].at > WINDOW:\n",
        "        if ordered[last].at - ordered[first].at >= WINDOW:\n",
    ),
    Mutation(
        "any number of entries is blocked at once",
        "fraud/entries.py",
        "    if len(wanted) > MOST_AT_ONCE:\n",
        "    if False:\n",
    ),
    Mutation(
        "a private address is blocked",
        "fraud/entries.py",
        "    if not address.is_global or address.is_multicast or address.is_reserved:\n",
        "    if False:\n",
    ),
    Mutation(
        "an own address is blocked",
        "fraud/entries.py",
        "    if any(address in network for network in own):\n",
        "    if False:\n",
    ),
    Mutation(
        "what is on a list is blocked again",
        "fraud/screening.py",
        "            if await entries_with(self._reads, found.id, one.value):\n",
        "            if False:\n",
    ),
    Mutation(
        "a cluster is told at each look",
        "fraud/watch.py",
        "if one.id not in known_ids]",
        "]",
    ),
    Mutation(
        "the owner's page asks for no password",
        "owner_page/page.py",
        "        if not await self._password.admits(request):\n",
        "        if False:\n",
    ),
    Mutation(
        "the pages never give way",
        "live/plan.py",
        "        return self._early(query, self._apart(batch, self._spare))\n",
        "        return None\n",
    ),
    Mutation(
        "the pages are asked before the total",
        "live/plan.py",
        "([TOTAL] if TOTAL in queries else []) + rest:\n",
        "rest + ([TOTAL] if TOTAL in queries else []):\n",
    ),
    Mutation(
        "another secret than before is no news",
        "secrets/baseline.py",
        '        return "changed"\n    return "mode"',
        '        return None\n    return "mode"',
    ),
    Mutation(
        "a secret that is gone is no news",
        "secrets/baseline.py",
        "    if trouble := _LOST.get(observed.state):\n",
        "    if trouble := None:\n",
    ),
    Mutation(
        "an announced rotation covers a wipe",
        "secrets/baseline.py",
        '"removed" if context.announced.removal and trouble',
        '"removed" if trouble',
    ),
    Mutation(
        "what the process holds is not compared with what lies there",
        "secrets/baseline.py",
        '    if observed.place == "" or context.held == (observed.fingerprint or None):\n',
        "    if True:\n",
    ),
    Mutation(
        "nobody looks at what lies there",
        "secrets/check.py",
        "        observations = await self._settled_observations()\n",
        '        observations = dict.fromkeys(self.uses, SecretObservation("unknown"))\n',
    ),
]


TRIED = tried(MUTATIONS)


@each_case("mutation", MUTATIONS)
def test_the_check_stands_where_it_is_taken_out(mutation: Mutation) -> None:
    """Each check is in its file, once, and has tests that guard it."""
    see_fit(mutation, GUARDS)


@pytest.mark.skipif(not SOAKING, reason="./run soak guards runs it; here they pass as they are")
def test_the_copy_as_it_is_passes(tmp_path: Path) -> None:
    """With every check in its place the guarding tests pass: what follows is the mutations' doing."""
    see_pass(tmp_path, {one.file: GUARDS[one.file] for one in TRIED})


@pytest.mark.parametrize("what", [mutation.what for mutation in TRIED])
def test_a_missing_check_turns_a_test_red(runs: Runs, what: str) -> None:
    """Taking the check out makes a guarding test fail, and not for another reason."""
    see_red(runs[what].result())
