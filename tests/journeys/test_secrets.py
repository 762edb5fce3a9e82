"""The failure that must never come again: a secret is wiped, and nobody hears of it for a day."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orrery.runtime.watch import OVER_AFTER
from orrery.secrets.alerts import TRAP
from orrery.secrets.baseline import EVERY
from tests.journeys.live_counter import LiveCounter
from tests.support.deployment import CounterSettings, Deployment, beside_a_sandbox, stop
from tests.support.marked import ADMIN_PASSWORD, MARK, SECRETS, assert_unmarked
from tests.support.ports import free_ports
from tests.support.program import run_orrery
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

URGENT = 5


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox beside a deployment whose service the test starts."""
    with beside_a_sandbox(Deployment(tmp_path, counter=CounterSettings())) as deployment:
        yield deployment


def file_of(shop: Deployment, name: str) -> Path:
    """Return the file of a secret."""
    return shop.folder / "secrets" / name


def broken(shop: Deployment, part: str) -> dict[str, Any]:
    """Return the one push about a part that is not well, which holds no secret, once it is there."""

    def look() -> dict[str, Any]:
        pushes = [one for one in shop.sandbox.ask("GET", "/push") if one.get("title", "").startswith("Broken: ")]
        found = [one for one in pushes if part in f"{one['title']}\n{one['message']}"]
        assert len(found) == 1, pushes
        return found[0]

    push = eventually(look)
    assert_unmarked(json.dumps(push))
    return push


def well_again(shop: Deployment, *names: str) -> None:
    """Let the time pass after which an outage is over; wait for the one push that says so of these secrets."""
    look_now(shop)

    def look() -> None:
        shop.sandbox.advance(OVER_AFTER.total_seconds())
        pushes = shop.sandbox.pushes_about("Works again: ")
        text = "\n".join(f"{one['title']}\n{one['message']}" for one in pushes)
        assert all(f"secret {name}" in text for name in names), text

    eventually(look)


def look_now(shop: Deployment) -> None:
    """Let the time of the next look come."""
    shop.sandbox.advance(EVERY.total_seconds())


def learned(shop: Deployment) -> None:
    """Wait until the service has had its first look."""
    eventually(lambda: expect_equal(len(shop.records.keys("secret:")), len(shop.secrets) + 1))


def checked(shop: Deployment, *words: str) -> tuple[int, dict[str, Any], str]:
    """Return what `orrery secrets check` exits with, finds for each secret and says about the service."""
    came = run_orrery("secrets", "check", "--json", *words, "--config", str(shop.config))
    assert_unmarked(came.stdout + came.stderr)
    return came.returncode, {one["secret"]: one for one in json.loads(came.stdout)}, came.stderr


def parts(shop: Deployment) -> dict[str, Any]:
    """Return the parts that the private listener shows as broken."""
    shop.readiness()
    found = shop.client.get(f"{shop.private}/readyz").json()["parts"]
    return {one["part"]: one for one in found if one["state"] == "broken"}


def test_secrets_are_lost_while_the_service_runs(shop: Deployment) -> None:
    """Each way to lose a secret is in an urgent push; an announced change asks for a restart."""
    shop.start_service()
    learned(shop)
    announced = shop.orrery("secrets", "announce", "tracker_token", "--reason", "a test")
    assert announced.returncode == 0, announced.stderr
    file_of(shop, "processor_api_key").write_text("")
    file_of(shop, "access_service_token").unlink()
    file_of(shop, "mail_password").write_text(f"{MARK}-another-password")
    file_of(shop, "push_token").unlink()
    file_of(shop, "push_token").mkdir()
    file_of(shop, "tracker_token").write_text(f"{MARK}-another-token")
    look_now(shop)
    lost = {
        "processor_api_key": "It is there, and empty.",
        "access_service_token": "It is gone from its place.",
        "mail_password": "It is another value than before",
        "push_token": "It cannot be read any more.",
    }
    for name, why in lost.items():
        push = broken(shop, f"secret {name}")
        assert push["priority"] == URGENT
        (line,) = [one for one in push["message"].splitlines() if f"secret {name}: " in one]
        assert why in line
        assert TRAP in line
    emptied = broken(shop, "secret processor_api_key")["message"]
    assert "still holds it" in emptied
    assert "nothing is sold" in emptied
    assert broken(shop, "secret tracker_token")["priority"] != URGENT
    assert {"secret processor_api_key", "secret push_token"} <= set(parts(shop))
    assert shop.readiness() == [200, 200]
    file_of(shop, "push_token").rmdir()
    shop.configure()
    _, found, _ = checked(shop)
    assert "as before again" in found["processor_api_key"]["found"]
    assert found["processor_api_key"]["what_to_do"] == ""
    well_again(shop, *lost)


