"""The account's branding and configurations: read, checked, shown, proposed, changed with the owner's word."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from orrery.account.account import (
    AccountDesk,
    AccountProposal,
    FieldChange,
    checked_branding,
)
from orrery.account.configurations import ConfigurationPatch
from orrery.approvals.progress import IntentProgress
from orrery.errors import Invalid, NotFound
from orrery.ports.processor import BRANDING, Configuration
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from tests.account.one_account import OneAccount, configuration
from tests.support.approving import Desk
from tests.support.tables import each_case

NAME, COLOUR = "business_profile.name", "settings.branding.primary_color"
DESCRIPTOR = "settings.payments.statement_descriptor"
WHY = "the new name"
Result = TypeVar("Result")


class Owner:
    """An owner with an account, who proposes and signs."""

    def __init__(self) -> None:
        self.account = OneAccount()  # pyright: ignore[reportAbstractUsage]  only the account is asked for
        self.desk = Desk()
        self.at = AccountDesk(self.account, self.account, self.desk.approvals)
        self.desk.approvals.allow(*self.at.operations())

    async def sign(self, proposed: AccountProposal) -> IntentProgress:
        """Sign what was proposed."""
        return await self.desk.sign(proposed.intent)

    async def rebranded(self, **other: str) -> AccountProposal:
        """Propose a new name and colour, or other fields."""
        return await self.at.propose_branding(other or {NAME: "Southwind", COLOUR: "#000000"}, WHY)

    async def fails(self, proposed: AccountProposal, sentence: str) -> None:
        """Sign, and see that nothing came of it, for the reason that the sentence gives."""
        failed = await self.sign(proposed)
        assert failed.state == "failed"
        assert sentence in failed.note

    async def waiting(self) -> int:
        """Return how many intents there are."""
        return len(await self.desk.approvals.proposals())

    async def refused(
        self, work: Coroutine[Any, Any, object], sentence: str, kind: type[Exception] = Invalid
    ) -> None:
        """See that something is refused with a sentence, and nothing is proposed."""
        with pytest.raises(kind, match=sentence):
            await work
        assert await self.waiting() == 0


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run one test's work."""
    return asyncio.run(work)


def test_branding_is_proposed_with_its_difference() -> None:
    """What stands there and what will are shown, in the intent too; nothing is changed before the signature."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        assert proposed.changes == (
            FieldChange(NAME, "Northwind", "Southwind"),
            FieldChange(COLOUR, "#1d4ed8", "#000000"),
        )
        assert proposed.intent.body == {"branding": {NAME: "Southwind", COLOUR: "#000000"}}
        assert proposed.intent.before == {"branding": {NAME: "Northwind", COLOUR: "#1d4ed8"}}
        assert proposed.intent.target == "acct_1"
        assert owner.account.account.branding[NAME] == "Northwind"

    run(work())


def test_branding_is_changed_once_signed() -> None:
    """After the signature the branding is the new one, and the note tells from what to what."""

    async def work() -> None:
        owner = Owner()
        done = await owner.sign(await owner.rebranded())
        assert owner.account.account.branding == {NAME: "Southwind", COLOUR: "#000000"}
        assert (done.state, done.note) == (
            "done",
            f"{NAME} Northwind -> Southwind, {COLOUR} #1d4ed8 -> #000000.",
        )

    run(work())


def test_what_stands_there_already_is_left_out() -> None:
    """Of several fields only those that differ are proposed; when none does it is refused."""

    async def work() -> None:
        owner = Owner()
        await owner.refused(owner.at.propose_branding({COLOUR: "#1D4ED8"}, WHY), "Nothing would change")
        await owner.refused(owner.at.propose_branding({}, WHY), "Name what shall change")
        proposed = await owner.at.propose_branding({COLOUR: "#1D4ED8", DESCRIPTOR: "NORTHWIND"}, WHY)
        assert proposed.changes == (FieldChange(DESCRIPTOR, None, "NORTHWIND"),)

    run(work())


def test_branding_that_was_changed_meanwhile() -> None:
    """When something else stands there than at the proposal, nothing is changed, and the intent has failed."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        owner.account.account = replace(owner.account.account, branding={NAME: "Eastwind", COLOUR: "#1d4ed8"})
        await owner.fails(proposed, "the account has other values")
        assert owner.account.account.branding[NAME] == "Eastwind"

    run(work())


def test_the_key_of_another_account() -> None:
    """An intent for one account changes no other."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        owner.account.account = replace(owner.account.account, id="acct_2")
        await owner.fails(proposed, "another account: acct_2")
        assert owner.account.account.branding[NAME] == "Northwind"

    run(work())


def test_a_lost_answer_is_settled_by_reading() -> None:
    """When the answer is lost a look shows that the branding was changed; nothing is sent again."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        owner.account.trouble_after.append(ProcessorUnreachable("No answer.", same_key=True))
        done = await owner.sign(proposed)
        assert (done.state, owner.account.account.branding[NAME]) == ("done", "Southwind")

    run(work())


