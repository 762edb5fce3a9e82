"""Access brought along from elsewhere by a file, whole or not at all, and what a refused request may say."""

import json
from pathlib import Path

from tests.support.deployment import Deployment
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
