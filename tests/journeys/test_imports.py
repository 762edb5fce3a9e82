"""Access brought along from elsewhere by a file, whole or not at all, and what a refused request may say."""

import json
from pathlib import Path

from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.old_imports import FORMER, UNREADABLE, put_store
from tests.support.visiting import CHECKOUT

HEAD = "email,vendor_slug,cert_code,expires_at\n"
OPEN = "ann.import@example.test,northwind,cert-1,2099-01-31\n"
ENDED = "joe.import@example.test,northwind,cert-1,2020-01-31\n"


def imported(shop: Deployment, file: Path, *lines: str) -> tuple[int, str]:
    """Import these lines; return the exit code and what was said."""
    file.write_text(HEAD + "".join(lines), encoding="utf-8")
    came = shop.orrery("access", "import", str(file), "--reason", "moved here")
    return came.returncode, came.stderr


def test_one_unusable_line_keeps_the_whole_file_out(shop: Deployment, tmp_path: Path) -> None:
    """A line whose access has ended is named, and none of the lines before it is written."""
    code, said = imported(shop, tmp_path / "old.csv", OPEN, ENDED)
    assert (code, "Line 3" in said, "Nothing was imported" in said) == (2, True, True)
    assert "ann.import@example.test" not in {one["email"] for one in shop.records.objects("access:")}


def test_the_same_lines_again(shop: Deployment, tmp_path: Path) -> None:
    """A line that is there twice, or was there before, is imported once."""
    line = OPEN.replace("ann.", "eve.")
    assert imported(shop, tmp_path / "new.csv", line, line)[1].strip() == "1 imported, 1 were there already."
    assert imported(shop, tmp_path / "new.csv", line)[1].strip() == "0 imported, 1 were there already."


def test_two_spellings_of_one_line(shop: Deployment, tmp_path: Path) -> None:
    """Where one file spells an address in two ways that count as one line, the lines after it are imported."""
    lines = [OPEN.replace("ann.", name) for name in ("ève.", "ÈVE.", "zoe.")]
    assert imported(shop, tmp_path / "two.csv", *lines) == (0, "2 imported, 1 were there already.\n")


def test_an_unknown_field_is_not_repeated(shop: Deployment) -> None:
    """A field that the service does not know is refused without its name, which may hold anything."""
    body = {"productType": "cert", "certCode": "cert-1", "vendorSlug": "northwind", "ann@example.test": "x"}
    headers = {"X-Forwarded-For": shop.fresh_address(), "Content-Type": "application/json"}
    answer = shop.client.post(shop.public + CHECKOUT, content=json.dumps(body), headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field")
    assert "ann@" not in answer.text


def test_a_product_that_nobody_sells(shop: Deployment, tmp_path: Path) -> None:
    """A typing error grants and imports nothing; what was sold before needs the owner's word."""
    line = "una.import@example.test,northwind,cert-nine,2099-01-31\n"
    code, said = imported(shop, tmp_path / "typo.csv", line)
    assert (code, "northwind/cert-nine is not in the catalogue" in said) == (2, True)
    words = (
        "access",
        "grant",
        "una.import@example.test",
        "--vendor",
        "northwind",
        "--cert",
        "cert-nine",
        "-r",
        "x",
    )
    assert shop.orrery(*words).returncode == 2
    assert "una.import@example.test" not in {one["email"] for one in shop.records.objects("access:")}
    assert shop.orrery(*words, "--retired").returncode == 0
    assert "una.import@example.test" in {one["email"] for one in shop.records.objects("access:")}


def expect_gone(shop: Deployment) -> None:
    """See that nobody learns anything by an id that was computed from an address, and that buyers have access."""
    for former in (FORMER["ann"], FORMER["kim"]):
        assert shop.client.get(f"{shop.public}/guided/api/access/{former}").status_code == 404
    asked = {"email": "ann@example.org", "certCode": "cissp", "vendorSlug": "isc2"}
    headers = {"Authorization": f"Bearer {shop.secrets['access_service_token']}"}
    answer = shop.client.post(f"{shop.public}/guided/api/access/check", json=asked, headers=headers)
    assert answer.json()["granted"]


def test_imports_of_an_earlier_release(tmp_path: Path) -> None:
    """The service opens the store of an earlier release: ids that can be computed from an address answer 404."""
    with beside_a_sandbox(Deployment(tmp_path)) as shop:
        put_store(shop.store)
        shop.start_service()
        expect_gone(shop)


def test_restored_imports_of_an_earlier_release(tmp_path: Path) -> None:
    """A snapshot of an earlier release is restored with random ids too, before anybody can ask."""
    with beside_a_sandbox(Deployment(tmp_path)) as shop:
        put_store(tmp_path / "snapshot.db")
        came = shop.orrery("restore", str(tmp_path / "snapshot.db"))
        assert "Restored." in came.stderr
        assert shop.records.keys("access:import_") == {f"access:{FORMER[UNREADABLE]}"}
        shop.start_service()
        expect_gone(shop)