def test_what_cannot_be_read_is_not_changed() -> None:
    """When the look before the change fails, nothing is sent, and the intent has failed: nothing is open."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        owner.account.unreadable.append(ProcessorUnreachable("No answer.", same_key=True))
        await owner.fails(proposed, "Nothing was changed")
        assert owner.account.account.branding[NAME] == "Northwind"

    run(work())


def test_a_processor_without_the_verb() -> None:
    """Where the vendor does not take the branding, the owner reads where to set it instead."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.rebranded()
        owner.account.trouble_before.append(ProcessorRefused("Set it in the dashboard.", status=404))
        await owner.fails(proposed, "dashboard")

    run(work())


@each_case(
    ("name", "value"),
    [
        (COLOUR, "blue"),
        (COLOUR, "#12345"),
        (COLOUR, "123456"),
        (DESCRIPTOR, "SHOP"),
        (DESCRIPTOR, "S" * 23),
        (DESCRIPTOR, "12345"),
        (DESCRIPTOR, "SHOP*NORTH"),
        (DESCRIPTOR, "SHÖP NORTH"),
        (DESCRIPTOR, "SHOP\nNORTH"),
        *((DESCRIPTOR, f"NORTH{sign}WIND") for sign in "<>\\'\""),
        ("business_profile.url", "http://northwind.example"),
        ("business_profile.url", "https://"),
        ("business_profile.url", "https://[x"),
        ("business_profile.url", "https://me@northwind.example"),
        ("business_profile.support_url", "northwind.example"),
        ("business_profile.support_email", "nobody"),
        ("settings.branding.logo", "logo.png"),
        (NAME, ""),
        (NAME, "x" * 101),
        (NAME, "North\x1bwind"),
        ("settings.branding.font", "Serif"),
    ],
)
def test_branding_that_cannot_be(name: str, value: str) -> None:
    """What the vendor would refuse is refused here, before anything is asked."""
    with pytest.raises(Invalid):
        checked_branding(name, value)


@each_case(
    ("name", "value"),
    [
        (COLOUR, "#1d4ed8"),
        (DESCRIPTOR, "NORTH"),
        (DESCRIPTOR, "NORTHWIND PRACTICE 24H"),
        ("business_profile.url", "https://northwind.example/shop"),
        ("business_profile.support_email", "help@northwind.example"),
        ("settings.branding.icon", "file_1Nabc"),
        (NAME, "Nørthwind & Søns"),
    ],
)
def test_branding_that_can_be(name: str, value: str) -> None:
    """What the vendor takes is taken as it is."""
    assert checked_branding(name, f" {value} ") == value


def test_each_field_of_the_branding_has_a_rule() -> None:
    """A line break goes into no field."""
    for name in BRANDING:
        with pytest.raises(Invalid):
            checked_branding(name, "a\nb")


def test_a_configuration_is_created_once_signed() -> None:
    """A new configuration is proposed with its methods, and created under a key of its intent."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.at.propose_configuration(
            ConfigurationPatch(["card"], ["link"], "Autumn"), "pmc_standard", WHY
        )
        assert [(one.field, one.then) for one in proposed.changes] == [
            ("name", "Autumn"),
            ("parent", "pmc_standard"),
            ("card", "on"),
            ("link", "off"),
        ]
        done = await owner.sign(proposed)
        made = owner.account.configurations[0]
        assert (made.name, made.parent, made.enabled) == ("Autumn", "pmc_standard", ("card",))
        assert owner.account.keys == [f"orrery-{proposed.intent.id}"]
        assert done.note.startswith("pmc_autumn: name nothing -> Autumn")

    run(work())


def test_a_creation_with_a_lost_answer() -> None:
    """When the answer of a creation is lost, a look finds the new configuration; none is created twice."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.at.propose_configuration(ConfigurationPatch(["card"], (), "Autumn"), None, WHY)
        owner.account.trouble_after.append(ProcessorUnreachable("No answer.", same_key=True))
        assert (await owner.sign(proposed)).state == "done"
        assert len(owner.account.configurations) == 2

    run(work())


