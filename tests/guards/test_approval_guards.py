"""The tests that guard approvals: without any of these checks one turns red (change rule 4).

Here a few of them are tried; `./run soak guards` tries all.
"""

from pathlib import Path

import pytest

from tests.guards.mutations import Mutation, Runs, see_fit, see_pass, see_red, tried
from tests.support.soak import SOAKING
from tests.support.tables import each_case

GUARDS = {
    "account/account.py": ["tests/account/test_account.py"],
    "adapters/ssh_keygen.py": ["tests/adapters/test_ssh_keygen.py"],
    "approvals/approval_log.py": [
        "tests/approvals/test_audit.py",
        "tests/approvals/test_approvals.py",
        "tests/approvals/test_approvals_put_back.py",
    ],
    "approvals/approvals.py": [
        "tests/approvals/test_approvals.py",
        "tests/approvals/test_approvals_use.py",
        "tests/approvals/test_approvals_proposing.py",
        "tests/approvals/test_approvals_put_back.py",
    ],
    "approvals/audit.py": [
        "tests/approvals/test_audit.py",
        "tests/approvals/test_approvals_put_back.py",
        "tests/checkout/access/test_privacy_intents.py",
    ],
    "approvals/chain.py": ["tests/approvals/test_chain.py"],
    "approvals/execution.py": ["tests/approvals/test_approvals_lost.py", "tests/approvals/test_approvals.py"],
    "approvals/intents.py": ["tests/adapters/test_ssh_keygen.py", "tests/approvals/test_chain.py"],
    "approvals/progress.py": [
        "tests/approvals/test_approvals_use.py",
        "tests/approvals/test_approvals_put_back.py",
        "tests/approvals/test_approvals.py",
    ],
    "approvals/public_keys.py": ["tests/approvals/test_public_keys.py"],
    "approvals/intent_store.py": [
        "tests/approvals/test_approvals.py",
        "tests/approvals/test_approvals_put_back.py",
        "tests/checkout/access/test_privacy_intents.py",
    ],
}
"""Which tests guard which file."""