def test_a_start_with_a_wiped_variable(shop: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start after a partial update is told at once, by name; the counter goes on; putting it back is told."""
    file_of(shop, "processor_api_key").unlink()
    monkeypatch.setenv("ORRERY_PROCESSOR_API_KEY", SECRETS["processor_api_key"])
    first = shop.start_service()
    learned(shop)
    stop(first)
    monkeypatch.setenv("ORRERY_PROCESSOR_API_KEY", "")
    second = shop.start_service()
    push = broken(shop, "secret processor_api_key")
    assert push["priority"] == URGENT
    assert TRAP in push["message"]
    assert "From now on: the checkout answers 503" in push["message"]
    assert Visitor(shop).check_out().status_code == 503
    shop.sandbox.visitors(7)
    assert LiveCounter(shop).refresh()["active"] == 7
    assert parts(shop)["secret processor_api_key"]["essential"]
    assert '"secret processor_api_key"' in shop.orrery("doctor", "--json").stdout
    stop(second)
    monkeypatch.setenv("ORRERY_PROCESSOR_API_KEY", SECRETS["processor_api_key"])
    shop.start_service()
    well_again(shop, "processor_api_key")
    assert Visitor(shop).check_out().status_code == 200


def test_a_push_token_that_is_gone(shop: Deployment) -> None:
    """While the push server refuses for want of its token, the push about that waits; readyz and log tell it."""
    stop_after_learning(shop)
    file_of(shop, "push_token").unlink()
    shop.sandbox.fault("push_403", count=None)
    service = shop.start_service()
    eventually(lambda: expect_equal("secret push_token" in parts(shop), wanted=True))
    eventually(lambda: expect_equal('"which": "push_token"' in shop.printed(), wanted=True))
    eventually(lambda: expect_equal('"state": "waiting"' in shop.printed(), wanted=True))
    stop(service)
    shop.configure()
    shop.sandbox.clear_faults()
    shop.start_service()
    well_again(shop, "push_token")
    broken(shop, "secret push_token")


def stop_after_learning(shop: Deployment) -> None:
    """Run the service once, for its first look."""
    service = shop.start_service()
    learned(shop)
    stop(service)


def test_the_examination(shop: Deployment, tmp_path: Path) -> None:
    """Each secret is looked at here, at the processor and in the running service, which is found out of date."""
    code, found, said = checked(shop)
    assert (code, "does not run here" in said) == (0, True)
    assert {one["state"] for one in found.values()} == {"ok"}
    shop.start_service()
    password = tmp_path / "password"
    password.write_text(f"{ADMIN_PASSWORD}\n")
    code, found, said = checked(shop, "--password-file", str(password))
    assert (code, "The service runs" in said) == (0, True)
    assert "the processor accepts it" in found["processor_api_key"]["found"]
    assert "the running webhook accepts a signed probe" in found["webhook_signing_secret"]["found"]
    assert "the password matches" in found["admin_password_hash"]["found"]
    in_memory = shop.client.get(f"{shop.private}/secrets").json()["secrets"]
    assert {name: found[name]["fingerprint"] for name in in_memory} == in_memory
    before = shop.records.keys()
    file_of(shop, "webhook_signing_secret").write_text(f"whsec_{MARK}_third")
    file_of(shop, "processor_api_key").write_text(f"sk_test_{MARK}_wrong")
    file_of(shop, "access_service_token").unlink()
    file_of(shop, "mail_password").write_text("short")
    password.write_text(f"{ADMIN_PASSWORD}x")
    code, found, said = checked(shop, "--password-file", str(password))
    assert code == 1
    assert {name for name, one in found.items() if one["state"] == "broken"} == {
        "webhook_signing_secret",
        "processor_api_key",
        "mail_password",
        "access_service_token",
        "admin_password_hash",
    }
    assert "the running webhook refuses a signed probe" in found["webhook_signing_secret"]["found"]
    assert "`orrery secrets reload` has" in found["webhook_signing_secret"]["what_to_do"]
    assert "does not accept the API key" in found["processor_api_key"]["found"]
    assert "gone" in found["access_service_token"]["found"]
    assert "shorter than 8" in found["mail_password"]["found"]
    assert shop.records.keys() == before
    shop.configure()
    (shop.folder / "secrets").chmod(0o755)
    file_of(shop, "tracker_token").chmod(0o640)
    _, found, _ = checked(shop)
    opened = {name for name, one in found.items() if "everybody on this machine" in one["found"]}
    assert opened == set(shop.secrets) - {"tracker_token"}


def reloaded(shop: Deployment) -> tuple[int, str]:
    """Return what `orrery secrets reload` exits with and says."""
    came = run_orrery("secrets", "reload", "--config", str(shop.config))
    assert_unmarked(came.stdout + came.stderr)
    return came.returncode, " ".join(came.stderr.split())


def test_a_reload_examines_first(shop: Deployment) -> None:
    """What cannot be used or is gone is named and not taken; without systemd it says who restarts it.

    A removal that was announced is a change like another.
    """
    service = shop.start_service()
    learned(shop)
    before = shop.client.get(f"{shop.private}/secrets").json()

    code, said = reloaded(shop)
    assert (code, "holds these values already: " in said) == (0, True), said
    file_of(shop, "access_service_token").write_text("short")
    assert shop.orrery("secrets", "announce", "access_service_token", "--reason", "a test").returncode == 0
    code, said = reloaded(shop)
    assert (code, "is shorter than 8" in said, "not touched" in said) == (2, True, True), said
    file_of(shop, "access_service_token").write_text(f"{MARK}-a-new-one")
    code, said = reloaded(shop)
    assert (code, "restart it for access_service_token the way you started it" in said) == (1, True), said
    untried = {
        "push_token": ("", "notifications test push"),
        "mail_password": ("", "notifications test email --to ADDRESS"),
        "webhook_signing_secret": ("whsec_", "doctor"),
    }
    for name, (prefix, _) in untried.items():
        file_of(shop, name).write_text(f"{prefix}{MARK}_of_no_vendor")
    code, said = reloaded(shop)
    for name, (_, how) in untried.items():
        assert f"{name} was not tried" in said, said
        assert f"`orrery {how} --config" in said, said
    shop.configure()
    file_of(shop, "access_service_token").write_text(f"{MARK}-a-new-one")
    file_of(shop, "push_token").unlink()
    code, said = reloaded(shop)
    assert (code, "push_token: It is gone from its place" in said) == (2, True), said
    announced = shop.orrery("secrets", "announce", "push_token", "--removal", "--reason", "a test")
    assert announced.returncode == 0, announced.stderr
    code, said = reloaded(shop)
    both = "restart it for access_service_token, push_token the way you started it"
    assert (code, both in said) == (1, True), said
    assert shop.client.get(f"{shop.private}/secrets").json() == before
    stop(service)
    shop.start_service()
    code, said = reloaded(shop)
    assert (code, "holds these values already: " in said) == (0, True), said


def test_a_reload_after_a_port_was_changed(shop: Deployment) -> None:
    """The service that runs has other settings: nothing is said of its secrets that nobody could see."""
    shop.start_service()
    text = shop.config.read_text()
    for port in f"\nport = {shop.ports[0]}\n", f"\nprivate_port = {shop.ports[1]}\n":
        (other,) = free_ports(1)
        assert port in text
        shop.config.write_text(text.replace(port, f"{port.partition('=')[0]}= {other}\n"))
        code, said = reloaded(shop)
        assert (code, "Only root can restart the service here" in said) == (1, True), said
        assert ("for the settings, which differ" in said) is ("private" not in port), said


def test_an_unknown_secret_is_not_announced(shop: Deployment) -> None:
    """A name that is no secret's is refused with the names that there are."""
    came = shop.orrery("secrets", "announce", "processor_key", "--reason", "a test")
    assert came.returncode == 2
    assert "There is no secret processor_key; there are store_password, processor_api_key," in came.stderr


def test_a_key_in_the_wrong_place(shop: Deployment) -> None:
    """What cannot be the secret is urgent while the service runs, and start, doctor and check name it alike."""
    shop.start_service()
    learned(shop)
    file_of(shop, "processor_api_key").write_text(f"pk_test_{MARK}")
    file_of(shop, "push_token").write_text(f"{MARK}-one\n{MARK}-two")
    look_now(shop)
    refused = broken(shop, "secrets directory")
    assert refused["priority"] == URGENT
    assert "orrery secrets check" in refused["message"]
    why = "processor_api_key is a publishable key (pk_…): put a secret key (sk_…) or a restricted one (rk_…) there"
    code, found, _ = checked(shop)
    assert (code, found["processor_api_key"]["state"], found["push_token"]["state"]) == (1, "broken", "broken")
    assert why in found["processor_api_key"]["found"]
    assert "push_token has more than one line" in found["push_token"]["found"]
    for command in ("serve", "doctor"):
        came = shop.orrery(command)
        assert (came.returncode, came.stdout) == (2, "")
        assert why in " ".join(came.stderr.split())