def test_configurations_that_cannot_be_created() -> None:
    """A taken name, an unknown method or parent, a method both on and off, and no method at all are refused."""

    async def work() -> None:
        owner = Owner()
        cases = [
            (ConfigurationPatch(["card"], (), "Standard"), None, "named 'Standard' already: pmc_standard"),
            (
                ConfigurationPatch(["bitcoin"], (), "New"),
                None,
                "knows no payment method bitcoin. It knows card, ideal, link",
            ),
            (ConfigurationPatch(["card"], ["card"], "New"), None, "on and off at once: card"),
            (ConfigurationPatch((), (), "New"), None, "at least one method"),
            (ConfigurationPatch(["card"], (), " "), None, "1 to 100 characters"),
            (ConfigurationPatch(["card"], (), "New"), "pmc_none", "no configuration 'pmc_none'"),
        ]
        for wanted, parent, sentence in cases:
            await owner.refused(owner.at.propose_configuration(wanted, parent, WHY), sentence)
        # While one cannot be read it is not known which are there.
        owner.account.configurations.append(ItemUnreadable("configuration", None, ()))  # pyright: ignore[reportArgumentType]  as the processor's list
        autumn = owner.at.propose_configuration(ConfigurationPatch(["card"], (), "Autumn"), None, WHY)
        await owner.refused(autumn, "cannot be read", ItemUnreadable)

    run(work())


def test_a_creation_after_another() -> None:
    """When another configuration has come since the proposal, none is created."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.at.propose_configuration(ConfigurationPatch(["card"], (), "Autumn"), None, WHY)
        owner.account.configurations.append(configuration("Autumn", id="pmc_by_hand"))
        await owner.fails(proposed, "the account has other values")
        assert owner.account.keys == []

    run(work())


def test_a_configuration_is_changed_once_signed() -> None:
    """Only what differs is proposed and sent; what is not named stays."""

    async def work() -> None:
        owner = Owner()
        wanted = ConfigurationPatch(["card", "ideal"], ["link"], "Winter", active=False)
        proposed = await owner.at.propose_configuration_change("pmc_standard", wanted, WHY)
        assert proposed.intent.body == {
            "methods": {"ideal": True, "link": False},
            "name": "Winter",
            "active": False,
        }
        done = await owner.sign(proposed)
        changed = owner.account.configurations[0]
        assert (changed.name, changed.active, changed.enabled) == ("Winter", False, ("card", "ideal"))
        assert done.note == "name Standard -> Winter, active yes -> no, ideal off -> on, link on -> off."

    run(work())


def test_configurations_that_cannot_be_changed() -> None:
    """An unknown configuration, an unknown method, and a change that changes nothing are refused."""

    async def work() -> None:
        owner = Owner()
        with pytest.raises(NotFound, match="no configuration 'pmc_none'"):
            await owner.at.propose_configuration_change("pmc_none", ConfigurationPatch(["card"]), WHY)
        for wanted, sentence in [
            (ConfigurationPatch(["bitcoin"]), "no payment method bitcoin"),
            (ConfigurationPatch(["card"], (), "Standard", active=True), "Nothing would change"),
            (ConfigurationPatch(), "Nothing would change"),
        ]:
            await owner.refused(owner.at.propose_configuration_change("pmc_standard", wanted, WHY), sentence)

    run(work())


def test_a_configuration_that_was_changed_meanwhile() -> None:
    """When the configuration is another than at the proposal, or gone, nothing is changed."""

    async def work() -> None:
        owner = Owner()
        cases: list[tuple[list[Configuration], str]] = [
            ([configuration(methods={"card": True, "link": False})], "the account has other values"),
            ([], "no configuration 'pmc_standard'"),
        ]
        for there, sentence in cases:
            owner.account.configurations = [configuration()]
            proposed = await owner.at.propose_configuration_change(
                "pmc_standard", ConfigurationPatch((), ["link"]), WHY
            )
            owner.account.configurations = there
            await owner.fails(proposed, sentence)
        assert owner.account.keys == []

    run(work())


def test_a_change_with_a_lost_answer() -> None:
    """When the answer of a change is lost, a look settles it."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.at.propose_configuration_change(
            "pmc_standard", ConfigurationPatch((), ["link"]), WHY
        )
        owner.account.trouble_after.append(ProcessorUnreachable("No answer.", same_key=True))
        assert (await owner.sign(proposed)).state == "done"
        assert owner.account.configurations[0].enabled == ("card",)

    run(work())


def test_a_configuration_that_was_renamed_is_none_that_was_created() -> None:
    """Where no answer came, one that was there before the proposal is not taken for the new one by its name."""

    async def work() -> None:
        owner = Owner()
        proposed = await owner.at.propose_configuration(ConfigurationPatch(["card"], (), "Autumn"), None, WHY)
        owner.account.configurations = [replace(owner.account.configurations[0], name="Autumn")]
        owner.account.trouble_before.append(ProcessorUnreachable("No answer.", same_key=True))
        assert (await owner.sign(proposed)).state == "unknown"

    run(work())