MUTATIONS = [
    Mutation(
        "no signature is checked",
        "approvals/approvals.py",
        "signer = await self._signatures.check(statement.encode(), signature.encode())",
        'signer = ""',
    ),
    Mutation(
        "an approval of another intent counts", "approvals/approvals.py", "stated.intent_id != intent.id or ", ""
    ),
    Mutation(
        "an intent of another deployment counts",
        "approvals/approvals.py",
        " or intent.deployment != self.deployment",
        "",
    ),
    Mutation(
        "the signed digest is not compared",
        "approvals/approvals.py",
        "stated.digest == intent.digest() ==",
        "intent.digest() ==",
    ),
    Mutation("the proposed digest is not compared", "approvals/approvals.py", " == progress.digest:", ":"),
    Mutation(
        "what a restore made void counts",
        "approvals/approvals.py",
        "        if proposal.is_void:\n            raise ApprovalRefused(VOID)\n",
        "",
    ),
    Mutation(
        "an approval counts twice",
        "approvals/approvals.py",
        "        if progress.state != state:\n",
        "        if False:\n",
    ),
    Mutation(
        "an approval may be of tomorrow",
        "approvals/approvals.py",
        "        if age < -AHEAD:\n",
        "        if False:\n",
    ),
    Mutation(
        "an approval never expires",
        "approvals/approvals.py",
        "        if age > lifetime:\n",
        "        if False:\n",
    ),
    Mutation(
        "whoever is overtaken carries it out all the same",
        "approvals/intent_store.py",
        "raise Overtaken(why)",
        "pass",
    ),
    Mutation(
        "what is void by then begins",
        "approvals/intent_store.py",
        "            if begins and known.is_void:\n",
        "            if False:\n",
    ),
    Mutation(
        "a record that cannot be read stops nothing",
        "approvals/intent_store.py",
        "is_void = record is None and",
        "is_void = entry is None and",
    ),
    Mutation(
        "a start is not fenced",
        "approvals/approval_log.py",
        'self._head.changes("", head, entry)',
        "Changes([self._head.put(entry)])",
    ),
    Mutation("a target is used twice", "approvals/progress.py", '"unknown", "done")\n', '"unknown")\n'),
    Mutation(
        "a target that is under way is used again", "approvals/progress.py", '_USED = ("started", ', "_USED = ("
    ),
    Mutation(
        "a second proposal begins anew",
        "approvals/progress.py",
        "_ = logged.setdefault(entry.intent_id, new)",
        "logged[entry.intent_id] = new",
    ),
    Mutation(
        "a standing approval covers everything",
        "approvals/approvals.py",
        "        if not await covers(call.intent, call.target):\n",
        "        if False:\n",
    ),
    Mutation(
        "a refusal is not logged",
        "approvals/approvals.py",
        '            await self.log.append("refused", intent, str(error), target=target, quiet=quiet)\n',
        "",
    ),
    Mutation("nobody is told of a refusal", "approvals/approvals.py", "quiet=quiet", "quiet=True"),
    Mutation(
        "an intent may hold a secret",
        "approvals/approvals.py",
        "if any(json.dumps(secret, ensure_ascii=False)[1:-1].encode() in stored for secret in self._forbidden):",
        "if False:",
    ),
    Mutation(
        "an entry is written over",
        "approvals/approval_log.py",
        "self._entries.changes(_number(entry), None, entry)",
        "Changes([self._entries.put(entry, _number(entry))])",
    ),
    Mutation("personal data goes to the log", "approvals/approval_log.py", "note=impersonal(note)", "note=note"),
    Mutation(
        "the processor's words go to the log",
        "approvals/execution.py",
        "logged = error.permanent_sentence()",
        "logged = str(error)",
    ),
    Mutation(
        "what was not answered did not happen",
        "approvals/execution.py",
        "        if lost.may_arrive:\n",
        "        if False:\n",
    ),
    Mutation(
        "a look overrules an answer",
        "approvals/execution.py",
        "return answered or is_open(progress.of_target(call.target))",
        "return True",
    ),
    Mutation(
        "what is under way is settled",
        "approvals/execution.py",
        "        if known and is_open(known) and may_be_under_way(known, self._clock.now()):\n",
        "        if False:\n",
    ),
    Mutation(
        "a made-up approval in the log holds",
        "approvals/audit.py",
        "    return await signatures.check(entry.statement.encode(), entry.signature.encode())\n",
        "    return entry.signer\n",
    ),
    Mutation(
        "an altered intent passes as erased",
        "approvals/audit.py",
        " and proposed.get(entry.intent_id) == entry.digest",
        "",
    ),
    Mutation(
        "what is proposed once more passes as erased",
        "approvals/audit.py",
        "for entry in reversed(entries) if",
        "for entry in entries if",
    ),
    Mutation("what begins once erased holds", "approvals/audit.py", "confirmed.discard(entry.intent_id)", "pass"),
    Mutation(
        "an erased intent is begun",
        "approvals/progress.py",
        'if entry.kind == "erased" and known.state in ("proposed", "approved"):',
        "if False:",
    ),
    Mutation(
        "what begins is looked for in what was read of the log before",
        "approvals/intent_store.py",
        "(self._log.proven() if begins else self._log.logged())",
        "self._log.logged()",
    ),
    Mutation(
        "what is damaged lets something begin",
        "approvals/approval_log.py",
        "        if broken_at(entries, head) is not None:\n",
        "        if False:\n",
    ),
    Mutation(
        "a standing approval in a damaged log stands",
        "approvals/approvals.py",
        "        _ = await self.log.proven()\n",
        "",
    ),
    Mutation(
        "a signature that counted twice holds",
        "approvals/audit.py",
        "repeated=tuple(begun_again(entries))",
        "repeated=()",
    ),
    Mutation("a mark without a word in the log passes", "approvals/audit.py", ", *(erased - confirmed)", ""),
    Mutation(
        "what waits is erased",
        "approvals/intent_store.py",
        "if not known.is_over(now):",
        "if False:",
    ),
    Mutation(
        "an altered intent is erased",
        "approvals/intent_store.py",
        "            if not known.is_void and not known.is_intact:\n",
        "            if False:\n",
    ),
    Mutation(
        "an altered entry holds", "approvals/chain.py", "entry.expected_hash()) if entry", "entry.hash) if entry"
    ),
    Mutation(
        "a signature for files counts",
        "approvals/intents.py",
        'NAMESPACE = "orrery-approval"',
        'NAMESPACE = "file"',
    ),
    Mutation("anybody's signature counts", "adapters/ssh_keygen.py", '"-Y", "verify"', '"-Y", "check-novalidate"'),
    Mutation(
        "a wrong signature is one that cannot be checked",
        "adapters/ssh_keygen.py",
        "        if came.returncode == _NOT_VALID:\n",
        "        if False:\n",
    ),
    Mutation(
        "a private key is taken apart",
        "approvals/public_keys.py",
        '    if "PRIVATE KEY" in line:\n',
        "    if False:\n",
    ),
    Mutation(
        "the account has other branding than when it was proposed",
        "account/account.py",
        "        _require_same(await _read(self._branding(target, body)), before)\n",
        "        await _read(self._branding(target, body))\n",
    ),
    Mutation(
        "other configurations are there than when one was proposed",
        "account/account.py",
        "        _require_same(ConfigurationBody(known=sorted(one.id for one in there)), before)\n",
        "",
    ),
    Mutation(
        "the configuration is another than when it was proposed",
        "account/account.py",
        "        _require_same(_configuration_values(current, body), before)\n",
        "",
    ),
    Mutation(
        "the branding of another account is changed",
        "account/account.py",
        "        if account.id != account_id:\n",
        "        if False:\n",
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
